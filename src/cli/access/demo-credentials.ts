/** What `frontdoor up --demo` keeps in its data directory for people who try it: credentials, and where the API is. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FrontdoorError } from '#base';
import { readPrivateFile } from '#net';
import { DEFAULT_API_URL } from './api-options.ts';
import type { Credentials } from './profile-store.ts';

export const DEMO_DIR = 'frontdoor-data';
const CREDENTIALS_FILE = 'demo-credentials.json';
const PORTS_FILE = 'ports.json';

export interface DemoCredentials {
  readonly credentials: Credentials;
  readonly frontdoorId: string;
  /** Where the demo may be found; with --any-port it has other ports than usual. */
  readonly apiUrls: readonly string[];
}

/** Undefined: no demo was started there. Throws `invalid` for a file that is open to others or damaged. */
export async function findDemoCredentials(dataDir: string): Promise<DemoCredentials | undefined> {
  const path = join(dataDir, CREDENTIALS_FILE);
  const read = await readPrivateFile(path);
  if (!('text' in read)) {
    if (read.isMissing) return undefined;
    throw new FrontdoorError('invalid', 'demo-credentials', `${path}: ${read.problem}`, {
      cause: read.cause,
    });
  }
  const { accountId, apiToken, frontdoorId } = recordOf(read.text);
  if (typeof accountId !== 'string' || typeof apiToken !== 'string' || typeof frontdoorId !== 'string') {
    throw new FrontdoorError('invalid', 'demo-credentials', `${path} holds no credentials`);
  }
  const { api } = recordOf(await readFile(join(dataDir, PORTS_FILE), 'utf8').catch(() => '{}'));
  const remembered = Number.isInteger(api) ? [`http://127.0.0.1:${api as number}`] : [];
  return {
    credentials: { kind: 'account', id: accountId, secret: apiToken },
    frontdoorId,
    apiUrls: [...new Set([...remembered, DEFAULT_API_URL])],
  };
}

function recordOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
