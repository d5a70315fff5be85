import assert from 'node:assert/strict';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import { silentLog } from '#base';
import { makeTestAuthority } from '../../../../test/support/certificates.ts';
import { until, within } from '../../../../test/support/deadline.ts';
import { lineOf, recordingLog } from '../../../../test/support/recording-log.ts';
import {
  POSTGRES_PASSWORD,
  postgresSkip,
  startPostgres,
  type PostgresServer,
} from '../../../../test/support/postgres.ts';
import { PooledPostgresDialect } from './postgres-dialect.ts';
import { openPool } from './postgres-pool.ts';
import { checkServer } from './postgres-start.ts';
import { openPostgresStore } from './postgres-store.ts';
import { parsePostgresUrl } from './postgres-url.ts';
import type { Database } from '../schema/schema.ts';
import { errorOfPostgres } from './store-errors.ts';
import { EVERYTHING, type Change, type Store } from './store.ts';

const lines: string[] = [];
const log = recordingLog((record) => void lines.push(lineOf(record)));
const RECOVERY_MS = 10_000;

describe('the store on PostgreSQL', { skip: postgresSkip }, () => {
  let server: PostgresServer;
  let url: string;
  let database: string;
  let one: Store;
  let other: Store;
  const open = (more: object = {}) => openPostgresStore({ url, log, ...more });
  before(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
    database = parsePostgresUrl(url).database;
    one = await open();
    other = await open();
  });
  after(async () => {
    await one.close();
    await other.close();
    server.destroy();
  });

  let made = 0;
  const add = (store: Store, touched = 1): Promise<string> => {
    made += 1;
    const id = `o${made}`;
    return store.transaction(async (trx, touch) => {
      await trx.insertInto('organization').values({ id, name: 'x', created_at: 1 }).execute();
      for (let i = 0; i < touched; i += 1) touch('organization', i === 0 ? id : `${id}-${i}`);
      return id;
    });
  };
  const idsOf = async (store: Store) =>
    (await store.db.selectFrom('organization').select('id').execute()).map(({ id }) => id);
  /** Resolves when `store` was notified of a later change that `wanted` accepts. */
  const notified = (store: Store, wanted: (change: Change) => boolean): (() => Promise<void>) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    store.onChange((changes) => (changes.some(wanted) ? resolve() : undefined));
    return () => within('the change', promise, RECOVERY_MS);
  };
  const pidsOf = async (application: string): Promise<string[]> => {
    const where = `application_name = '${application}' and datname = '${database}'`;
    return (await server.sql(`select pid from pg_stat_activity where ${where}`)).split('\n').filter(Boolean);
  };
  const terminateAll = () =>
    server.sql(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);

  it('reports the changes of one process to the others, and once to itself', async () => {
    const own: Change[] = [];
    one.onChange((changes) => void own.push(...changes));
    const received: Change[] = [];
    other.onChange((changes) => void received.push(...changes));
    const ids = [await add(one), await add(one), await add(one)];
    assert.deepEqual(
      own.map(({ id }) => id),
      ids,
    );
    const back = notified(one, ({ id }) => id === 'from-other');
    await until(
      'changes of the other',
      () => received.length,
      (count) => count === 3,
    );
    await other.transaction(async (_trx, touch) => touch('caller', 'from-other'));
    await back();
    assert.deepEqual(
      received.slice(0, 3).map(({ id }) => id),
      ids,
    );
    assert.deepEqual(
      own.map(({ id }) => id),
      [...ids, 'from-other'],
    );
  });

  it('is caught up once its listeners have handled what others committed before', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const handled: string[] = [];
    other.onChange(async (changes) => {
      if (!changes.some(({ id }) => id.startsWith('caught-up'))) return;
      await promise;
      handled.push(...changes.map(({ id }) => id));
    });
    for (const id of ['caught-up-1', 'caught-up-2'])
      await one.transaction(async (_trx, touch) => touch('caller', id));
    let isCaughtUp = false;
    const caughtUp = other.caughtUp().then(() => (isCaughtUp = true));
    await one.caughtUp();
    assert.ok(!isCaughtUp);
    resolve();
    await within('the other', caughtUp);
    assert.deepEqual(handled, ['caught-up-1', 'caught-up-2']);
  });

  it('reports nothing that is rolled back, and too many changes as a change of everything', async () => {
    const received: Change[] = [];
    other.onChange((changes) => void received.push(...changes));
    const failing = one.transaction(async (_trx, touch) => {
      touch('share', 'undone');
      throw new Error('no');
    });
    await assert.rejects(failing);
    const everything = notified(other, ({ entity }) => entity === EVERYTHING.entity);
    await add(one, 6_000);
    await everything();
    assert.ok(received.every(({ id }) => id !== 'undone'));
  });

  it('listens again after its connection was lost, and reports that anything may have changed in the meantime', async () => {
    const resynchronized = notified(other, ({ entity }) => entity === 'everything');
    await Promise.all(
      (await pidsOf('frontdoor changes')).map((pid) => server.sql(`select pg_terminate_backend(${pid})`)),
    );
    await resynchronized();
    const next = notified(other, ({ id }) => id === 'received');
    await one.transaction(async (_trx, touch) => touch('caller', 'received'));
    await next();
  });

  it('detects a listening connection that was lost silently', async () => {
    const hearing = await open({ heartbeatMs: 300 });
    const deaf = await pidsOf('frontdoor changes');
    const resynchronized = notified(hearing, ({ entity }) => entity === 'everything');
    for (const pid of deaf) process.kill(Number(pid), 'SIGSTOP');
    try {
      await resynchronized();
    } finally {
      for (const pid of deaf) process.kill(Number(pid), 'SIGCONT');
    }
    await hearing.close();
  });

  it('keeps its listening connection while the process itself stands still for longer than a heartbeat', async () => {
    const linesBefore = lines.length;
    const busy = await open({ heartbeatMs: 60 });
    const still = new Int32Array(new SharedArrayBuffer(4));
    for (let pauses = 0; pauses < 10; pauses += 1) {
      await nextTurn();
      Atomics.wait(still, 0, 0, 80);
    }
    await add(busy);
    await busy.close();
    const lost = lines.slice(linesBefore).filter((line) => line.includes('no notifications of changes'));
    assert.deepEqual(lost, []);
  });

  it('continues by itself after all its connections were dropped', async () => {
    const id = await add(one);
    await terminateAll();
    await until(
      'an answer',
      () => idsOf(one).catch((): string[] => []),
      (ids) => ids.includes(id),
      RECOVERY_MS,
    );
    await until('a write', () => add(one), Boolean, RECOVERY_MS);
  });

  for (const [what, end] of [
    ['stopped', () => server.stop()],
    ['killed', () => server.kill()],
  ] as const) {
    it(`refuses while the server is ${what}, and continues by itself within 10 s when it is back`, async () => {
      const before = await add(one);
      await end();
      const refused = [add(one), idsOf(one), add(other)].map((asked) =>
        assert.rejects(asked, { kind: 'unavailable', code: /store-unavailable|commit-unknown/ }),
      );
      await Promise.all(refused);
      const resynchronized = notified(one, ({ entity }) => entity === 'everything');
      await server.start();
      await until('a write', () => add(one), Boolean, RECOVERY_MS);
      assert.ok((await idsOf(other)).includes(before));
      await resynchronized();
    });
  }

  it('reports an unknown result when the connection is lost in the commit, and makes listeners read again', async () => {
    await server.sql(
      `create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(20); return null; end $$;
       create constraint trigger slow_commit after insert on frontend deferrable initially deferred
       for each row execute function slow()`,
      database,
    );
    const looked = notified(one, ({ id }) => id === 'unsure');
    const unsure = one.transaction(async (trx, touch) => {
      const row = { id: 'unsure', public_name: 'unsure', zone: 'unsure', is_default: 0, created_at: 1 };
      await trx.insertInto('frontend').values(row).execute();
      touch('frontend', 'unsure');
    });
    const ended = assert.rejects(unsure, { kind: 'unavailable', code: 'commit-unknown' });
    const sleeping = `from pg_stat_activity where wait_event = 'PgSleep' and datname = '${database}'`;
    await until(
      'the commit',
      () => server.sql(`select count(*) ${sleeping}`),
      (count) => count === '1',
    );
    await server.sql(`select pg_terminate_backend(pid) ${sleeping}`);
    await ended;
    await looked();
    await server.sql('drop trigger slow_commit on frontend', database);
  });

  it('continues with prepared statements when the schema has grown under them', async () => {
    const read = (db: Pick<Store['db'], 'selectFrom'>) => db.selectFrom('audit_head').selectAll().execute();
    const small = await open({ poolSize: 1 });
    const spoil = (column: string) =>
      server.sql(`alter table audit_head add column ${column} text`, database);
    for (let i = 0; i < 5; i += 1) await read(small.db);
    await spoil('grown');
    await read(small.db);
    for (let i = 0; i < 5; i += 1) await read(small.db);
    await spoil('grown_again');
    await small.transaction(read);
    await server.sql('alter table audit_head drop column grown, drop column grown_again', database);
    await small.close();
  });

  it('uses no more connections than allowed, and gives every caller a turn', async () => {
    const small = await open({ poolSize: 2 });
    const asked = Array.from({ length: 40 }, async () => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid, pg_sleep(0.005)`.execute(
        small.db,
      );
      return rows[0]!.pid;
    });
    assert.ok(new Set(await Promise.all(asked)).size <= 2);
    await small.close();
  });

  it('ends a statement that takes too long, and a connection that does not answer', async () => {
    // With nothing else at those connections: that might take so long as well.
    const asking = async (statementTimeoutMs: number) => {
      const pool = await openPool(parsePostgresUrl(url), { size: 1, statementTimeoutMs, log: silentLog });
      const through = (answerTimeoutMs: number) =>
        new Kysely<Database>({ dialect: new PooledPostgresDialect({ pool, size: 1, answerTimeoutMs }) });
      return { pool, through };
    };
    const hasty = await asking(100);
    await assert.rejects(sql`select pg_sleep(10)`.execute(hasty.through(30_000)), {
      kind: 'unavailable',
      message: /in time/,
    });
    await hasty.pool.end();
    const { pool, through } = await asking(0);
    await assert.rejects(sql`select pg_sleep(10)`.execute(through(100)), { kind: 'unavailable' });
    await sql`select 1`.execute(through(30_000));
    await pool.end();
  });

  it('acknowledges what is on disk, also where the database would have it otherwise', async () => {
    await server.sql(`alter database ${database} set synchronous_commit = off`);
    const careful = await open();
    const { rows } = await sql<{
      value: string;
    }>`select current_setting('synchronous_commit') as value`.execute(careful.db);
    assert.equal(rows[0]?.value, 'on');
    await careful.close();
    await server.sql(`alter database ${database} reset synchronous_commit`);
  });

  it('refuses to start on an unusable database, with the remedy', async () => {
    const latin = await server.createDatabase(`template template0 encoding 'SQL_ASCII' locale 'C'`);
    const frozen = await server.createDatabase();
    await server.sql(
      `alter database ${parsePostgresUrl(frozen).database} set default_transaction_read_only = on`,
    );
    const foreign = await server.createDatabase();
    await server.sql(`alter database ${parsePostgresUrl(foreign).database} owner to postgres`);
    const elsewhere = new URL(url);
    elsewhere.port = '1';
    const nowhere = new URL(url);
    // Longer than a label may be, so that no name server is asked.
    nowhere.hostname = `no-such-host.${'x'.repeat(64)}`;
    const stranger = new URL(url);
    stranger.password = `${POSTGRES_PASSWORD}-not`;
    const table: readonly (readonly [string, string, RegExp])[] = [
      [stranger.href, 'database-login', /refuses the login of frontdoor.*check user and password/],
      [server.urlOf('missing'), 'database-missing', /missing.*createdb/],
      [elsewhere.href, 'database-unreachable', /127\.0\.0\.1:1\/.*is PostgreSQL running/],
      [`${nowhere.href}?sslmode=disable`, 'database-unreachable', /no-such-host\.x+.*host name/],
      [`${url}?sslmode=verify-full`, 'database-unreachable', /does not support SSL.*sslmode=disable/],
      [latin, 'database-encoding', /SQL_ASCII.*createdb --encoding UTF8/],
      [frozen, 'database-read-only', /primary/],
      [foreign, 'database-rights', /frontdoor may not create tables.*owner/],
    ];
    for (const [at, code, message] of table) {
      await assert.rejects(openPostgresStore({ url: at, log }), (error: Error & { code?: string }) => {
        assert.equal(error.code, code, error.message);
        assert.match(error.message, message);
        assert.ok(!`${error.stack}${String(error.cause)}`.includes(POSTGRES_PASSWORD), error.message);
        return true;
      });
    }
    const old = {
      version: 14,
      version_text: '14.9',
      encoding: 'UTF8',
      synchronous_commit: 'on',
      fsync: 'on',
    };
    const target = { label: 'h:1/d', user: 'u' };
    assert.throws(() => checkServer({ ...old, is_read_only: false, may_create: true }, target), {
      code: 'database-version',
      message: /h:1\/d is PostgreSQL 14\.9: version 15 or newer/,
    });
  });

  it('encrypts where it is asked to, and believes only the authority that it is given', async () => {
    const authority = await makeTestAuthority();
    const secure = await startPostgres({ tls: await authority.issue('localhost') });
    const at = new URL(await secure.createDatabase());
    at.hostname = 'localhost';
    const trusting = await openPostgresStore({ url: `${at.href}?sslmode=require`, log });
    const { rows } = await sql<{
      ssl: boolean;
    }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(trusting.db);
    assert.deepEqual(rows, [{ ssl: true }]);
    await trusting.close();
    await assert.rejects(openPostgresStore({ url: `${at.href}?sslmode=verify-full`, log }), {
      code: 'database-unreachable',
      message: /sslrootcert/,
    });
    secure.destroy();
  });

  it('keeps its password and the values of rows out of logs and errors', async () => {
    assert.ok(lines.length > 5);
    assert.deepEqual(
      lines.filter((line) => line.includes(POSTGRES_PASSWORD)),
      [],
    );
    const secret = { id: 'canary-of-rows', name: 'x', created_at: 1 };
    await one.db.insertInto('organization').values(secret).execute();
    await assert.rejects(one.db.insertInto('organization').values(secret).execute(), (error: Error) => {
      assert.ok(!`${error.stack}${String(error.cause)}${JSON.stringify(error)}`.includes(secret.id));
      return true;
    });
  });

  it('distinguishes an unreachable database from a wrong statement', () => {
    const of = (code: string, severity = 'ERROR') =>
      errorOfPostgres(Object.assign(new Error('said so'), { code, severity }));
    for (const state of ['53100', '53300', '57P01', '57P03', '25006', '08006', '57014', '58030']) {
      assert.equal(of(state).kind, 'unavailable', state);
    }
    assert.match(of('53100').message, /no room left on its disk/);
    assert.equal(of('40001').code, 'store-contended');
    assert.equal(of('42601').kind, 'internal');
    assert.equal(errorOfPostgres(Object.assign(new Error('x'), { code: 'ECONNRESET' })).kind, 'unavailable');
  });
});
