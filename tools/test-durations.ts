/** Keeps how long each test file took in the last run; the next run starts the longest files first. */
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

/**
 * Adds durations to those already kept. When the folder is not writable, only the order of the next run is
 * lost.
 */
export function saveDurations(durationsMs: ReadonlyMap<string, number>): void {
  const all = Object.fromEntries([...loadDurations(), ...durationsMs]);
  try {
    mkdirSync(dirname(FILE), { recursive: true });
    writeFileSync(FILE, JSON.stringify(all, undefined, 1));
  } catch {
    // Without durations, the next run uses the order of the folders.
  }
}
