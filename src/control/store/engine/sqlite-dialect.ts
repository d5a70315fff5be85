/**
 * Kysely over the embedded database's thread. There is one connection, which its holder uses alone while others
 * wait in order, so that a transaction is isolated.
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
import { ConnectionTurns } from './connection-turns.ts';
import type { SqliteClient, SqliteThread } from './sqlite-client.ts';
import type { StatementCounter } from './statement-counter.ts';

export class WorkerSqliteDialect implements Dialect {
  readonly #client: SqliteClient;
  readonly #counter: StatementCounter;

  constructor(client: SqliteClient, counter: StatementCounter = { count: 0 }) {
    this.#client = client;
    this.#counter = counter;
  }

  createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }

  createDriver(): Driver {
    return new WorkerDriver(this.#client, this.#counter);
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new SqliteIntrospector(db);
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler();
  }
}

/**
 * The driver serializes transactions with a fair and bounded queue, and SQLite rolls back schema changes like
 * others.
 */
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
  readonly #counter: StatementCounter;
  readonly #turns = new ConnectionTurns(1);

  constructor(client: SqliteClient, counter: StatementCounter) {
    this.#client = client;
    this.#counter = counter;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<WorkerConnection> {
    await this.#turns.take();
    try {
      this.#client.pulse?.refuseSilent();
      return new WorkerConnection(await this.#client.thread(), this.#counter);
    } catch (error) {
      this.#turns.give();
      throw error;
    }
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    workerConnection(connection).begin();
  }

  /** The next user's turn begins when the commit is sent, because its statements queue behind it in the thread. */
  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const held = workerConnection(connection);
    const committed = held.end('commit');
    if (!held.isCopying) this.#pass(held);
    await committed;
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    const held = workerConnection(connection);
    // A failed commit has rolled back, and a dead thread lost its transaction.
    if (held.isHeld) await held.end('rollback').catch(() => {});
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    this.#pass(workerConnection(connection));
  }

  #pass(connection: WorkerConnection): void {
    if (!connection.isHeld) return;
    connection.isHeld = false;
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
  readonly #counter: StatementCounter;
  #role: 'alone' | 'inside' = 'alone';
  /** A statement has failed with it, or was given up and is executed later, so the transaction is not committed. */
  #failure: Error | undefined;
  /** Until the next user's turn. */
  isHeld = true;

  constructor(thread: SqliteThread, counter: StatementCounter) {
    this.#thread = thread;
    this.#counter = counter;
  }

  get isCopying(): boolean {
    return this.#thread.isCopying;
  }

  /** Does not wait for the response: if it fails, every statement inside fails too. */
  begin(): void {
    this.#role = 'inside';
    this.#failure = undefined;
    this.#thread.run('begin immediate', [], 'begin').catch(() => {});
  }

  async end(how: 'commit' | 'rollback'): Promise<void> {
    const failure = how === 'commit' ? this.#failure : undefined;
    const role = failure === undefined ? how : 'rollback';
    await this.#thread.run(role, [], role);
    this.#role = 'alone';
    if (failure !== undefined) throw failure;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#counter.count += 1;
    const { rows, changes } = await this.#thread
      .run(query.sql, query.parameters, this.#role)
      .catch((error: unknown) => {
        this.#failure ??= error as Error;
        throw error;
      });
    if (changes === undefined) return { rows: rows as R[] };
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  // eslint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('the embedded database does not stream; page instead');
  }
}
