/**
 * The file of master keys, `<dataDir>/secrets.key`, created on first start and readable only by its owner. The
 * database without this file reveals no secret. A file that other users may read or write is refused.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { FrontdoorError, messageOf } from '#base';
import { isOpenToOthers } from '#net';
import { Secrets, type MasterKey } from './secrets.ts';

export const KEY_FILE_NAME = 'secrets.key';
/** The end of the sentence for a damaged file, which nothing can make again. */
const RESTORE = ': restore the file from where you keep it';

/** Opens the key file of a data directory; creates both if absent. Errors: `invalid`, `internal`. */
export async function loadSecrets(dataDir: string): Promise<Secrets> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, KEY_FILE_NAME);
  const keys = (await loadKeys(path)) ?? (await makeKeys(path));
  return new Secrets(keys);
}

/** The same, but returns undefined if there is no key file and creates nothing. */
export async function findSecrets(dataDir: string): Promise<Secrets | undefined> {
  const keys = await loadKeys(join(dataDir, KEY_FILE_NAME));
  return keys === undefined ? undefined : new Secrets(keys);
}

/** Returns secrets with keys that exist only in this process: for tests and throw-away networks. */
export function ephemeralSecrets(): Secrets {
  return new Secrets([newKey()]);
}

async function loadKeys(path: string): Promise<MasterKey[] | undefined> {
  let text: string;
  try {
    const info = await stat(path);
    if (isOpenToOthers(info)) {
      const mode = (info.mode & 0o777).toString(8);
      throw refused(path, `has mode ${mode}: others may use it. Run: chmod 600 ${path}`);
    }
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error instanceof FrontdoorError ? error : refused(path, messageOf(error), error);
  }
  const keys: MasterKey[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const match = /^([A-Za-z0-9]{1,32}) ([A-Za-z0-9+/]{43}=)$/.exec(line);
    if (match === null)
      throw refused(path, `has a line that is not "<key id> <32 bytes in base64>"${RESTORE}`);
    keys.push({ id: match[1]!, key: Buffer.from(match[2]!, 'base64') });
  }
  if (keys.length === 0) throw refused(path, `holds no key${RESTORE}`);
  return keys;
}

/**
 * Writes a whole file under another name first, so that a crash never leaves half a key, and two starts never
 * create two.
 */
async function makeKeys(path: string): Promise<MasterKey[]> {
  const key = newKey();
  const part = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = await open(part, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const lines = ['# Master keys. The newest (last) seals; keep every key that ever did.', keyLine(key), ''];
    await file.writeFile(lines.join('\n'));
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(part, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw refused(path, messageOf(error), error);
    return (await loadKeys(path)) ?? [key];
  } finally {
    await unlink(part);
  }
  const directory = await open(join(path, '..'), constants.O_RDONLY);
  await directory.sync();
  await directory.close();
  return [key];
}

function newKey(): MasterKey {
  return { id: randomBytes(4).toString('hex'), key: randomBytes(32) };
}

function keyLine(key: MasterKey): string {
  return `${key.id} ${Buffer.from(key.key).toString('base64')}`;
}

function refused(path: string, why: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('invalid', 'key-file', `${path} ${why}`, { cause });
}
