/**
 * A bounded pool of connections to PostgreSQL with the driver `pg`, with a deadline for everything that can hang,
 * and numbers as numbers. Callers must release what they acquire.
 */
import { messageOf, type Log } from '#base';
import type { Client, ClientConfig, Pool } from 'pg';
import type { PostgresTarget } from './postgres-url.ts';
import { sqlStateOf } from './store-errors.ts';

export interface PoolOptions {
  readonly size: number;
  /** 0: none. */
  readonly statementTimeoutMs: number;
  /** Session settings in the form of the server's command line. */
  readonly settings?: string | undefined;
  readonly log: Log;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** With the silence before a probe, callers have an answer within 5 s. */
const PROBE_TIMEOUT_MS = 3_500;
const LOCK_TIMEOUT_MS = 10_000;
const IDLE_IN_TRANSACTION_MS = 30_000;
const IDLE_CONNECTION_MS = 60_000;
const KEEP_ALIVE_MS = 10_000;
const INT8 = 20;
const NUMERIC = 1700;

/** Loaded when a pool is opened, because the embedded database does not need the driver. */
const loadDriver = () => import('pg');

export async function openPool(target: PostgresTarget, options: PoolOptions): Promise<Pool> {
  const pg = await loadDriver();
  const { size, statementTimeoutMs, settings, log } = options;
  const pool = new pg.Pool({
    ...configOf(target),
    max: size,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    allowExitOnIdle: true,
    statement_timeout: statementTimeoutMs,
    // Without a deadline for statements there is none for their locks.
    lock_timeout: statementTimeoutMs === 0 ? 0 : LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    types: {
      getTypeParser: (oid, format) =>
        oid === INT8 || oid === NUMERIC ? Number : pg.types.getTypeParser(oid, format),
    },
    options: settings,
  });
  // An error of a connection is reported to its statement; one that breaks in the pool is replaced when
  // needed.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', (error) => log.warn({ cause: messageOf(error) }, 'a connection to the database broke'));
  return pool;
}

/** Creates one connection outside the pool, not connected yet. */
export async function singleClient(target: PostgresTarget, name: string): Promise<Client> {
  const pg = await loadDriver();
  return new pg.Client({ ...configOf(target), application_name: name });
}

/** Resolves when the server answers a new connection, also with a refusal. Rejects if it does not do so in time. */
export async function probeServer(target: PostgresTarget): Promise<void> {
  const pg = await loadDriver();
  const client = new pg.Client({
    ...configOf(target),
    application_name: 'frontdoor probe',
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    if (sqlStateOf(error) === undefined) throw error;
  } finally {
    void client.end();
  }
}

function configOf(target: PostgresTarget): ClientConfig {
  const { host, port, user, password, database, ssl } = target;
  return {
    host,
    port,
    user,
    database,
    ssl,
    // A function, so that neither the environment nor a password file of this machine is used.
    password: () => password,
    application_name: 'frontdoor',
    client_encoding: 'UTF8',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}
