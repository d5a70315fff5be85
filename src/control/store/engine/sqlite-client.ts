/**
 * The client of the embedded database's thread: statements out, rows back, in order. When the thread dies,
 * pending statements fail with `unavailable`, and the next statement outside a transaction starts another thread
 * (at most once a second). A database in memory is lost then.
 */
import { Worker } from 'node:worker_threads';
import { messageOf, type Log } from '#base';
import { waitAtMost } from '#net';
import type { SqliteCopyRequest, SqliteReply, SqliteRequest, SqliteWorkerData } from './sqlite-protocol.ts';
import type { DatabasePulse } from './database-pulse.ts';
import { commitUnknown, errorOfSqlite, storeUnavailable } from './store-errors.ts';

export interface SqliteRows {
  readonly rows: readonly unknown[];
  readonly changes: number | undefined;
}

interface Waiter {
  readonly resolve: (rows: SqliteRows) => void;
  readonly reject: (error: Error) => void;
  /** For a copy: called when other statements may run. */
  readonly begun?: (() => void) | undefined;
  /** Ends the wait for a sign of life. */
  readonly end?: ((isAnswered: boolean) => void) | undefined;
}

interface Asking {
  readonly begun?: () => void;
  readonly pulse?: DatabasePulse | undefined;
  readonly role?: SqliteRequest['role'];
}

const RESTART_PAUSE_MS = 1_000;
const CLOSE_TIMEOUT_MS = 10_000;
const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? './sqlite-worker.ts' : './sqlite-worker.js',
  import.meta.url,
);

/** One lifetime of the thread. */
class SqliteThread {
  readonly #worker: Worker;
  readonly #waiters = new Map<number, Waiter>();
  readonly opened: Promise<void>;
  readonly #ended: Promise<void>;
  #nextId = 1;
  #copies = 0;
  readonly #pulse: () => DatabasePulse | undefined;
  #dead: Error | undefined;

  constructor(data: SqliteWorkerData, log: Log, pulse: () => DatabasePulse | undefined) {
    this.#pulse = pulse;
    this.#worker = new Worker(WORKER_URL, { workerData: data, name: 'frontdoor-store', execArgv: [] });
    const opened = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    this.opened = opened.promise;
    this.opened.catch(() => {});
    this.#ended = ended.promise;
    this.#worker.on('message', (message: SqliteReply | 'open' | 'closed') => {
      if (message === 'open') {
        this.#worker.unref();
        opened.resolve();
      } else if (message !== 'closed') this.#settle(message);
    });
    this.#worker.on('error', (error: Error & { errcode?: number }) => {
      log.error({ cause: messageOf(error) }, 'the database thread failed');
      const known = errorOfSqlite({ message: messageOf(error), errcode: error.errcode });
      this.#dead = known.kind === 'unavailable' ? known : storeUnavailable('thread failed', error);
    });
    this.#worker.on('exit', () => {
      opened.reject(this.#die());
      ended.resolve();
    });
  }

  get isDead(): boolean {
    return this.#dead !== undefined;
  }

  run(
    sql: string,
    parameters: readonly unknown[],
    role: SqliteRequest['role'] = 'alone',
  ): Promise<SqliteRows> {
    return this.#ask((id) => ({ id, sql, parameters, role }), { pulse: this.#pulse(), role });
  }

  /** Resolves when the thread answers, however long that takes. */
  async probe(): Promise<void> {
    await this.#ask((id) => ({ id, sql: 'select 1', parameters: [], role: 'alone' }));
  }

  /** Whether a copy is running. It progresses only between transactions. */
  get isCopying(): boolean {
    return this.#copies > 0;
  }

  /**
   * Copies the database into an empty file. Must not be called inside a transaction; `begun` is called when one
   * may begin.
   */
  async copyTo(path: string, begun: () => void): Promise<void> {
    this.#copies += 1;
    try {
      await this.#ask((id) => ({ id, copyTo: path }), { begun });
    } finally {
      this.#copies -= 1;
    }
  }

  #ask(
    request: (id: number) => SqliteRequest | SqliteCopyRequest,
    { begun, pulse, role }: Asking = {},
  ): Promise<SqliteRows> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<SqliteRows>();
    const giveUp = (error: Error): void => {
      this.#forget(id);
      reject(role === 'commit' ? commitUnknown(error) : error);
    };
    if (this.#waiters.size === 0) this.#worker.ref();
    // It is sent in any case, because the thread executes a transaction to its end.
    this.#worker.postMessage(request(id));
    this.#waiters.set(id, { resolve, reject, begun, end: watched(pulse, giveUp) });
    return promise;
  }

  #forget(id: number): void {
    this.#waiters.delete(id);
    if (this.#waiters.size === 0) this.#worker.unref();
  }

  async close(): Promise<void> {
    if (this.#dead !== undefined) return;
    this.#worker.ref();
    this.#worker.postMessage('close');
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSE_TIMEOUT_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  /** Ends the thread at once, as a crash would. Pending statements fail. */
  async terminate(): Promise<void> {
    this.#die();
    await this.#worker.terminate();
  }

  /** Fails pending statements. Nothing is answered afterwards. */
  #die(): Error {
    this.#dead ??= storeUnavailable('thread ended');
    for (const waiter of this.#waiters.values()) {
      waiter.end?.(false);
      waiter.reject(this.#dead);
    }
    this.#waiters.clear();
    return this.#dead;
  }

  #settle(reply: SqliteReply): void {
    const waiter = this.#waiters.get(reply.id);
    if (waiter === undefined) return;
    if ('begun' in reply) {
      waiter.begun?.();
      return;
    }
    this.#forget(reply.id);
    waiter.end?.(true);
    if ('error' in reply) waiter.reject(errorOfSqlite(reply.error));
    else waiter.resolve(reply);
  }
}

/** Gives up at once while the database is silent, which only a transaction that has begun before meets. */
function watched(pulse: DatabasePulse | undefined, giveUp: (error: Error) => void): Waiter['end'] {
  try {
    return pulse?.wait(giveUp);
  } catch (error) {
    queueMicrotask(() => giveUp(error as Error));
    return undefined;
  }
}

export type { SqliteThread };

export interface SqliteClientOptions extends SqliteWorkerData {
  readonly log: Log;
  /** A monotonic clock in milliseconds. */
  readonly nowMs?: () => number;
}

export class SqliteClient {
  readonly #data: SqliteWorkerData;
  readonly #log: Log;
  readonly #nowMs: () => number;
  #thread: SqliteThread | undefined;
  #probing: Promise<void> | undefined;
  /** Fails what waits for a disk that does not answer. Set once the schema is up to date, which may take long. */
  pulse: DatabasePulse | undefined;
  #startedAtMs = 0;
  #closed = false;

  constructor({ path, busyTimeoutMs, log, nowMs = () => performance.now() }: SqliteClientOptions) {
    this.#data = { path, busyTimeoutMs };
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Returns the running thread, starting it if necessary. Errors: `unavailable`. */
  async thread(): Promise<SqliteThread> {
    if (this.#closed) throw storeUnavailable('is closed');
    if (this.#thread === undefined || this.#thread.isDead) this.#start();
    const thread = this.#thread!;
    await thread.opened;
    return thread;
  }

  /** Rejects if the thread does not answer in time. Only one probe waits in the thread. */
  async probe(timeoutMs: number): Promise<void> {
    this.#probing ??= this.thread()
      .then((thread) => thread.probe())
      .finally(() => (this.#probing = undefined));
    this.#probing.catch(() => {});
    if (!(await waitAtMost(this.#probing, timeoutMs)))
      throw new Error(`its thread has not answered for ${timeoutMs} ms: is the disk frozen?`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.pulse?.close();
    await this.#thread?.close();
  }

  #start(): void {
    const now = this.#nowMs();
    if (this.#thread !== undefined) {
      if (this.#data.path === ':memory:' || now - this.#startedAtMs < RESTART_PAUSE_MS) {
        throw storeUnavailable('thread ended');
      }
      this.#log.warn({}, 'restarting the database thread');
    }
    this.#startedAtMs = now;
    this.#thread = new SqliteThread(this.#data, this.#log, () => this.pulse);
  }
}
