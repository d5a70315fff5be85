/**
 * Kysely over the embedded database's thread. There is one connection: whoever holds it runs alone, the others wait
 * in order, so that a transaction sees no one else's statements. The wait is bounded in number and in time.
 */
import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
} from 'kysely';
import type { SqliteClient, SqliteThread } from './sqlite-client.ts';
import { storeUnavailable } from './store-errors.ts';

const MAX_WAITERS = 20_000;
const MAX_WAIT_MS = 15_000;

export class WorkerSqliteDialect implements Dialect {
  readonly #client: SqliteClient;

  constructor(client: SqliteClient) {
    this.#client = client;
  }

  createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }

  createDriver(): Driver {
    return new WorkerDriver(this.#client);
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new SqliteIntrospector(db);
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler();
  }
}

/** Turns are taken in the driver, whose queue is fair and bounded; and SQLite rolls schema changes back like any other. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class WorkerDriver implements Driver {
  readonly #client: SqliteClient;
  readonly #turns = new Turns();

  constructor(client: SqliteClient) {
    this.#client = client;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<WorkerConnection> {
    await this.#turns.take();
    try {
      return new WorkerConnection(await this.#client.thread());
    } catch (error) {
      this.#turns.give();
      throw error;
    }
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await workerConnection(connection).run('begin immediate');
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await workerConnection(connection).run('commit');
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    const held = workerConnection(connection);
    // A full disk or an I/O error has rolled back already; a dead thread took its transaction with it.
    if (!held.isDead) await held.run('rollback').catch(() => {});
  }

  async releaseConnection(): Promise<void> {
    this.#turns.give();
  }

  async destroy(): Promise<void> {
    await this.#client.close();
  }
}

function workerConnection(connection: DatabaseConnection): WorkerConnection {
  if (!(connection instanceof WorkerConnection)) throw new TypeError('not a connection of this driver');
  return connection;
}

class WorkerConnection implements DatabaseConnection {
  readonly #thread: SqliteThread;

  constructor(thread: SqliteThread) {
    this.#thread = thread;
  }

  get isDead(): boolean {
    return this.#thread.isDead;
  }

  async run(sql: string): Promise<void> {
    await this.#thread.run(sql, []);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes } = await this.#thread.run(query.sql, query.parameters);
    if (changes === undefined) return { rows: rows as R[] };
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  // eslint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('the embedded database does not stream; page instead');
  }
}

interface Turn {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly sinceMs: number;
}

/** First come, first served. One timer looks after all who wait. */
class Turns {
  #taken = false;
  #waiting: Turn[] = [];
  #head = 0;
  #timer: NodeJS.Timeout | undefined;

  take(): Promise<void> | undefined {
    if (!this.#taken) {
      this.#taken = true;
      return undefined;
    }
    if (this.#waiting.length - this.#head >= MAX_WAITERS)
      throw storeUnavailable('has too many statements waiting');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ resolve, reject, sinceMs: performance.now() });
    this.#timer ??= setInterval(() => this.#expire(), 1_000).unref();
    return promise;
  }

  give(): void {
    const next = this.#shift();
    if (next === undefined) this.#taken = false;
    else next.resolve();
  }

  #shift(): Turn | undefined {
    const next = this.#waiting[this.#head];
    if (next !== undefined) this.#head += 1;
    if (this.#head > 1_024 || this.#head === this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    if (this.#waiting.length === 0 && this.#timer !== undefined) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    return next;
  }

  #expire(): void {
    const limitMs = performance.now() - MAX_WAIT_MS;
    while ((this.#waiting[this.#head]?.sinceMs ?? Infinity) < limitMs) {
      this.#shift()!.reject(storeUnavailable('did not answer in time'));
    }
  }
}
