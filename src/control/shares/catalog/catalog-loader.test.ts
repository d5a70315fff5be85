import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { ManualClock } from '#base';
import { DEFAULT_UPSTREAM } from '#domain/upstream';
import { attachModel, OverlayModel, type AttachedModel } from '../../overlay/model/mod.ts';
import { createFabricNode, deleteFabricNode } from '../../overlay/records/fabric-store.ts';
import { deleteEnvironmentIdentity } from '../../overlay/records/identity-store.ts';
import { ephemeralSecrets } from '../../secrets/key-file.ts';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';
import type { Store } from '../../store/mod.ts';
import { seedFirstRows } from '../records/first-rows.ts';
import { createShare, deleteShare } from '../records/share-store.ts';
import { openShareCatalog, type OpenedCatalog } from './catalog-loader.ts';

describe('the catalog of shares', () => {
  let store: Store;
  let frontdoorId: string;
  before(async () => {
    store = await openEmbedded();
    const first = await seedFirstRows(store, ephemeralSecrets(), {
      zone: 'share.localhost',
      clock: new ManualClock(),
    });
    frontdoorId = first!.frontdoorId;
  });
  after(() => store.close());

  const addEnvironment = async (): Promise<string> => {
    const id = randomUUID();
    const row = { id, kind: 'environment', name: 'n', agent_version: null, created_at: 1 } as const;
    await store.transaction(async (trx, touch) => {
      await trx
        .insertInto('identity')
        .values({ ...row, frontdoor_id: frontdoorId })
        .execute();
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
        backendMode: 'proxy',
        target: 'http://h:1',
        targetByAgent: true,
        nowMs: 7,
      }),
    );
  const open = async (
    of = store,
  ): Promise<OpenedCatalog & { model: OverlayModel; attached: AttachedModel }> => {
    const model = new OverlayModel();
    const attached = await attachModel(of, model);
    return { ...(await openShareCatalog(of, model)), model, attached };
  };

  it('holds at start what the store holds, and each change as soon as it is acknowledged, as the overlay does', async () => {
    const early = await addShare(await addEnvironment(), 'early');
    const { catalog, model, close } = await open();
    const hosts = early.frontends.map(({ host }) => host);
    assert.deepEqual(hosts, ['early.share.localhost']);
    const more = { rules: null, upstream: DEFAULT_UPSTREAM, inspection: null };
    assert.deepEqual(catalog.get(early.id), { ...early, ...more });
    const late = await addShare(await addEnvironment(), 'late');
    assert.equal(catalog.get(late.id)?.token, 'late');
    assert.ok(model.hostedService(late.id));
    await store.transaction((trx, touch) => deleteShare(trx, touch, late, 8));
    assert.equal(catalog.get(late.id), undefined);
    assert.equal(model.hostedService(late.id), undefined);
    close();
  });

  it('is whole with more rows than one answer holds', async () => {
    const environmentId = await addEnvironment();
    for (let i = 0; i < 501; i += 1) await addShare(environmentId, `many-${i}`);
    const { catalog, model, close } = await open();
    assert.equal([...catalog.all()].filter((share) => share.environmentId === environmentId).length, 501);
    assert.equal(model.hostedBy(environmentId).size, 501);
    close();
  });

  it('drops the grants of a deleted environment or router, though the store reports only the identity', async () => {
    const { catalog, model, close } = await open();
    const { id } = await addShare(await addEnvironment(), 'granted');
    const environmentId = await addEnvironment();
    const routerId = await store.transaction(async (trx, touch) => {
      const router = await createFabricNode(trx, touch, { kind: 'router', name: 'tunnel', nowMs: 1 });
      const granted = [environmentId, router.id].map((each) => ({ share_id: id, environment_id: each }));
      await trx.insertInto('share_grant').values(granted).execute();
      touch('share', id);
      return router.id;
    });
    assert.deepEqual(catalog.get(id)?.grants.toSorted(), [environmentId, routerId].toSorted());
    await store.transaction((trx, touch) => deleteFabricNode(trx, touch, 'router', routerId));
    assert.deepEqual(catalog.get(id)?.grants, [environmentId]);
    await store.transaction((trx, touch) =>
      deleteEnvironmentIdentity(trx, touch, frontdoorId, environmentId),
    );
    assert.deepEqual(catalog.get(id)?.grants, []);
    assert.deepEqual(model.grantedTo(environmentId), []);
    close();
  });

  it('reads later what it could not read', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const environmentId = await addEnvironment();
    let isAway = false;
    const flaky: Store = {
      ...store,
      get db() {
        if (isAway) throw new Error('away');
        return store.db;
      },
    };
    const { catalog, close } = await open(flaky);
    isAway = true;
    const { id } = await addShare(environmentId, 'missed');
    assert.equal(catalog.get(id), undefined);
    isAway = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    catalog.onChange((shareId) => (shareId === id ? resolve() : undefined));
    context.mock.timers.tick(10_000);
    await promise;
    assert.equal(catalog.get(id)?.token, 'missed');
    close();
  });

  it('takes a grant away when the overlay learns late that its identity is gone', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { id } = await addShare(await addEnvironment(), 'late-grant');
    const guest = await addEnvironment();
    await store.db.insertInto('share_grant').values({ share_id: id, environment_id: guest }).execute();
    let isAway = false;
    const flaky: Store = {
      ...store,
      get db() {
        if (isAway) throw new Error('away');
        return store.db;
      },
    };
    const model = new OverlayModel();
    await attachModel(flaky, model);
    const { catalog, close } = await openShareCatalog(store, model);
    assert.deepEqual(catalog.get(id)?.grants, [guest]);
    isAway = true;
    await store.transaction((trx, touch) => deleteEnvironmentIdentity(trx, touch, frontdoorId, guest));
    assert.deepEqual(catalog.get(id)?.grants, [guest]);
    isAway = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    catalog.onChange((shareId) => (shareId === id ? resolve() : undefined));
    context.mock.timers.tick(10_000);
    await promise;
    assert.deepEqual(catalog.get(id)?.grants, []);
    close();
  });
});
