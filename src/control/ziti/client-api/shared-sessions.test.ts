import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { until } from '../../../../test/support/deadline.ts';
import { postgresSkip, sharedPostgres } from '../../../../test/support/postgres.ts';
import { attachModel, OverlayModel } from '../../overlay/model/mod.ts';
import { Secrets } from '../../secrets/secrets.ts';
import { openPostgresStore } from '../../store/engine/postgres-store.ts';
import type { Store } from '../../store/mod.ts';
import { ApiSessionStore } from '../../overlay/clients/api-session-store.ts';
import { openApiSessions, SESSION_IDLE_MS } from '../../overlay/clients/mod.ts';

const secrets = new Secrets([{ id: 'k1', key: new Uint8Array(32).fill(1) }]);

interface Replica {
  readonly store: Store;
  readonly sessions: ApiSessionStore;
  readonly added: string[];
  readonly removed: string[];
  close(): Promise<void>;
}

describe('API sessions of control planes over one database', { skip: postgresSkip }, () => {
  const clock = new ManualClock();
  let url: string;
  let a: Replica;
  let b: Replica;
  let identityId: string;

  async function open(): Promise<Replica> {
    const store = await openPostgresStore({ url, poolSize: 3 });
    const model = new OverlayModel();
    const attached = await attachModel(store, model);
    const sessions = await openApiSessions({
      verifyAccess: () => undefined,
      store,
      secrets,
      model,
      clock,
      log: silentLog,
    });
    const [added, removed]: string[][] = [[], []];
    sessions.onAdded(({ id }) => added!.push(id));
    sessions.onRemoved(({ id }) => removed!.push(id));
    const close = async (): Promise<void> => {
      await sessions.close();
      attached.close();
      await store.close();
    };
    return { store, sessions, added: added!, removed: removed!, close };
  }

  before(async () => {
    url = await (await sharedPostgres()).createDatabase();
    a = await open();
    b = await open();
  });
  beforeEach(async () => {
    identityId = randomUUID();
    const row = {
      id: identityId,
      kind: 'gateway',
      frontdoor_id: null,
      name: 'g',
      agent_version: null,
    } as const;
    await a.store.transaction(async (trx, touch) => {
      await trx
        .insertInto('identity')
        .values({ ...row, created_at: 1 })
        .execute();
      touch('identity', identityId);
    });
  });
  after(async () => {
    await a.close();
    await b.close();
  });

  const known = (replica: Replica, token: string): Promise<unknown> =>
    until(
      'the session',
      () => replica.sessions.byToken(token),
      (found) => found !== undefined,
    );
  const gone = (replica: Replica, token: string): Promise<unknown> =>
    until('the end of the session', () => replica.sessions.byToken(token) === undefined, Boolean);

  test('a log-in at one is valid at the other, is announced there once, and ends at both together', async () => {
    const session = await a.sessions.create(identityId, 'aa', ['host.v1']);
    await known(b, session.token);
    assert.deepEqual(b.sessions.byToken(session.token)?.configTypes, ['host.v1']);
    assert.deepEqual([a.added, b.added], [[session.id], [session.id]]);
    await b.sessions.remove(session.id);
    await gone(a, session.token);
    assert.deepEqual([a.removed, b.removed], [[session.id], [session.id]]);
    assert.deepEqual(await a.store.db.selectFrom('api_session').select('id').execute(), []);
  });

  test('a log-in at one is found at the other at once, before it is announced there, and never after its end', async () => {
    const session = await a.sessions.create(identityId, 'aa', ['host.v1']);
    const silent = await openPostgresStore({ url, poolSize: 1 });
    // It has loaded nothing, and its store is not asked for announcements.
    const model = new OverlayModel();
    model.setIdentity({ id: identityId, kind: 'gateway', name: 'g', ownerId: null, fingerprints: [] });
    const sessions = new ApiSessionStore({
      store: silent,
      secrets,
      model,
      clock,
      log: silentLog,
      verifyAccess: () => undefined,
    });
    assert.equal(sessions.byToken(session.token), undefined);
    assert.equal((await sessions.find(session.token))?.id, session.id);
    assert.equal(await sessions.find('of nobody'), undefined);
    await a.sessions.remove(session.id);
    await until('the end', () => sessions.byToken(session.token) === undefined, Boolean);
    assert.equal(await sessions.find(session.token), undefined);
    await sessions.close();
    await silent.close();
  });

  test('a deleted identity is logged out of both', async () => {
    const session = await a.sessions.create(identityId, 'aa', []);
    await known(b, session.token);
    await b.store.transaction(async (trx, touch) => {
      await trx.deleteFrom('identity').where('id', '=', identityId).execute();
      touch('identity', identityId);
    });
    await gone(a, session.token);
    await gone(b, session.token);
  });

  test('a session that is used at one does not idle out at the other; an idle one ends at both', async () => {
    const used = await a.sessions.create(identityId, 'aa', []);
    const idle = await a.sessions.create(identityId, 'aa', []);
    await known(b, used.token);
    await known(b, idle.token);
    for (let ms = 0; ms < 2 * SESSION_IDLE_MS; ms += 30_000) {
      clock.advance(30_000);
      a.sessions.touch([used.token]);
      // Whichever looks first.
      const [first, second] = ms % 60_000 === 0 ? [a, b] : [b, a];
      await first.sessions.tick();
      await second.sessions.tick();
      for (const each of [a, b])
        assert.equal(each.sessions.byToken(used.token)?.id, used.id, `after ${ms} ms`);
    }
    await gone(a, idle.token);
    await gone(b, idle.token);
    const rows = await a.store.db.selectFrom('api_session').select('id').execute();
    assert.deepEqual(rows, [{ id: used.id }]);
  });

  test('a control plane that starts later, or whose connection was lost, has all live sessions', async () => {
    const session = await a.sessions.create(identityId, 'aa', []);
    const late = await open();
    assert.equal(late.sessions.byToken(session.token)?.id, session.id);
    const removedSilently = await a.sessions.create(identityId, 'aa', []);
    await known(late, removedSilently.token);
    const server = await sharedPostgres();
    // A change that bypasses the store is not announced; a lost connection causes a new read.
    await server.sql(
      `delete from api_session where id = '${removedSilently.id}'`,
      new URL(url).pathname.slice(1),
    );
    await server.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'frontdoor changes'",
    );
    await gone(late, removedSilently.token);
    assert.equal(late.sessions.byToken(session.token)?.id, session.id);
    await late.close();
  });
});
