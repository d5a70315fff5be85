/** Checks of this machine: runtime, limits, disk space. */
import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { failure, ok, warning, type Check, type CheckResult } from './finding.ts';

const MIN_NODE = [26, 10] as const;
const MIB = 1_048_576;
const MIN_FREE_BYTES = 100 * MIB;
const GOOD_FREE_BYTES = 1_024 * MIB;
/** A connection uses one descriptor, and a published service uses two. */
const MIN_FILES = 1_024;
const GOOD_FILES = 8_192;

export function machineChecks(version: string, dataDir: string): Check[] {
  return [
    {
      name: 'runtime',
      run: () => Promise.resolve(runtimeVerdict(version, process.version, process.execPath)),
    },
    { name: 'open files', run: () => Promise.resolve(filesVerdict(openFilesLimit())) },
    { name: 'disk', run: () => diskVerdict(dataDir) },
  ];
}

export function runtimeVerdict(version: string, nodeVersion: string, execPath: string): CheckResult {
  const summary = `frontdoor ${version} on Node ${nodeVersion.slice(1)}`;
  const [major = 0, minor = 0] = nodeVersion.slice(1).split('.').map(Number);
  if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
    return failure(
      `${summary}: too old`,
      `start with the command "frontdoor" of this installation, which uses Node ${MIN_NODE.join('.')}; install it again if that is missing`,
    );
  }
  if (/\/node_modules\/node-(?:bin-)?\w+-\w+\/bin\/node$/.test(execPath))
    return ok(`${summary}, the bundled version`);
  return warning(
    `${summary}, not the bundled version (${execPath})`,
    'start with the command "frontdoor" of this installation',
  );
}

/** Returns undefined if the system does not report the limit. */
function openFilesLimit(): number | undefined {
  // Without this, the report resolves the names of open connections.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}

export function filesVerdict(limit: number | undefined): CheckResult {
  if (limit === undefined) return ok('no limit on files and connections');
  const summary = `${limit} files and connections at the same time`;
  const remedy = `raise the limit: "ulimit -n 65536" before the start, or LimitNOFILE=65536 in a systemd unit`;
  if (limit < MIN_FILES) return failure(summary, remedy);
  return limit < GOOD_FILES ? warning(summary, remedy) : ok(summary);
}

async function diskVerdict(dataDir: string): Promise<CheckResult> {
  const folder = await existingFolder(dataDir);
  try {
    await access(folder, constants.W_OK);
  } catch {
    return failure(
      `${folder} cannot be written by this user`,
      `choose another directory with --data-dir, or change its owner`,
    );
  }
  const { bavail, bsize, files, ffree } = await statfs(folder);
  return freeVerdict(
    folder,
    Number(bavail) * Number(bsize),
    files > 0 && ffree < 1_000 ? Number(ffree) : undefined,
  );
}

/** `filesLeft` is the number of files that still fit, given if it is small. */
export function freeVerdict(folder: string, freeBytes: number, filesLeft?: number): CheckResult {
  const summary = `${Math.floor(freeBytes / MIB)} MiB free for ${folder}`;
  const remedy = 'free disk space: on a full disk every change is refused';
  if (filesLeft !== undefined) return failure(`${summary}, but only ${filesLeft} more files fit`, remedy);
  if (freeBytes < MIN_FREE_BYTES) return failure(summary, remedy);
  return freeBytes < GOOD_FREE_BYTES ? warning(summary, remedy) : ok(summary);
}

/** Returns the folder, or its nearest existing ancestor. */
async function existingFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      await access(folder);
      return folder;
    } catch {
      if (folder === dirname(folder)) return folder;
    }
  }
}
