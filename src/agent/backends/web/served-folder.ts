/**
 * A folder whose files are served: what may be read of it. Links are followed as long as they stay inside. Each file is checked
 * after it was opened, so that nobody who may write into the folder can lead the agent out of it in the meantime.
 */
import { constants, type Stats } from 'node:fs';
import { open, opendir, readlink, realpath, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { isServed } from './file-path-policy.ts';

export interface FolderRules {
  /** An absolute path. */
  readonly folder: string;
  /** Set if the target was not chosen by this agent's operator: only these folders, and those below, may be served. */
  readonly only?: readonly string[] | undefined;
  /** The data directory of the agent, of which nothing may be served: it has the agent's key. */
  readonly privateFolder: string;
}

/** `message` is for the owner of the share, not for visitors. */
export class FolderRefusal extends Error {
  readonly isAllowed: boolean;

  constructor(message: string, isAllowed = true) {
    super(message);
    this.name = 'FolderRefusal';
    this.isAllowed = isAllowed;
  }
}

export interface OpenFile {
  readonly handle: FileHandle;
  readonly stats: Stats;
  /** A path that leads to this file, and to no other that takes its place. */
  readonly path: string;
}

export interface FoundFolder {
  /** Its true path. */
  readonly folder: string;
}

/** What a path below the folder leads to. */
export type Found = OpenFile | FoundFolder | 'forbidden' | undefined;

// Opening a pipe that nobody writes to must not wait.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ENXIO']);
const NOT_PERMITTED = new Set(['EACCES', 'EPERM']);
const HAS_PROC = process.platform === 'linux';

/** Returns the true path of the folder. Throws a `FolderRefusal` that names path and remedy. */
export async function openFolder(rules: FolderRules): Promise<string> {
  const { folder, only, privateFolder } = rules;
  const root = await truePathOf(folder);
  if (only !== undefined && !(await isAllowed(root, only))) throw notAllowed(folder);
  const kept = await realpath(privateFolder);
  if (isInside(kept, root) || isInside(root, kept))
    throw new FolderRefusal(
      `the folder ${folder} has the data directory of this agent in it, or is inside of it: share another folder`,
    );
  return root;
}

/** Refuses without looking at the file system, if the refusal is certain. */
export function folderRefusal({ folder, only }: Pick<FolderRules, 'folder' | 'only'>): string | undefined {
  if (process.platform === 'win32')
    return 'an agent under Windows cannot share a folder yet: share the address of a web server that serves it';
  const isPossible = only === undefined || only.some((each) => isInside(folder, each));
  return isPossible ? undefined : notAllowed(folder).message;
}

/** Throws a `FolderRefusal` unless the folder can be served now. */
export async function checkFolder(rules: FolderRules): Promise<void> {
  await openFolder(rules);
  try {
    await (await opendir(rules.folder)).close();
  } catch (error) {
    throw problemOf(rules.folder, error);
  }
}

/** Finds what `names` lead to below the folder whose true path is `root`. The caller closes a file. Throws as `open` does. */
export async function findFile(root: string, names: readonly string[]): Promise<Found> {
  try {
    const path = await realpath(join(root, ...names));
    if (!isPublic(path, root)) return undefined;
    return await openedAt(path, root);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (MISSING.has(code)) return undefined;
    if (NOT_PERMITTED.has(code)) return 'forbidden';
    throw error;
  }
}

async function openedAt(path: string, root: string): Promise<Found> {
  const handle = await open(path, READ);
  let isKept = false;
  try {
    const stats = await handle.stat();
    const self = HAS_PROC ? `/proc/self/fd/${handle.fd}` : path;
    // The path may lead elsewhere since it was checked.
    if (!isPublic(HAS_PROC ? await readlink(self) : await realpath(path), root)) return undefined;
    if (stats.isDirectory()) return { folder: path };
    if (!stats.isFile()) return undefined;
    isKept = true;
    return { handle, stats, path: self };
  } finally {
    if (!isKept) await handle.close();
  }
}

/** Whether a true path is that of the folder or of something below that is not hidden. */
function isPublic(path: string, root: string): boolean {
  if (!isInside(path, root)) return false;
  return isServed(
    path
      .slice(root.length)
      .split('/')
      .filter((name) => name !== ''),
  );
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

async function isAllowed(root: string, only: readonly string[]): Promise<boolean> {
  for (const each of only) {
    // An allowed folder may be absent.
    const allowed = await realpath(each).catch(() => undefined);
    if (allowed !== undefined && isInside(root, allowed)) return true;
  }
  return false;
}

async function truePathOf(folder: string): Promise<string> {
  try {
    const root = await realpath(folder);
    if ((await stat(root)).isDirectory()) return root;
  } catch (error) {
    throw problemOf(folder, error);
  }
  throw new FolderRefusal(`${folder} is not a folder: change the target of the share`);
}

/** Names the folder and the remedy for what the file system throws. */
export function problemOf(folder: string, error: unknown): FolderRefusal {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new FolderRefusal(
      `the folder ${folder} does not exist: create it, or change the target of the share`,
    );
  if (NOT_PERMITTED.has(code)) {
    return new FolderRefusal(
      `the agent may not read the folder ${folder}: let its user (uid ${process.getuid?.()}) read it`,
    );
  }
  return new FolderRefusal(`the folder ${folder} cannot be read (${code})`);
}

function notAllowed(folder: string): FolderRefusal {
  return new FolderRefusal(
    `the folder ${folder} was set through the API and is not allowed on this agent; start it with --allow-target ${folder}`,
    false,
  );
}
