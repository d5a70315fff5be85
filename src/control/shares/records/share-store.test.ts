import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import { ManualClock } from '#base';
import { ephemeralSecrets } from '../../secrets/key-file.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { seedFirstRows } from './first-rows.ts';
import {
  changeShare,
  createOrTakeBackShare,
  createShare,
  releaseShare,
  type NewShare,
  type ShareChange,
} from './share-store.ts';
import { findShare, findShareForUpdate, listSharesOf } from './share-record.ts';
import type { Store } from '../../store/mod.ts';

describeEachStore("an agent's shares", (open) => {
  let store: Store;
  let frontdoorId: string;
  let environmentId: string;
  let neighbourId: string;
  before(async () => {
    store = await open();
    const clock = new ManualClock();
    const first = await seedFirstRows(store, ephemeralSecrets(), { zone: 'Share.LOCALHOST', clock });
    frontdoorId = first!.frontdoorId;
    environmentId = await environment();
    neighbourId = await environment();
  });
  after(() => store.close());

  async function environment(): Promise<string> {
    const id = randomUUID();
    const row = {
      id,
      kind: 'environment' as const,
      frontdoor_id: frontdoorId,
      name: id,
      agent_version: null,
      created_at: 1,
    };
    await store.db.insertInto('identity').values(row).execute();
    return id;
  }

  const wanted = (fields: Partial<NewShare> = {}): NewShare => ({
    frontdoorId,
    environmentId,
    name: 'app',
    shareMode: 'public',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:3000',
    targetByAgent: true,
    nowMs: 5,
    ...fields,
  });
  const share = (fields: Partial<NewShare> = {}) =>
    store.transaction(async (trx, touch) => (await createOrTakeBackShare(trx, touch, wanted(fields))).share);
  const change = (token: string, changes: ShareChange) =>
    store.transaction(async (trx, touch) => {
      const locked = (await findShareForUpdate(trx, frontdoorId, token))!;
      return changeShare(trx, touch, locked, changes, 10);
    });

  it('are taken back by the environment that holds the name: the same record, a new epoch, what is asked now', async () => {
    const made = await share();
    assert.equal(made.epoch, 1);
    assert.equal(made.targetByAgent, true);
    assert.deepEqual(
      made.frontends.map(({ host }) => host),
      ['app.share.localhost'],
    );
    const back = await share({ target: 'http://127.0.0.1:4000', nowMs: 9 });
    assert.equal(back.id, made.id);
    assert.equal(back.epoch, 2);
    assert.equal(back.target, 'http://127.0.0.1:4000');
    assert.equal(back.createdAtMs, 5);
    assert.equal(back.updatedAtMs, 9);
    const hidden = await share({ shareMode: 'private', grants: [neighbourId] });
    assert.deepEqual([hidden.id, hidden.frontends, hidden.grants], [made.id, [], [neighbourId]]);
    assert.deepEqual((await share({ shareMode: 'private' })).grants, [neighbourId]);
  });

  it('are a conflict for every other environment, and for a caller that may not take names back', async () => {
    await assert.rejects(share({ environmentId: neighbourId }), {
      kind: 'conflict',
      message: 'Share app already exists',
    });
    const again = store.transaction((trx, touch) => createShare(trx, touch, wanted()));
    await assert.rejects(again, { kind: 'conflict' });
  });

  it('without a name are new each time', async () => {
    const a = await share({ name: undefined });
    const b = await share({ name: undefined });
    assert.notEqual(a.token, b.token);
    assert.deepEqual([a.reserved, a.name], [false, null]);
  });

  it('lose the mark of their own target when another is set, and keep it when it is repeated', async () => {
    const made = await share({ name: 'marked' });
    const set = (target: string) => change(made.token, { target });
    assert.equal((await set('http://127.0.0.1:3000/')).targetByAgent, true);
    assert.equal((await set('http://127.0.0.1:3001')).targetByAgent, false);
    assert.equal((await set('http://127.0.0.1:3000')).targetByAgent, false);
    assert.equal((await share({ name: 'marked' })).targetByAgent, true);
  });

  it('are listed and released by their own environment alone', async () => {
    const made = await share({ name: 'mine', environmentId: neighbourId });
    const tokens = (await listSharesOf(store.db, neighbourId)).map(({ token }) => token);
    assert.deepEqual(tokens, ['mine']);
    const release = (by: string) =>
      store.transaction((trx, touch) => releaseShare(trx, touch, { environmentId: by, token: 'mine' }, 9));
    assert.equal(await release(environmentId), false);
    assert.equal(await release(neighbourId), true);
    assert.equal(await release(neighbourId), false);
    assert.equal(await findShare(store.db, frontdoorId, made.token), undefined);
  });

  it('are one when they are asked for many times at once, and lose no change', async () => {
    const asked = await Promise.all(Array.from({ length: 20 }, () => share({ name: 'crowd' })));
    assert.equal(new Set(asked.map(({ id }) => id)).size, 1);
    assert.deepEqual(
      asked.map(({ epoch }) => epoch).toSorted((a, b) => a - b),
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    await Promise.all(Array.from({ length: 30 }, () => change('crowd', { reserved: true })));
    assert.equal((await findShare(store.db, frontdoorId, 'crowd'))?.epoch, 50);
  });

  it('have after many changes at once what one of them asked for, and nothing of the others', async () => {
    const environments = [environmentId, neighbourId, await environment(), await environment()];
    await share({ name: 'contended', shareMode: 'private', grants: [] });
    const wantedGrants = Array.from({ length: 24 }, (_, i) => environments[i % environments.length]!);
    const changed = await Promise.all(wantedGrants.map((id) => change('contended', { grants: [id] })));
    const last = changed.toSorted((a, b) => a.epoch - b.epoch).at(-1)!;
    const found = (await findShare(store.db, frontdoorId, 'contended'))!;
    assert.equal(found.grants.length, 1);
    assert.deepEqual(found, last);
  });

  it('leave nothing behind when they are refused', async () => {
    const count = async () => (await store.db.selectFrom('share').select('id').execute()).length;
    const before = await count();
    await assert.rejects(share({ name: 'ghost', shareMode: 'private', grants: ['nobody'] }), {
      kind: 'notFound',
    });
    await assert.rejects(share({ name: 'ghost', authProviderIds: ['nobody'] }), { kind: 'notFound' });
    await assert.rejects(share({ name: 'ghost', target: 'ftp://x' }), { kind: 'invalid' });
    await assert.rejects(share({ name: 'UPPER' }), { kind: 'invalid' });
    assert.equal(await count(), before);
  });
});
