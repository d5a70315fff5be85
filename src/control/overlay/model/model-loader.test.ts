import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { ManualClock } from '#base';
import { within } from '../../../../test/support/deadline.ts';
import { postgresSkip } from '../../../../test/support/postgres.ts';
import { ephemeralSecrets } from '../../secrets/key-file.ts';
import { newPostgresPlace } from '../../store/engine/each-store-suite.ts';
import { createFabricNode, deleteFabricNode } from '../records/fabric-store.ts';
import { createFabricService, deleteFabricService } from '../records/fabric-service-store.ts';
import { createFabricTerminator } from '../records/terminator-store.ts';
import { openStore, type Queries, type Store } from '../../store/mod.ts';
import { seedFirstRows } from '../../shares/records/first-rows.ts';
import { attachModel } from './model-loader.ts';
import { OverlayModel, type ModelChange } from './overlay-model.ts';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';

describe('the overlay model', () => {
  let store: Store;
  let ownerId: string;
  before(async () => {
    store = await openEmbedded();
    const first = await seedFirstRows(store, ephemeralSecrets(), {
      zone: 'share.localhost',
      clock: new ManualClock(),
    });
    ownerId = first!.frontdoorId;
  });
  after(() => store.close());

  const insertIdentity = (
    queries: Queries,
    id: string,
    kind: 'environment' | 'gateway',
    ofFrontdoor: string | null,
  ) =>
    queries
      .insertInto('identity')
      .values({ id, kind, frontdoor_id: ofFrontdoor, name: 'n', agent_version: null, created_at: 1 })
      .execute();
  const addEnvironment = async (fingerprints: readonly string[]): Promise<string> => {
    const id = randomUUID();
    await store.transaction(async (trx, touch) => {
      await insertIdentity(trx, id, 'environment', ownerId);
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
  it('holds at start what the store holds, and each change as soon as it is acknowledged', async () => {
    const early = await addEnvironment(['aa', 'bb']);
    const model = new OverlayModel();
    const attached = await attachModel(store, model);
    assert.equal(model.identityByFingerprint('bb')?.id, early);
    const late = await addEnvironment(['cc']);
    assert.equal(model.identityByFingerprint('cc')?.id, late);
    await store.transaction(async (trx, touch) => {
      await trx.deleteFrom('identity').where('id', '=', late).execute();
      touch('identity', late);
    });
    assert.equal(model.identity(late), undefined);
    assert.equal(model.identityByFingerprint('cc'), undefined);
    attached.close();
  });

  it('reads an identity when asked, which another control plane has written and not yet reported', async () => {
    const model = new OverlayModel();
    const attached = await attachModel(store, model);
    const id = randomUUID();
    await insertIdentity(store.db, id, 'environment', ownerId);
    assert.equal(model.identity(id), undefined);
    await attached.loadIdentity(id);
    assert.equal(model.identity(id)?.id, id);
    attached.close();
  });

  it('is whole with more rows than one answer holds', async () => {
    await store.transaction(async (trx) => {
      for (let i = 0; i < 1_201; i += 1) await insertIdentity(trx, `many-${i}`, 'gateway', null);
    });
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

  it('drops terminators of a deleted service, and of a router, though the store reports only those', async () => {
    const model = new OverlayModel();
    const attached = await attachModel(store, model);
    const { keptService, service, router } = await addTerminators();
    const idsOf = () => [...model.fabricTerminators()].map(({ id }) => id).toSorted();
    assert.deepEqual(idsOf(), ['of-kept', 'of-router', 'of-service']);
    const reported: string[] = [];
    model.onChange(({ type, id }) => reported.push(`${type} ${id}`));
    await store.transaction((trx, touch) => deleteFabricService(trx, touch, service));
    await store.transaction((trx, touch) => deleteFabricNode(trx, touch, 'router', router));
    assert.deepEqual(idsOf(), ['of-kept']);
    assert.deepEqual(reported, [
      'fabric-terminator of-service',
      `fabric-service ${service}`,
      'fabric-terminator of-router',
      `identity ${router}`,
    ]);
    assert.ok(model.fabricService(keptService));
    attached.close();
  });

  /** One at a service and one at a router that can be deleted, one beside them. */
  async function addTerminators() {
    const newService = (name: string) => ({ name, terminatorStrategy: 'random', nowMs: 1 }) as const;
    return store.transaction(async (trx, touch) => {
      const keptService = (await createFabricService(trx, touch, newService('kept'))).id;
      const service = (await createFabricService(trx, touch, newService('gone'))).id;
      const newRouter = { kind: 'router', name: 'r', nowMs: 1 } as const;
      const keptRouter = (await createFabricNode(trx, touch, newRouter)).id;
      const router = (await createFabricNode(trx, touch, newRouter)).id;
      const addressed = { address: 'tcp:h:1', instance_id: '' };
      for (const [id, fabric_service_id, router_id] of [
        ['of-kept', keptService, keptRouter],
        ['of-service', service, keptRouter],
        ['of-router', keptService, router],
      ] as const) {
        const row = { id, kind: 'fabric', fabric_service_id, router_id, binding: 'transport' } as const;
        const rest = { ...addressed, cost: 0, precedence: 0, peer_data: '{}', created_at: 1 };
        await trx
          .insertInto('terminator')
          .values({ ...row, ...rest })
          .execute();
        touch('fabric-terminator', id);
      }
      return { keptService, service, router };
    });
  }

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

describe('the overlay models of two control planes over one database', { skip: postgresSkip }, () => {
  it('hold services of the fabric and their terminators as soon as the store reports either', async () => {
    const place = await newPostgresPlace();
    const [here, there] = [await openStore(place), await openStore(place)];
    const model = new OverlayModel();
    const attached = await attachModel(there, model);
    const changed = (type: ModelChange['type'], removed: boolean) =>
      within(
        `${type} to be reported`,
        new Promise<void>((resolve) => {
          model.onChange((change) => {
            if (change.type === type && 'removed' in change && change.removed === removed) resolve();
          });
        }),
      );
    const made = changed('fabric-terminator', false);
    const service = await here.transaction((trx, touch) =>
      createFabricService(trx, touch, { name: 'db', terminatorStrategy: 'ha', nowMs: 1 }),
    );
    const router = await here.transaction((trx, touch) =>
      createFabricNode(trx, touch, { kind: 'router', name: 'r', nowMs: 1 }),
    );
    const wanted = {
      serviceId: service.id,
      routerId: router.id,
      binding: 'transport',
      address: 'tcp:h:1',
      instanceId: '',
      cost: 3,
      precedence: 0,
      peerData: new Map<number, Uint8Array>(),
    };
    const { id } = await here.transaction((trx, touch) => createFabricTerminator(trx, touch, wanted, 1));
    await made;
    assert.deepEqual(model.fabricTerminator(id), { id, ...wanted });
    assert.equal(model.fabricService(service.id)?.terminatorStrategy, 'ha');
    const gone = changed('fabric-service', true);
    await here.transaction((trx, touch) => deleteFabricService(trx, touch, service.id));
    await gone;
    assert.equal(model.fabricTerminator(id), undefined);
    attached.close();
    await here.close();
    await there.close();
  });
});
