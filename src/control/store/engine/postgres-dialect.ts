/**
 * Kysely over a pool of PostgreSQL connections, with a bounded queue in front, named statements, and our errors.
 * PostgreSQL's text cannot contain NUL: in a parameter it becomes U+FFFD, as a lone surrogate does.
 */
import {
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import type { Pool, PoolClient, QueryResult as PostgresResult } from 'pg';
import { definedFields, FrontdoorError } from '#base';
import { ConnectionTurns } from './connection-turns.ts';
import type { DatabasePulse } from './database-pulse.ts';
import type { StatementCounter } from './statement-counter.ts';
import { StatementNames } from './statement-names.ts';
import {
  commitUnknown,
  endsConnection,
  errorOfPostgres,
  isStaleStatement,
  sqlStateOf,
  storeContended,
  storeUnavailable,
} from './store-errors.ts';

export interface PostgresDialectOptions {
  readonly pool: Pool;
  readonly size: number;
  /** A connection that has not answered a statement within this time is closed; 0: never. */
  readonly answerTimeoutMs: number;
  readonly counter?: StatementCounter;
  /** Fails what waits for a database that does not answer. */
  readonly pulse?: DatabasePulse;
}

export class PooledPostgresDialect implements Dialect {
  readonly #options: PostgresDialectOptions;

  constructor(options: PostgresDialectOptions) {
    this.#options = options;
  }

  createAdapter(): PostgresAdapter {
    return new CallerLockedAdapter();
  }

  createDriver(): Driver {
    return new PooledDriver(this.#options);
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new PostgresIntrospector(db);
  }

  createQueryCompiler(): PostgresQueryCompiler {
    return new PostgresQueryCompiler();
  }
}

/** The caller of a migration holds a lock until the end of the transaction. */
class CallerLockedAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}

  override async releaseMigrationLock(): Promise<void> {}
}

class PooledDriver implements Driver {
  readonly #pool: Pool;
  readonly #turns: ConnectionTurns;
  readonly #names = new StatementNames();
  readonly #answerTimeoutMs: number;
  readonly #counter: StatementCounter;
  readonly #pulse: DatabasePulse | undefined;

  constructor({ pool, size, answerTimeoutMs, counter = { count: 0 }, pulse }: PostgresDialectOptions) {
    this.#pool = pool;
    this.#turns = new ConnectionTurns(size);
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#counter = counter;
    this.#pulse = pulse;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PooledConnection> {
    await this.#turns.take();
    try {
      if (this.#pool.ending) throw storeUnavailable('is closed');
      const client = await this.#connect();
      return new PooledConnection(client, {
        names: this.#names,
        answerTimeoutMs: this.#answerTimeoutMs,
        counter: this.#counter,
        pulse: this.#pulse,
      });
    } catch (error) {
      this.#turns.give();
      throw errorOfPostgres(error);
    }
  }

  /** A connection that comes about after the database was given up goes back to the pool. */
  #connect(): Promise<PoolClient> {
    const { promise, resolve, reject } = Promise.withResolvers<PoolClient>();
    let isGivenUp = false;
    const end = this.#pulse?.wait((error) => {
      isGivenUp = true;
      reject(error);
    });
    this.#pool.connect().then(
      (client) => {
        // It may be one that was idle in the pool, which proves nothing.
        end?.(false);
        if (isGivenUp) client.release();
        else resolve(client);
      },
      (error: unknown) => {
        end?.(sqlStateOf(error) !== undefined);
        reject(error);
      },
    );
    return promise;
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    await pooledConnection(connection).begin(settings);
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await pooledConnection(connection).commit();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await pooledConnection(connection).rollback();
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    pooledConnection(connection).release();
    this.#turns.give();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

function pooledConnection(connection: DatabaseConnection): PooledConnection {
  if (!(connection instanceof PooledConnection)) throw new TypeError('not a connection of this driver');
  return connection;
}

const COUNTED = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

interface ConnectionParts {
  readonly names: StatementNames;
  readonly answerTimeoutMs: number;
  readonly counter: StatementCounter;
  readonly pulse: DatabasePulse | undefined;
}

/** One use of a connection, from its acquisition to its release. */
class PooledConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #parts: ConnectionParts;
  #isInTransaction = false;
  /** Whether it must not be reused. */
  #isSpent = false;

  constructor(client: PoolClient, parts: ConnectionParts) {
    this.#client = client;
    this.#parts = parts;
  }

  async begin({ isolationLevel = 'read committed', accessMode }: TransactionSettings): Promise<void> {
    await this.#run(`begin isolation level ${isolationLevel} ${accessMode ?? ''}`).catch(toOurs);
    this.#isInTransaction = true;
  }

  async commit(): Promise<void> {
    this.#isInTransaction = false;
    let result;
    try {
      result = await this.#run('commit');
    } catch (error) {
      // Our own refusal was thrown before the statement was sent.
      const isUnknown = endsConnection(error) && !(error instanceof FrontdoorError);
      throw isUnknown ? commitUnknown(errorOfPostgres(error)) : errorOfPostgres(error);
    }
    // The server rolls back a transaction after a failed statement, even if the caller caught the failure.
    if (result.command === 'ROLLBACK')
      throw new Error('a transaction continued after a statement of it failed');
  }

  async rollback(): Promise<void> {
    this.#isInTransaction = false;
    // If this fails the connection is closed, which rolls back as well.
    if (!this.#isSpent) await this.#run('rollback').catch(() => (this.#isSpent = true));
  }

  release(): void {
    this.#client.release(this.#isSpent || this.#isInTransaction);
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    this.#parts.counter.count += 1;
    const values = parameters.map(withoutNul);
    const name = this.#parts.names.nameOf(sql);
    let result;
    try {
      result = await this.#run(sql, values, name);
    } catch (error) {
      if (name === undefined || !isStaleStatement(error)) throw errorOfPostgres(error);
      this.#isSpent = true;
      if (this.#isInTransaction) throw storeContended(errorOfPostgres(error));
      result = await this.#run(sql, values).catch(toOurs);
    }
    const rows = result.rows as R[];
    if (!COUNTED.has(result.command)) return { rows };
    return { rows, numAffectedRows: BigInt(result.rowCount ?? 0) };
  }

  // eslint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('the store does not stream; page instead');
  }

  async #run(text: string, values?: unknown[], name?: string): Promise<PostgresResult> {
    const query = definedFields({ text, values, name });
    const { answerTimeoutMs, pulse } = this.#parts;
    let timer: NodeJS.Timeout | undefined;
    let end: ((isAnswered: boolean) => void) | undefined;
    let isAnswered = false;
    // Ending a connection fails its query.
    const giveUp = (): void => void this.#client.end();
    try {
      end = pulse?.wait(giveUp);
      // The server's own deadline comes first. After this one the connection is dead.
      if (answerTimeoutMs > 0) timer = setTimeout(giveUp, answerTimeoutMs);
      const result = await this.#client.query(query);
      isAnswered = true;
      return result;
    } catch (error) {
      isAnswered = sqlStateOf(error) !== undefined;
      if (endsConnection(error)) this.#isSpent = true;
      throw error;
    } finally {
      clearTimeout(timer);
      end?.(isAnswered);
    }
  }
}

function toOurs(error: unknown): never {
  throw errorOfPostgres(error);
}

function withoutNul(parameter: unknown): unknown {
  return typeof parameter === 'string' && parameter.includes('\0')
    ? parameter.replaceAll('\0', '\uFFFD')
    : parameter;
}
