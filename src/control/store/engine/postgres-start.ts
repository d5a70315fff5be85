/**
 * Prepares a PostgreSQL database: it must be reachable, suitable, and its schema up to date. Problems are
 * reported with a remedy, for the operator who starts the program.
 */
import { Kysely, sql } from 'kysely';
import { FrontdoorError, messageOf, type Log } from '#base';
import type { ControlErrorCode } from '#contract/errors';
import { postgresSnapshot } from './backup-snapshot.ts';
import { PooledPostgresDialect } from './postgres-dialect.ts';
import { openPool } from './postgres-pool.ts';
import type { PostgresTarget } from './postgres-url.ts';
import type { Database } from '../schema/schema.ts';
import { migrateSchema, type BeforeMigration, type Migrations } from './schema-migration.ts';
import { sqlStateOf } from './store-errors.ts';
import type { Store } from './store.ts';

const OLDEST_VERSION = 15;
/** One for the migrations, and one that reads the database as it was before them. */
const CONNECTIONS = 2;

/** State that the server reports. */
export interface ServerState {
  readonly version: number;
  readonly version_text: string;
  readonly encoding: string;
  readonly synchronous_commit: string;
  readonly fsync: string;
  readonly is_read_only: boolean;
  /** In the schema in which tables are created. */
  readonly may_create: boolean;
}

/** Returns settings for later sessions, or undefined. Errors: `invalid`, `unavailable`, those of migrations. */
export async function preparePostgres(
  target: PostgresTarget,
  migrations: Migrations,
  log: Log,
  before: BeforeMigration | undefined,
): Promise<string | undefined> {
  // A migration may be slow, and so may another process's, which is awaited.
  const pool = await openPool(target, { size: CONNECTIONS, statementTimeoutMs: 0, log });
  const db = new Kysely<Database>({
    dialect: new PooledPostgresDialect({ pool, size: CONNECTIONS, answerTimeoutMs: 0 }),
  });
  const snapshot: Store['snapshot'] = (work) => postgresSnapshot(db, work);
  try {
    const client = await pool.connect().catch((error: unknown) => {
      throw notReached(error, target);
    });
    client.release();
    const server = await serverStateOf(db);
    checkServer(server, target);
    await migrateSchema(db, migrations, log, async (trx, migration) => {
      // The transaction of the migrations has no statement in the meantime.
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
      await before?.({ db: trx, snapshot }, migration);
    });
    if (server.fsync === 'off') {
      log.warn(
        { database: target.label },
        'the database runs without fsync: a power failure loses acknowledged writes',
      );
    }
    return server.synchronous_commit === 'off' ? '-c synchronous_commit=on' : undefined;
  } finally {
    await pool.end();
  }
}

async function serverStateOf(db: Kysely<Database>): Promise<ServerState> {
  const { rows } = await sql<ServerState>`select
    current_setting('server_version_num')::integer / 10000 as version,
    current_setting('server_version') as version_text,
    current_setting('server_encoding') as encoding,
    current_setting('synchronous_commit') as synchronous_commit,
    current_setting('fsync') as fsync,
    current_setting('transaction_read_only') = 'on' as is_read_only,
    coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as may_create`.execute(db);
  return rows[0]!;
}

/** Throws `invalid` for an unsuitable server. */
export function checkServer(
  server: ServerState,
  { label, user }: Pick<PostgresTarget, 'label' | 'user'>,
): void {
  const { version, version_text, encoding, is_read_only, may_create } = server;
  const refuse = (code: ControlErrorCode, message: string): never => {
    throw new FrontdoorError('invalid', code, message);
  };
  if (version < OLDEST_VERSION) {
    refuse(
      'database-version',
      `${label} is PostgreSQL ${version_text}: version ${OLDEST_VERSION} or newer is needed`,
    );
  }
  if (encoding !== 'UTF8') {
    refuse(
      'database-encoding',
      `${label} is encoded in ${encoding}: recreate it with "createdb --encoding UTF8"`,
    );
  }
  if (is_read_only)
    refuse('database-read-only', `${label} is read-only: name the primary server, not a standby`);
  if (!may_create)
    refuse('database-rights', `${user} may not create tables in ${label}: make it the owner of the database`);
}

/** By SQLSTATE or by the system's error code. */
const REMEDIES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: is PostgreSQL running, and is the port right?',
  ENOENT: 'there is no such socket: is PostgreSQL running, and is the directory right?',
  EACCES: 'this user may not open the socket',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be looked up at the moment',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the host',
  ECONNRESET: 'the server hung up',
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for another name",
  '53300': 'the server has no connection left: raise its max_connections',
  '57P03': 'the server is starting or stopping: try again in a moment',
};

function notReached(error: unknown, target: PostgresTarget): FrontdoorError {
  const { label, user } = target;
  const state = sqlStateOf(error);
  const cause = new Error(messageOf(error));
  const refused = (code: ControlErrorCode, why: string): FrontdoorError =>
    new FrontdoorError('invalid', code, `cannot use the database at ${label}: ${why}`, { cause });
  if (state?.startsWith('28') === true) {
    return refused(
      'database-login',
      `it refuses the login of ${user}: check user and password in the database URL`,
    );
  }
  if (state === '3D000')
    return refused('database-missing', 'there is no such database: make it with "createdb"');
  const message = `cannot use the database at ${label}: ${remedyFor(error, target)}`;
  return new FrontdoorError('unavailable', 'database-unreachable', message, { cause });
}

function remedyFor(error: unknown, { ssl }: PostgresTarget): string {
  const { code = '' } = error as { code?: string };
  const known = REMEDIES[code];
  if (known !== undefined) return known;
  if (ssl !== false && /CERT|SIGNATURE/.test(code)) {
    return "the server's certificate is not trusted: name its authority with sslrootcert in the database URL";
  }
  if (ssl !== false && code === '') {
    return `no encrypted connection came about (${messageOf(error)}): on a network that you trust, sslmode=disable does without`;
  }
  return messageOf(error);
}
