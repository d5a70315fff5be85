/**
 * The RSA key of the control plane's edge API, made once for a test run: making one costs as much as the rest of a small
 * test. A control plane takes a key that lies in its folder already.
 */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const PRIVATE = { mode: 0o600 } as const;
/** The folder of the test run; a file that is run by itself has none, and makes a key of its own. */
const FOLDER = process.env['FRONTDOOR_TEST_FOLDER'];
let pem: string | undefined;

/** Puts the key where a control plane with this data directory looks for it. */
export function provideServerKey(dataDir: string): void {
  const folder = join(dataDir, 'pki');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'edge-api.key');
  if (existsSync(file)) return;
  pem ??= keptKey() ?? newKey();
  writeFileSync(file, pem, PRIVATE);
}

function keptKey(): string | undefined {
  if (FOLDER === undefined) return undefined;
  try {
    return readFileSync(join(FOLDER, 'server.key'), 'utf8');
  } catch {
    return undefined;
  }
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const made = privateKey.export({ type: 'pkcs8', format: 'pem' });
  if (FOLDER === undefined) return made;
  const own = join(FOLDER, `server.key.${process.pid}`);
  writeFileSync(own, made, PRIVATE);
  renameSync(own, join(FOLDER, 'server.key'));
  return made;
}
