/**
 * Keeps an exception to the one thing that it happened in, such as a circuit, a share, a message or a record: it is logged with the
 * id, counted, and only that thing ends (ADR 0060). Places that work for many things, one after the other, call `contain` or
 * `failAlone` for each. What the work of one thing does later, in timers, sockets and promises, stays in its scope, so that an
 * exception that reaches the process is also attributed to it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { setHandlers, silentLog, type Log } from '#base';

/** What may fail alone. Each is a label of the metric. */
export const CONTAINED_KINDS = [
  'circuit',
  'connection',
  'message',
  'process',
  'query',
  'record',
  'request',
  'route',
  'share',
  'target',
] as const;
export type ContainedKind = (typeof CONTAINED_KINDS)[number];

export interface Contained {
  readonly kind: ContainedKind;
  /** What the log names. */
  readonly id: string;
  /** By default that of the program. */
  readonly log?: Log | undefined;
  /** Ends this one thing. Called after each exception. */
  readonly fail?: ((error: unknown) => void) | undefined;
}

/** Lines of one kind in one interval. A peer may cause an exception thousands of times a second. */
const MAX_LINES = 20;
const INTERVAL_MS = 10_000;

const program: { log: Log } = { log: silentLog };
const scopes = new AsyncLocalStorage<Contained>();
const counts = new Map<ContainedKind, number>();
const lines = new Map<ContainedKind, { untilMs: number; written: number; withheld: number }>();

/**
 * Returns the result of `work`, or undefined after an exception. What `work` starts and does not await belongs to the same scope,
 * a rejection that nobody handles included.
 */
export function contain<T>(what: Contained, work: () => T): T | undefined {
  try {
    return scopes.run(what, work);
  } catch (error) {
    failAlone(what, error);
    return undefined;
  }
}

/** For loops of the data path, where a scope for each round would be too much: call it in the `catch` of a round. */
export function failAlone(what: Contained, error: unknown): void {
  const { kind } = what;
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
  report(what, error);
  try {
    what.fail?.(error);
  } catch (another) {
    report(what, another);
  }
}

/** Works for records, one after the other. One that causes an exception is left out. */
export function mapAlone<Item, Result>(
  items: Iterable<Item>,
  idOf: (item: Item) => string,
  map: (item: Item) => Result,
): Result[] {
  const results: Result[] = [];
  for (const item of items) {
    try {
      results.push(map(item));
    } catch (error) {
      failAlone({ kind: 'record', id: idOf(item) }, error);
    }
  }
  return results;
}

/** Reads one value. If that causes an exception, it is reported as that of the record `id`, and the value is undefined. */
export function readAlone<Result>(id: string, read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    failAlone({ kind: 'record', id }, error);
    return undefined;
  }
}

/**
 * Binds a callback to the present scope, for lists of callbacks of different things. An exception in one fails its scope, and the
 * caller continues with the next.
 */
export function inOwnScope<Args extends unknown[]>(
  callback: (...args: Args) => void,
): (...args: Args) => void {
  const what = scopes.getStore();
  return (...args) => {
    if (what !== undefined) contain(what, () => callback(...args));
    else escaping(() => callback(...args));
  };
}

/** An accepted connection, which ends after an exception. */
export function connectionFrom(socket: Socket, log: Log): Contained {
  const id = `from ${socket.remoteAddress}:${socket.remotePort}`;
  return { kind: 'connection', id, log, fail: () => void socket.destroy() };
}

/**
 * For servers: the events of an accepted socket, and all that `work` starts for it, are one connection that fails alone. Costs about
 * 15 µs for each connection.
 */
export function containSocket(socket: Socket, log: Log, work: () => void): void {
  const what = connectionFrom(socket, log);
  const { emit } = socket;
  setHandlers(socket, {
    emit: (...args: Parameters<Socket['emit']>) => contain(what, () => emit.apply(socket, args)) ?? true,
  });
  contain(what, work);
}

/** Lets the caller continue after an exception that belongs to no scope: it reaches the process after the present work. */
function escaping(work: () => void): void {
  try {
    work();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/**
 * Returns a listener for exceptions that reach the process of a program: they fail the scope in which they happened. One outside of
 * every scope is logged and counted, and the program continues, because all that it serves would be the larger loss. `log` is the
 * program's from then on.
 */
export function uncaughtListener(log: Log): (error: unknown) => void {
  program.log = log;
  return (error) => failAlone(scopes.getStore() ?? { kind: 'process', id: 'outside of every scope' }, error);
}

/** Exceptions by the kind of what failed, since the start of the process. */
export function containedExceptions(): readonly (readonly [kind: ContainedKind, count: number])[] {
  return CONTAINED_KINDS.map((kind) => [kind, counts.get(kind) ?? 0]);
}

function report({ kind, id, log = program.log }: Contained, error: unknown): void {
  const nowMs = performance.now();
  let state = lines.get(kind);
  if (state === undefined || nowMs >= state.untilMs) {
    state = { untilMs: nowMs + INTERVAL_MS, written: 0, withheld: state?.withheld ?? 0 };
    lines.set(kind, state);
  }
  if (state.written >= MAX_LINES) {
    state.withheld += 1;
    return;
  }
  state.written += 1;
  const { withheld } = state;
  state.withheld = 0;
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
  const fields = { kind, id, err: message, stack };
  log.error(withheld === 0 ? fields : { ...fields, alsoBefore: withheld }, 'defect: this one thing ends');
}
