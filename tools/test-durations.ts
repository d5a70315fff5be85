/** How long each test file took the last time, kept between runs for the order of the next one. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryRoot } from './pinned-process.ts';

const FILE = join(repositoryRoot, 'node_modules/.cache/test-durations.json');

/** Milliseconds by file; empty when nothing readable is kept. */
export function loadDurations(): Map<string, number> {
  try {
    const kept = Object.entries(JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, unknown>);
    return new Map(kept.filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
  } catch {
    return new Map();
  }
}

/** Adds to what is kept. A folder that cannot be written to costs the order of the next run and nothing else. */
export function saveDurations(durationsMs: ReadonlyMap<string, number>): void {
  const all = Object.fromEntries([...loadDurations(), ...durationsMs]);
  try {
    mkdirSync(dirname(FILE), { recursive: true });
    writeFileSync(FILE, JSON.stringify(all, undefined, 1));
  } catch {
    // The next run begins in the order of the folders.
  }
}
