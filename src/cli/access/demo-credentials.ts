/** The credentials and API addresses that `frontdoor up --demo` keeps in its data directory. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FrontdoorError } from '#base';
import { demoCredentialsShape, portsFileShape, type Credentials } from '#domain/agent-shapes';
import { readPrivateFile } from '#net/files';
import { DEFAULT_API_URL } from './api-options.ts';

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
  const kept = demoCredentialsShape.readText(read.text);
  if ('problem' in kept) {
    const message = `${path} holds no credentials: ${kept.problem}`;
    throw new FrontdoorError('invalid', 'demo-credentials', message);
  }
  const { accountId, apiToken, frontdoorId } = kept.value;
  const ports = portsFileShape.readText(await readFile(join(dataDir, PORTS_FILE), 'utf8').catch(() => '{}'));
  const api = 'value' in ports ? ports.value.api : 0;
  const remembered = api === 0 ? [] : [`http://127.0.0.1:${api}`];
  return {
    credentials: { kind: 'account', id: accountId, secret: apiToken },
    frontdoorId,
    apiUrls: [...new Set([...remembered, DEFAULT_API_URL])],
  };
}
