/**
 * A built console: a folder with the files that browsers load, each in three forms, and a list of them with their hashes.
 * A folder appears whole: it is written under another name and renamed. A folder that was damaged later is not used.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** `entry` is the program, `preload` what it imports at once, `style` its style; `later` are the other files. */
export type FileRole = 'entry' | 'preload' | 'style' | 'later';

export interface ConsoleFile {
  /** With a hash of the content: it can be cached for ever. */
  readonly name: string;
  readonly role: FileRole;
  readonly bytes: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}

export interface BuiltConsole {
  /** The hash of what it was made from. */
  readonly key: string;
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

const LIST_FILE = 'files.txt';
const LIST_HEAD = 'frontdoor-console 1';
const LINE = /^(entry|preload|style|later) ([\w.-]+) ([0-9a-f]{64}) ([0-9a-f]{64}) ([0-9a-f]{64})$/;
/** Behind the name of the folder. */
const MAKING = '.making-';
/** An hour: no build takes that long. */
const ABANDONED_MS = 3_600_000;
/** Other processes may make the same build. */
const MAX_ATTEMPTS = 5;

/** Returns the build in `folder`, of this key or of any; undefined if there is none, or not a whole one. */
export async function readBuild(folder: string, key?: string): Promise<BuiltConsole | undefined> {
  let text: string;
  try {
    text = await readFile(join(folder, LIST_FILE), 'utf8');
  } catch {
    return undefined;
  }
  const [head = '', ...lines] = text.trimEnd().split('\n');
  if (!head.startsWith(`${LIST_HEAD} `)) return undefined;
  const itsKey = head.slice(LIST_HEAD.length + 1);
  if (key !== undefined && itsKey !== key) return undefined;
  const files = new Map<string, ConsoleFile>();
  for (const line of lines) {
    const [, role, name = '', ...hashes] = LINE.exec(line) ?? [];
    const forms = await Promise.all(
      formNames(name).map((each) => readFile(join(folder, each)).catch(() => null)),
    );
    const [bytes, gzip, brotli] = forms;
    const isWhole = forms.every((form, index) => form !== null && hashOf(form) === hashes[index]);
    if (!isWhole || !bytes || !gzip || !brotli) return undefined;
    files.set(name, { name, role: role as FileRole, bytes, gzip, brotli });
  }
  const entries = [...files.values()].filter(({ role }) => role === 'entry');
  return entries.length === 1 ? { key: itsKey, files } : undefined;
}

/**
 * Replaces the build in `folder`. Another process that makes the same one may be quicker: then its files stay.
 * @throws what the disk says. The former build stays then.
 */
export async function replaceBuild(
  folder: string,
  key: string,
  files: readonly ConsoleFile[],
): Promise<void> {
  await removeAbandoned(folder);
  const making = `${folder}${MAKING}${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(dirname(folder), { recursive: true });
    await mkdir(making);
    await writeFiles(making, key, files);
    await putInPlace(making, folder, key);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function writeFiles(folder: string, key: string, files: readonly ConsoleFile[]): Promise<void> {
  const lines = [`${LIST_HEAD} ${key}`];
  for (const { name, role, bytes, gzip, brotli } of files) {
    const forms = [bytes, gzip, brotli];
    for (const [index, form] of formNames(name).entries()) await writeFile(join(folder, form), forms[index]!);
    lines.push([role, name, ...forms.map(hashOf)].join(' '));
  }
  await writeFile(join(folder, LIST_FILE), `${lines.join('\n')}\n`);
}

async function putInPlace(making: string, folder: string, key: string): Promise<void> {
  for (let attempt = 1; (await readBuild(folder, key)) === undefined; attempt += 1) {
    await rm(folder, { recursive: true, force: true });
    try {
      await rename(making, folder);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (attempt === MAX_ATTEMPTS || (code !== 'ENOTEMPTY' && code !== 'EEXIST')) throw error;
    }
  }
}

function formNames(name: string): readonly [string, string, string] {
  return [name, `${name}.gz`, `${name}.br`];
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Builds that were killed leave a folder that no name leads to. */
async function removeAbandoned(folder: string): Promise<void> {
  const above = dirname(folder);
  for (const name of await readdir(above).catch(() => [])) {
    if (!name.startsWith(`${basename(folder)}${MAKING}`)) continue;
    const path = join(above, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < Date.now() - ABANDONED_MS) await rm(path, { recursive: true, force: true });
  }
}
