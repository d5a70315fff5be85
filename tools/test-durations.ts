/**
 * How long each test file takes: a run starts the longest first, and `--changed` runs as many as fit. The tree has a table of
 * those that take a second or more, which `npm run test:all -- --keep-durations` writes, for runs of a fresh clone. Later
 * runs of the clone keep what they measured beside `node_modules`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryRoot } from './pinned-process.ts';

const TABLE = join(repositoryRoot, 'tools/test-duration-table.json');
const MEASURED = join(repositoryRoot, 'node_modules/.cache/test-durations.json');
/** Shorter files are not in the table. */
const LONG_MS = 1_000;
/** Durations of the table are multiples of this, so that its differences are small. */
const STEP_MS = 500;

/** Milliseconds by file. */
export function loadDurations(): Map<string, number> {
  return new Map([...loadDurationTable(), ...load(MEASURED)]);
}

/** Those of the tree, which are the same on every machine. */
export function loadDurationTable(): Map<string, number> {
  return load(TABLE);
}

/**
 * Adds durations to those already kept. When the folder is not writable, only the order of the next run is
 * lost.
 */
export function saveDurations(durationsMs: ReadonlyMap<string, number>): void {
  const all = Object.fromEntries([...load(MEASURED), ...durationsMs]);
  try {
    mkdirSync(dirname(MEASURED), { recursive: true });
    writeFileSync(MEASURED, JSON.stringify(all, undefined, 1));
  } catch {
    // The next run uses the durations of the table.
  }
}

/** Puts what a run measured into the table of the tree, and leaves out files that are gone. */
export function writeDurationTable(
  durationsMs: ReadonlyMap<string, number>,
  files: ReadonlySet<string>,
): void {
  writeFileSync(TABLE, durationTable(new Map([...loadDurationTable(), ...durationsMs]), files));
}

/** The text of the table. */
export function durationTable(durationsMs: ReadonlyMap<string, number>, files: ReadonlySet<string>): string {
  const long = [...durationsMs]
    .filter(([file, ms]) => ms >= LONG_MS && files.has(file))
    .map(([file, ms]) => [file, Math.round(ms / STEP_MS) * STEP_MS] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(long), undefined, 2)}\n`;
}

/** Empty when nothing readable is there. */
function load(path: string): Map<string, number> {
  try {
    const kept = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>);
    return new Map(kept.filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
  } catch {
    return new Map();
  }
}
