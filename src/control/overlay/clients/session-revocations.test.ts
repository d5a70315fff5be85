// Ends of sessions with signed tokens outlive a restart, and reach each control plane over the database.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { until } from '../../../../test/support/deadline.ts';
import { postgresSkip, sharedPostgres } from '../../../../test/support/postgres.ts';
import { attachModel } from '../model/model-loader.ts';
import { OverlayModel } from '../model/overlay-model.ts';
import { Secrets } from '../../secrets/secrets.ts';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';
import { openPostgresStore } from '../../store/engine/postgres-store.ts';
import type { Store } from '../../store/mod.ts';
import { openApiSessions, type ApiSessionStore } from './api-session-store.ts';
import { SessionRevocations } from './session-revocations.ts';

const secrets = new Secrets([{ id: 'k1', key: new Uint8Array(32).fill(1) }]);
const clock = new ManualClock(Date.now());
const DAY_MS = 24 * 3_600_000;

interface ControlPlane {
  readonly sessions: ApiSessionStore;
  readonly revocations: SessionRevocations;
  /** Ids of ended sessions, as routers get them. */
  readonly ended: string[];
}

async function start(t: TestContext, store: Store): Promise<ControlPlane> {
  const model = new OverlayModel();
  const attached = await attachModel(store, model);
  const verifyAccess = (): undefined => undefined;
  const sessions = await openApiSessions({ store, secrets, model, clock, log: silentLog, verifyAccess });
  const revocations = await SessionRevocations.open({ store, clock, log: silentLog });
  const ended: string[] = [];
  revocations.follow(({ id }) => ended.push(id));
  t.after(async () => {
    await revocations.close();
    await sessions.close();
    attached.close();
    await store.close();
  });
  return { sessions, revocations, ended };
}

async function addGateway(store: Store): Promise<string> {
  const id = randomUUID();
  const row = { id, kind: 'gateway', frontdoor_id: null, name: 'g', agent_version: null } as const;
  await store.transaction(async (trx, touch) => {
    await trx
      .insertInto('identity')
      .values({ ...row, created_at: 1 })
      .execute();
    touch('identity', id);
  });
  return id;
}

async function signedSession({ sessions }: ControlPlane, identityId: string): Promise<string> {
  const { id } = await sessions.create(identityId, 'aa', [], 'pending');
  assert.equal((await sessions.activate(id))?.form, 'signed');
  return id;
}

test('the end of a session with signed tokens is known after a restart, until such tokens have expired', async (t) => {
  const store = await openEmbedded();
  const first = await start(t, store);
  const identityId = await addGateway(store);
  const opaque = await first.sessions.create(identityId, 'aa', []);
  const signed = await signedSession(first, identityId);
  await first.sessions.remove(opaque.id);
  await first.sessions.remove(signed);
  assert.deepEqual(first.ended, [signed]);
  const open = () => SessionRevocations.open({ store, clock, log: silentLog });
  const atRestart: string[] = [];
  const second = await open();
  second.follow(({ id }) => atRestart.push(id));
  assert.deepEqual(atRestart, [signed]);
  clock.advance(DAY_MS);
  await second.sweep();
  await second.close();
  assert.deepEqual(await store.db.selectFrom('session_revocation').selectAll().execute(), []);
});

describe('two control planes over one database', { skip: postgresSkip }, () => {
  test('learn the end of a session at the other one, and one that starts later learns it, too', async (t) => {
    const url = await (await sharedPostgres()).createDatabase();
    const open = () => openPostgresStore({ url, poolSize: 3 });
    const storeOfA = await open();
    const a = await start(t, storeOfA);
    const b = await start(t, await open());
    const identityId = await addGateway(storeOfA);
    const id = await signedSession(a, identityId);
    await a.sessions.remove(id);
    await until(
      'the end at the other one',
      () => b.ended,
      (ended) => ended.length > 0,
    );
    assert.deepEqual(b.ended, [id]);
    const late = await start(t, await open());
    assert.deepEqual(late.ended, [id]);
  });
});
