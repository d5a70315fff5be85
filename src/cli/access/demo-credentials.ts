/** The credentials and the API address that `frontdoor up --demo` keeps in its data directory. */
import { join } from 'node:path';
import { FrontdoorError } from '#base';
import { demoCredentialsShape, type Credentials } from '#domain/agent-shapes';
import { findRunningProgram, readPrivateFile } from '#net/files';

export const DEMO_DIR = 'frontdoor-data';
const CREDENTIALS_FILE = 'demo-credentials.json';

export interface DemoCredentials {
  readonly credentials: Credentials;
  readonly frontdoorId: string;
  /** Undefined if the demo does not run: another program may listen at its former address. */
  readonly apiUrl: string | undefined;
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
  return {
    credentials: { kind: 'account', id: accountId, secret: apiToken },
    frontdoorId,
    apiUrl: findRunningProgram(dataDir)?.apiUrl,
  };
}
