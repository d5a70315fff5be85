import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { ManualClock } from '#base';
import { ephemeralSecrets } from '../secrets/key-file.ts';
import { seedFirstStart } from '../store/first-start.ts';
import { openStore } from '../store/open-store.ts';
import { createShare } from '../store/share-store.ts';
import type { Store } from '../store/store.ts';
import { attachModel } from './model-loader.ts';
import { OverlayModel } from './overlay-model.ts';

describe('the overlay model', () => {
  let store: Store;
  let frontdoorId: string;
  before(async () => {
    store = await openStore({ path: 'memory' });
    const first = await seedFirstStart(store, ephemeralSecrets(), {
      zone: 'share.localhost',
      clock: new ManualClock(),
    });
    frontdoorId = first!.frontdoorId;
  });
  after(() => store.close());

  const addEnvironment = async (fingerprints: readonly string[]): Promise<string> => {
    const id = randomUUID();
    await store.transaction(async (trx, touch) => {
      await trx
        .insertInto('identity')
        .values({
          id,
          kind: 'environment',
          frontdoor_id: frontdoorId,
          name: 'e',
          agent_version: null,
          created_at: 1,
        })
        .execute();
      for (const fingerprint of fingerprints) {
        await trx
          .insertInto('certificate')
          .values({ fingerprint, identity_id: id, spki_sha256: 'x', not_after: 1, created_at: 1 })
          .execute();
      }
      touch('identity', id);
    });
    return id;
  };
  const addShare = (environmentId: string, name: string) =>
    store.transaction((trx, touch) =>
      createShare(trx, touch, {
        frontdoorId,
        environmentId,
        name,
        shareMode: 'public',
        target: 'http://h:1',
        targetByAgent: true,
        nowMs: 7,
      }),
    );

  it('holds at start what the store holds, and each change as soon as it is acknowledged', async () => {
    const early = await addEnvironment(['aa', 'bb']);
    const { id: earlyShare } = await addShare(early, 'early');
    const model = new OverlayModel();
    const attached = await attachModel(store, model);
    assert.equal(model.identityByFingerprint('bb')?.id, early);
    assert.deepEqual(model.service(earlyShare), {
      id: earlyShare,
      name: 'early',
      frontdoorId,
      environmentId: early,
      shareMode: 'public',
      backendMode: 'proxy',
      target: 'http://h:1',
      targetByAgent: true,
      epoch: 1,
      grants: [],
      hosts: ['early.share.localhost'],
      authProviderIds: [],
      updatedAtMs: 7,
    });
    const late = await addEnvironment(['cc']);
    const { id: lateShare } = await addShare(late, 'late');
    assert.equal(model.identityByFingerprint('cc')?.id, late);
    assert.equal(model.service(lateShare)?.name, 'late');
    await store.transaction(async (trx, touch) => {
      await trx.deleteFrom('identity').where('id', '=', late).execute();
      touch('identity', late);
      touch('share', lateShare);
    });
    assert.equal(model.identity(late), undefined);
    assert.equal(model.identityByFingerprint('cc'), undefined);
    assert.equal(model.service(lateShare), undefined);
    attached.close();
  });

  it('is whole with more rows than one answer holds', async () => {
    const host = await addEnvironment([]);
    await store.transaction(async (trx) => {
      for (let i = 0; i < 1_201; i += 1) {
        const row = {
          id: `many-${i}`,
          kind: 'gateway' as const,
          frontdoor_id: null,
          name: 'g',
          agent_version: null,
          created_at: 1,
        };
        await trx.insertInto('identity').values(row).execute();
      }
    });
    await addShare(host, 'one-more');
    const model = new OverlayModel();
    const attached = await attachModel(store, model);
    assert.equal([...model.identities()].filter(({ kind }) => kind === 'gateway').length, 1_201);
    attached.close();
  });

  it('follows changes that come while it is being read', async () => {
    const model = new OverlayModel();
    const attaching = attachModel(store, model);
    const ids = await Promise.all(Array.from({ length: 30 }, (_, i) => addEnvironment([`race-${i}`])));
    const attached = await attaching;
    for (const [i, id] of ids.entries()) assert.equal(model.identityByFingerprint(`race-${i}`)?.id, id);
    attached.close();
  });

  it('reads later what it could not read', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const model = new OverlayModel();
    let isAway = false;
    const flaky: Store = {
      ...store,
      get db() {
        if (isAway) throw new Error('away');
        return store.db;
      },
    };
    const attached = await attachModel(flaky, model);
    isAway = true;
    const id = await addEnvironment(['ff']);
    assert.equal(model.identity(id), undefined);
    isAway = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    model.onChange((change) => (change.id === id ? resolve() : undefined));
    context.mock.timers.tick(10_000);
    await promise;
    assert.equal(model.identityByFingerprint('ff')?.id, id);
    attached.close();
  });
});
