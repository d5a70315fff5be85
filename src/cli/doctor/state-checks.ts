/** Checks of files that their programs cannot start without: the control plane's key file, keys, certificates, identities. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { FrontdoorError } from '#base';
import { EMBEDDED_DATABASE } from '#domain/backup';
import { loadIdentityFile } from '#net/files';
import { filesBelow } from './file-checks.ts';
import { failure, ok, skipped, type Check, type CheckResult } from './finding.ts';

const KEY_FILE = 'secrets.key';
const IDENTITY_NAME = /^identity\.json$|\.(?:key|crt|cert)(?:\.pem)?$/;
const MOST_BYTES = 1_048_576;
const MOST_NAMED = 3;

export function stateChecks(dataDir: string, folders: readonly string[]): Check[] {
  return [
    { name: KEY_FILE, run: () => keyFileVerdict(dataDir) },
    { name: 'identities', run: () => identitiesVerdict(folders) },
  ];
}

async function keyFileVerdict(dataDir: string): Promise<CheckResult> {
  const path = join(dataDir, KEY_FILE);
  const sizeOf = async (name: string): Promise<number | undefined> =>
    (await stat(join(dataDir, name)).catch(() => undefined))?.size;
  const [database, key] = [await sizeOf(EMBEDDED_DATABASE), await sizeOf(KEY_FILE)];
  if (key !== undefined && key > 0) return ok(path);
  if (key === undefined && database === undefined)
    return skipped(`no control plane stores its data in ${dataDir}`);
  return failure(
    key === 0 ? `${path} is empty` : `${path} is missing next to ${EMBEDDED_DATABASE}`,
    'restore it from your copy: without this file the secrets in the database cannot be decrypted',
  );
}

async function identitiesVerdict(folders: readonly string[]): Promise<CheckResult> {
  const paths = await filesBelow(folders, IDENTITY_NAME);
  const damaged: string[] = [];
  for (const path of paths) {
    const why = await damageOf(path);
    if (why !== undefined) damaged.push(why);
  }
  if (damaged.length > 0) {
    const more = damaged.length > MOST_NAMED ? ` and ${damaged.length - MOST_NAMED} more` : '';
    return failure(
      `${damaged.slice(0, MOST_NAMED).join('; ')}${more}`,
      'restore the file from a backup, or remove it and enroll again',
    );
  }
  if (paths.length === 0) return skipped(`none in ${folders.join(' or ')}`);
  return ok(`${paths.length} files with keys and certificates are intact`);
}

/** Returns undefined for a whole file, and for one that cannot be read: another check reports its mode. */
async function damageOf(path: string): Promise<string | undefined> {
  const name = basename(path);
  if (name === 'identity.json') {
    try {
      await loadIdentityFile(path);
    } catch (error) {
      if (error instanceof FrontdoorError && error.code === 'identity-file-damaged') return error.message;
    }
    return undefined;
  }
  if (name === KEY_FILE) return undefined;
  const size = (await stat(path).catch(() => undefined))?.size;
  if (size === undefined || size > MOST_BYTES) return undefined;
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  if (text.trim() === '') return `${path} is empty`;
  return isWhole(text) ? undefined : `${path} is damaged`;
}

/** Files of other forms, and keys with a passphrase, are not judged. */
function isWhole(text: string): boolean {
  try {
    if (text.includes('-----BEGIN CERTIFICATE')) new X509Certificate(text);
    else if (/-----BEGIN [A-Z ]*PRIVATE KEY/.test(text) && !text.includes('ENCRYPTED'))
      createPrivateKey(text);
    return true;
  } catch {
    return false;
  }
}
