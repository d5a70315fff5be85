/**
 * Finds the traces of a test file in a process that it shares with others. Compares the environment, the
 * globals, the process's listeners and the open resources with those from before the file.
 */
import assert from 'node:assert/strict';
import process from 'node:process';

/** How long a closed resource may take to disappear. */
const CLOSING_MS = 20_000;
const LOOK_MS = 10;
/** Resources that Node itself opens and closes while a process prints and loads modules. */
const IGNORED_RESOURCES: readonly string[] = ['Immediate', 'FSReqCallback', 'FSReqPromise', 'TTYWrap'];
/** A listener for the end of the process is allowed. The programs have one for SIGHUP, which they register as they load. */
const IGNORED_EVENTS: readonly string[] = ['exit', 'newListener', 'SIGHUP'];

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

export interface TraceOptions {
  readonly closingMs?: number;
  /** Resources are held open for the next file. */
  readonly isHolding?: boolean;
}

/** Rejects with the differences; resources have time to close. */
export async function checkTraces(
  before: Traces,
  { closingMs = CLOSING_MS, isHolding = false }: TraceOptions = {},
): Promise<void> {
  assert.deepEqual({ ...process.env }, before.environment, 'the file has changed the environment');
  assert.equal(process.cwd(), before.folder, 'the file has changed the working directory');
  const globals = globalValues();
  for (const [name, value] of before.globals) {
    assert.ok(Object.is(globals.get(name), value), `the file has put another ${name} in place`);
  }
  assert.deepEqual(listenerCounts(), before.listeners, 'the file has left listeners of the process');
  if (isHolding) return;
  const endMs = performance.now() + closingMs;
  for (let left = newResources(before); left.length > 0; left = newResources(before)) {
    assert.ok(performance.now() < endMs, `the file has left open: ${left.join(', ')}`);
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
}

/**
 * The globals with their values, except those that Node loads at their first use: reading them would load
 * them.
 */
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

function listenerCounts(): Record<string, number> {
  const names = process.eventNames().filter((name) => !IGNORED_EVENTS.includes(String(name)));
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
