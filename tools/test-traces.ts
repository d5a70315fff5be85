/**
 * What a test file may leave behind in a process that it shares: nothing. Compares the environment, the globals, the
 * process's listeners and the resources that keep it from ending with those from before the file.
 */
import assert from 'node:assert/strict';
import process from 'node:process';

/** How long what was closed may take to go. */
const CLOSING_MS = 30_000;
const LOOK_MS = 10;
/** Of node's own making: they come and go with what a process prints and loads. */
const IGNORED_RESOURCES: readonly string[] = ['Immediate', 'FSReqCallback', 'FSReqPromise', 'TTYWrap'];

export interface Traces {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  readonly globals: ReadonlyMap<string, unknown>;
  /** Number of listeners by event. */
  readonly listeners: Readonly<Record<string, number>>;
  /** Number of active resources by kind. */
  readonly resources: ReadonlyMap<string, number>;
}

export function takeTraces(): Traces {
  return {
    environment: { ...process.env },
    folder: process.cwd(),
    globals: globalValues(),
    listeners: listenerCounts(),
    resources: activeResources(),
  };
}

/** Rejects with what is different now; resources have time to close. */
export async function checkTraces(before: Traces, closingMs = CLOSING_MS): Promise<void> {
  assert.deepEqual({ ...process.env }, before.environment, 'the file has changed the environment');
  assert.equal(process.cwd(), before.folder, 'the file has changed the working directory');
  const globals = globalValues();
  for (const [name, value] of before.globals) {
    assert.ok(Object.is(globals.get(name), value), `the file has put another ${name} in place`);
  }
  assert.deepEqual(listenerCounts(), before.listeners, 'the file has left listeners of the process');
  const endMs = performance.now() + closingMs;
  for (let left = newResources(before); left.length > 0; left = newResources(before)) {
    assert.ok(performance.now() < endMs, `the file has left open: ${left.join(', ')}`);
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
}

/** The globals that have values; what is loaded at its first use has none before it. */
function globalValues(): Map<string, unknown> {
  const values = new Map<string, unknown>([
    ['Date.now', Date.now],
    ['performance.now', performance.now],
    ['Math.random', Math.random],
  ]);
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(globalThis))) {
    if (value !== undefined) values.set(name, value as unknown);
  }
  return values;
}

/** Who waits for the end of the process may do so. */
function listenerCounts(): Record<string, number> {
  const names = process.eventNames().filter((name) => name !== 'exit' && name !== 'newListener');
  return Object.fromEntries(names.map((name) => [String(name), process.listenerCount(name)]));
}

function activeResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (!IGNORED_RESOURCES.includes(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

function newResources(before: Traces): string[] {
  return [...activeResources()]
    .filter(([kind, count]) => count > (before.resources.get(kind) ?? 0))
    .map(([kind, count]) => `${count - (before.resources.get(kind) ?? 0)} ${kind}`);
}
