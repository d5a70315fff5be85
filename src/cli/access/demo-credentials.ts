/** The credentials and API addresses that `frontdoor up --demo` keeps in its data directory. */
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
  /** Candidate addresses of the demo, which has other ports than usual with --any-port. */
  readonly apiUrls: readonly string[];
}

/** Returns undefined if no demo was started there. Throws `invalid` for a damaged file, or one that others may read. */
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
