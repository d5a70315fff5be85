/**
 * The file of master keys, `<dataDir>/secrets.key`, created on first start and readable only by its owner. The
 * database without this file reveals no secret. A file that other users may read or write is refused.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FrontdoorError, messageOf } from '#base';
import { isOpenToOthers, syncFolder, writeFileDurably } from '#net/files';
import { peppersOf, Secrets, type KeyRing, type MasterKey } from './secrets.ts';

export const KEY_FILE_NAME = 'secrets.key';
const KEY_BYTES = 32;
const HEAD = ['# Master keys of the control plane. "frontdoor secrets rotate" replaces them.'];
/** The code of a key file that another program provides. */
export const KEY_FILE_READ_ONLY = 'key-file-read-only';
/** A file that was mounted is busy; its folder may be read-only. */
const READ_ONLY: ReadonlySet<string> = new Set(['EROFS', 'EBUSY', 'EACCES', 'EPERM']);
/** The end of the sentence for a damaged file, which nothing can make again. */
const RESTORE = ': restore the file from where you keep it';

/** Opens the key file of a data directory; creates both if absent. Errors: `invalid`, `internal`. */
export async function loadSecrets(dataDir: string): Promise<Secrets> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, KEY_FILE_NAME);
  const { keys, peppers } = (await loadKeys(path)) ?? (await makeKeys(path));
  return new Secrets(keys, peppers);
}

/** The same, but returns undefined if there is no key file and creates nothing. */
export async function findSecrets(dataDir: string): Promise<Secrets | undefined> {
  const ring = await loadKeyRing(dataDir);
  return ring && new Secrets(ring.keys, ring.peppers);
}

/** Returns the keys of the file; undefined if there is none. */
export function loadKeyRing(dataDir: string): Promise<KeyRing | undefined> {
  return loadKeys(join(dataDir, KEY_FILE_NAME));
}

/** Adds a key that does not encrypt yet, unless the file has one. Returns its id. Throws `invalid` without a file. */
export async function addNextKey(dataDir: string): Promise<string> {
  const path = join(dataDir, KEY_FILE_NAME);
  const ring = await loadKeys(path);
  if (ring === undefined) throw refused(path, 'is missing');
  const kept = ring.keys.find(({ isNext }) => isNext === true);
  if (kept !== undefined) return kept.id;
  const key = { ...newKey(), isNext: true };
  await writeKeys(path, { ...ring, keys: [...ring.keys, key] });
  return key.id;
}

/** Removes every key but that one. The peppers of the oldest one stay. Does nothing if that is done. */
export async function keepOnlyKey(dataDir: string, id: string): Promise<KeyRing | undefined> {
  const path = join(dataDir, KEY_FILE_NAME);
  const ring = await loadKeys(path);
  const kept = ring?.keys.find((key) => key.id === id);
  if (ring === undefined || kept === undefined) return undefined;
  const left = { keys: [{ id: kept.id, key: kept.key }], peppers: peppersOf(ring) };
  if (ring.keys.length > 1 || kept.isNext === true) await writeKeys(path, left);
  return left;
}

/** Replaces the file; a crash leaves the old or the new one. */
async function writeKeys(path: string, { keys, peppers }: KeyRing): Promise<void> {
  const kept = peppers && Buffer.concat([peppers.hmac, peppers.tag, peppers.apiKey]);
  const lines = [
    ...HEAD,
    ...(kept === undefined ? [] : [`peppers ${kept.toString('base64')}`]),
    ...keys.map((key) => (key.isNext === true ? `next ${keyLine(key)}` : keyLine(key))),
  ];
  try {
    await writeFileDurably(path, `${lines.join('\n')}\n`, 0o600);
  } catch (error) {
    if (!READ_ONLY.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new FrontdoorError(
      'conflict',
      KEY_FILE_READ_ONLY,
      `${path} cannot be replaced from here, as a mounted Secret of Kubernetes: add the line "next ID KEY" to the Secret, restart the control planes, then run "frontdoor secrets rotate" again; docs/guide/keys.md has the commands`,
      { cause: error },
    );
  }
}

/** Returns secrets with keys that exist only in this process: for tests and throw-away networks. */
export function ephemeralSecrets(): Secrets {
  return new Secrets([newKey()]);
}

async function loadKeys(path: string): Promise<KeyRing | undefined> {
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
  let peppers: KeyRing['peppers'];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const kept = /^peppers ([A-Za-z0-9+/]{128})$/.exec(line);
    const match = /^(next )?([A-Za-z0-9]{1,32}) ([A-Za-z0-9+/]{43}=)$/.exec(line);
    if (kept !== null) peppers = peppersIn(Buffer.from(kept[1]!, 'base64'));
    else if (match === null)
      throw refused(path, `has a line that is not "<key id> <32 bytes in base64>"${RESTORE}`);
    else keys.push({ id: match[2]!, key: Buffer.from(match[3]!, 'base64'), isNext: match[1] !== undefined });
  }
  if (keys.every(({ isNext }) => isNext === true)) throw refused(path, `holds no key${RESTORE}`);
  return { keys, peppers };
}

function peppersIn(bytes: Buffer): KeyRing['peppers'] {
  const part = (index: number): Buffer => bytes.subarray(index * KEY_BYTES, (index + 1) * KEY_BYTES);
  return { hmac: part(0), tag: part(1), apiKey: part(2) };
}

/**
 * Writes a whole file under another name first, so that a crash never leaves half a key, and two starts never
 * create two.
 */
async function makeKeys(path: string): Promise<KeyRing> {
  const key = newKey();
  const part = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = await open(part, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const lines = [...HEAD, keyLine(key), ''];
    await file.writeFile(lines.join('\n'));
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(part, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw refused(path, messageOf(error), error);
    return (await loadKeys(path)) ?? { keys: [key] };
  } finally {
    await unlink(part);
  }
  await syncFolder(dirname(path));
  return { keys: [key] };
}

function newKey(): MasterKey {
  return { id: randomBytes(4).toString('hex'), key: randomBytes(KEY_BYTES) };
}

function keyLine(key: MasterKey): string {
  return `${key.id} ${Buffer.from(key.key).toString('base64')}`;
}

function refused(path: string, why: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('invalid', 'key-file', `${path} ${why}`, { cause });
}
