import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { attachModel } from '../model/model-loader.ts';
import { OverlayModel } from '../model/overlay-model.ts';
import { Secrets } from '../../secrets/secrets.ts';
import type { Store } from '../../store/mod.ts';
import { openApiSessions, SESSION_IDLE_MS, type ApiSessionStore } from './api-session-store.ts';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';

const secrets = new Secrets([{ id: 'k1', key: new Uint8Array(32).fill(1) }]);
let store: Store;
let clock: ManualClock;
let model: OverlayModel;
let sessions: ApiSessionStore;

before(async () => {
  store = await openEmbedded();
  clock = new ManualClock();
  model = new OverlayModel();
  await attachModel(store, model);
  sessions = await openApiSessions({
    verifyAccess: () => undefined,
    store,
    secrets,
    model,
    clock,
    log: silentLog,
  });
});
after(async () => {
  await sessions.close();
  await store.close();
});

async function identity(id: string, ...fingerprints: string[]): Promise<void> {
  await store.transaction(async (trx, touch) => {
    await trx.deleteFrom('identity').where('id', '=', id).execute();
    const row = {
      id,
      kind: 'gateway',
      frontdoor_id: null,
      name: id,
      agent_version: null,
      created_at: 1,
    } as const;
    await trx.insertInto('identity').values(row).execute();
    await certificates(id, fingerprints);
    touch('identity', id);

    async function certificates(identity_id: string, some: readonly string[]): Promise<void> {
      for (const fingerprint of some) {
        const values = { fingerprint, identity_id, spki_sha256: 'x', not_after: 9e15, created_at: 1 };
        await trx.insertInto('certificate').values(values).execute();
      }
    }
  });
}

async function reopened(): Promise<ApiSessionStore> {
  return openApiSessions({ verifyAccess: () => undefined, store, secrets, model, clock, log: silentLog });
}

test('a session outlives a restart, with its token, and stands nowhere in clear', async () => {
  await identity('one', 'aa');
  const session = await sessions.create('one', 'aa', ['host.v1']);
  const again = await reopened();
  const found = again.byToken(session.token);
  assert.deepEqual(
    [found?.id, found?.identityId, found?.fingerprints, found?.configTypes],
    [session.id, 'one', ['aa'], ['host.v1']],
  );
  const rows = await store.db.selectFrom('api_session').selectAll().execute();
  assert.ok(!JSON.stringify(rows).includes(session.token));
  await again.close();
});

test('a clock that is set ends no session and lets none live longer', async () => {
  const HOURS_MS = 2 * 3_600_000;
  await identity('set', 'ce');
  for (const jumpMs of [HOURS_MS, -HOURS_MS]) {
    const session = await sessions.create('set', 'ce', []);
    clock.advance(60_000);
    clock.jump(jumpMs);
    await sessions.tick();
    assert.equal(sessions.byToken(session.token)?.id, session.id);
    const again = await reopened();
    assert.equal(again.byToken(session.token)?.id, session.id, 'a restart keeps it, too');
    await again.close();
    clock.advance(SESSION_IDLE_MS - 60_001);
    assert.equal(sessions.byToken(session.token)?.id, session.id);
    clock.advance(1);
    assert.equal(sessions.byToken(session.token), undefined);
    await sessions.tick();
    const rows = store.db.selectFrom('api_session').selectAll().where('id', '=', session.id);
    assert.deepEqual(await rows.execute(), []);
    clock.jump(-jumpMs);
  }
});

test('a session idles out after 30 minutes, unless it is touched', async () => {
  await identity('two', 'bb');
  const idle = await sessions.create('two', 'bb', []);
  const carried = await sessions.create('two', 'bb', []);
  const removed: string[] = [];
  sessions.onRemoved(({ id }) => removed.push(id));
  clock.advance(SESSION_IDLE_MS - 60_000);
  sessions.touch([carried.token, 'unknown']);
  clock.advance(60_000);
  assert.equal(sessions.byToken(idle.token), undefined);
  assert.equal(sessions.byToken(carried.token)?.id, carried.id);
  await sessions.tick();
  assert.ok(removed.includes(idle.id) && !removed.includes(carried.id));
  const again = await reopened();
  assert.equal(again.byId(idle.id), undefined);
  assert.equal(again.byId(carried.id)?.id, carried.id);
  await again.close();
});

test('a session that was carried while the control plane was away has time to be touched again', async () => {
  await identity('away', 'cc');
  const session = await sessions.create('away', 'cc', []);
  clock.advance(SESSION_IDLE_MS - 1_000);
  const again = await reopened();
  clock.advance(60_000);
  assert.equal(again.byToken(session.token)?.id, session.id);
  again.touch([session.token]);
  clock.advance(SESSION_IDLE_MS - 1_000);
  assert.equal(again.byToken(session.token)?.id, session.id);
  await again.close();
});

test('a renewed certificate joins the session, a removed identity ends it', async () => {
  await identity('three', 'dd');
  const session = await sessions.create('three', 'dd', []);
  const updates: (readonly string[])[] = [];
  sessions.onUpdated(({ fingerprints }) => updates.push(fingerprints));
  await store.transaction(async (trx, touch) => {
    const values = {
      fingerprint: 'ee',
      identity_id: 'three',
      spki_sha256: 'x',
      not_after: 9e15,
      created_at: 2,
    };
    await trx.insertInto('certificate').values(values).execute();
    touch('identity', 'three');
  });
  assert.deepEqual(sessions.byToken(session.token)?.fingerprints, ['dd', 'ee']);
  assert.deepEqual(updates, [['dd', 'ee']]);
  const removed: string[] = [];
  sessions.onRemoved(({ id }) => removed.push(id));
  await store.transaction(async (trx, touch) => {
    await trx.deleteFrom('identity').where('id', '=', 'three').execute();
    touch('identity', 'three');
  });
  assert.deepEqual(removed, [session.id]);
  assert.equal(sessions.byToken(session.token), undefined);
});

test('one identity holds at most 64 sessions: the one that ends first goes', async () => {
  await identity('many', 'ff');
  const first = await sessions.create('many', 'ff', []);
  clock.advance(1);
  for (let n = 0; n < 64; n += 1) await sessions.create('many', 'ff', []);
  assert.equal(sessions.byToken(first.token), undefined);
  assert.equal([...sessions.all()].filter(({ identityId }) => identityId === 'many').length, 64);
});
