/**
 * A built console: a folder with the files that browsers load, each in three forms, and a list of them with their hashes.
 * A folder appears whole: it is written under another name, forced to the disk, and renamed. A folder that was damaged
 * later is not used.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

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
const TEMPORARY = /^\.making-/;
/** An hour: no build takes that long. */
const ABANDONED_MS = 3_600_000;
/** Other branches, and the version before an update. */
const KEPT_BUILDS = 5;

/** Returns the build below `folder`, or undefined if there is none, or not a whole one. */
export async function loadBuiltConsole(folder: string, key: string): Promise<BuiltConsole | undefined> {
  return readBuild(join(folder, key), key);
}

/** Returns the build in `folder`, of any key. */
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
 * Writes a build below `folder`. Another process that writes the same one may be quicker: then its files stay.
 * @throws what the disk says. Nothing is left then.
 */
export async function writeBuiltConsole(
  folder: string,
  key: string,
  files: readonly ConsoleFile[],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await removeAbandoned(folder);
  const making = join(folder, `.making-${key}-${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(making);
    await writeFiles(making, key, files);
    await putInPlace(making, folder, key);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  await removeOldBuilds(folder, key);
}

/** Writes a build into `folder` itself, which is replaced. */
export async function writeFiles(folder: string, key: string, files: readonly ConsoleFile[]): Promise<void> {
  const lines = [`${LIST_HEAD} ${key}`];
  for (const { name, role, bytes, gzip, brotli } of files) {
    const forms = [bytes, gzip, brotli];
    for (const [index, form] of formNames(name).entries())
      await writeDurably(join(folder, form), forms[index]!);
    lines.push([role, name, ...forms.map(hashOf)].join(' '));
  }
  await writeDurably(join(folder, LIST_FILE), Buffer.from(`${lines.join('\n')}\n`));
}

async function putInPlace(making: string, folder: string, key: string): Promise<void> {
  const place = join(folder, key);
  try {
    await rename(making, place);
  } catch (error) {
    if ((await loadBuiltConsole(folder, key)) !== undefined) return;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    // A damaged one is in the way.
    await rm(place, { recursive: true, force: true });
    await rename(making, place);
  }
}

function formNames(name: string): readonly [string, string, string] {
  return [name, `${name}.gz`, `${name}.br`];
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o644);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Builds that were killed leave a folder that no name leads to. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!TEMPORARY.test(name)) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < Date.now() - ABANDONED_MS) await rm(path, { recursive: true, force: true });
  }
}

async function removeOldBuilds(folder: string, key: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /^[0-9a-f]+$/.test(name) && name !== key);
  const dated = await Promise.all(
    names.map(async (name) => {
      const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: 0 }));
      return { name, mtimeMs };
    }),
  );
  const old = dated.sort((a, b) => b.mtimeMs - a.mtimeMs).slice(KEPT_BUILDS - 1);
  for (const { name } of old) await rm(join(folder, name), { recursive: true, force: true });
}
