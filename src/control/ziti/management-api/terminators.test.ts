// Terminators of the edge management API: made, read, changed, found and deleted, with what they refuse, on both databases.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../test/support/deadline.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

describeEachStore('terminators', (open) => {
  let api: ManagementFixture;
  let service: string;
  let router: string;

  before(async () => {
    api = await openManagementFixture(undefined, open);
    service = await api.make('services', { name: 'web' });
    router = await api.make('edge-routers', { name: 'east' });
  });
  after(() => api?.close());

  const wanted = () => ({ service, router, binding: 'transport', address: 'tcp:127.0.0.1:80' });
  /** Resolves to the overlay's terminator when the overlay has caught up. */
  const modelled = (id: string, isThere = true) =>
    until(
      'the model',
      () => api.model.fabricTerminator(id),
      (one) => (one !== undefined) === isThere,
    );
  const read = async (id: string) =>
    (await api.call('GET', `terminators/${id}`)).data as unknown as Record<string, unknown>;

  /** A terminator as a program that hosts the service has it. */
  async function hosted(id: string): Promise<void> {
    const host = await api.make('identities', { name: `host of ${id}` });
    const row = {
      id,
      kind: 'edge' as const,
      entity_id: service,
      router_id: router,
      identity_id: host,
      binding: 'edge',
      address: id,
    };
    await api.store.transaction(async (trx, touch) => {
      await trx
        .insertInto('terminator')
        .values({ ...row, instance_id: '', cost: 0, precedence: 0, peer_data: '{}', created_at: 1 })
        .execute();
      touch('terminator', id);
    });
  }

  test('are made, read, found, changed and deleted, each in the audit trail', async () => {
    const more = { identity: 'one', cost: 7, precedence: 'required', tags: { owner: 'ops' } };
    const id = await api.make('terminators', { ...wanted(), ...more });
    const { _links, createdAt, updatedAt, ...shown } = await read(id);
    assert.ok(createdAt === updatedAt && _links !== undefined);
    assert.deepEqual(shown, {
      id,
      ...more,
      binding: 'transport',
      address: 'tcp:127.0.0.1:80',
      hostId: '',
      dynamicCost: 0,
      serviceId: service,
      routerId: router,
      service: {
        _links: { self: { href: `./services/${service}` } },
        entity: 'services',
        id: service,
        name: 'web',
      },
      router: {
        _links: { self: { href: `./transit-routers/${router}` } },
        entity: 'transit-routers',
        id: router,
        name: 'east',
      },
    });
    const { peerData: _, ...inModel } = (await modelled(id)).value!;
    assert.deepEqual(inModel, {
      id,
      serviceId: service,
      routerId: router,
      binding: 'transport',
      address: 'tcp:127.0.0.1:80',
      instanceId: 'one',
      cost: 7,
      precedence: 1,
    });
    for (const filter of [`service="${service}"`, 'tags.owner="ops"', 'instanceId="one"']) {
      const { data } = await api.call('GET', `terminators?filter=${encodeURIComponent(filter)}`);
      assert.deepEqual(
        data.map((one) => one.id),
        [id],
        filter,
      );
    }
    api.dynamicCosts.set(id, 24);
    const [ofService] = (await api.call('GET', `services/${service}/terminators`)).data;
    const { id: shownId, dynamicCost } = ofService as unknown as Record<string, unknown>;
    assert.deepEqual([shownId, dynamicCost, (await read(id))['dynamicCost']], [id, 24, 24]);
    const change = { address: 'tcp:127.0.0.1:81', cost: 9, precedence: 'failed' };
    assert.equal((await api.call('PATCH', `terminators/${id}`, change)).status, 200);
    await until(
      'the change',
      () => api.model.fabricTerminator(id),
      (one) => one?.cost === 9 && one.precedence === 2 && one.address === 'tcp:127.0.0.1:81',
    );
    const whole = { ...wanted(), identity: 'one', binding: '' };
    assert.equal((await api.call('PUT', `terminators/${id}`, whole)).status, 200);
    const { cost, precedence, tags, binding } = await read(id);
    assert.deepEqual([cost, precedence, tags, binding], [0, 'default', {}, 'transport']);
    assert.equal((await api.call('DELETE', `terminators/${id}`)).status, 200);
    assert.equal((await api.call('GET', `terminators/${id}`)).status, 404);
    await modelled(id, false);
    const events = await api.store.db
      .selectFrom('audit_event')
      .select(['action', 'actor_id', 'target_kind'])
      .where('target_id', '=', id)
      .orderBy('sequence')
      .execute();
    const verbs = ['create', 'update', 'update', 'delete'];
    assert.deepEqual(
      events,
      verbs.map((verb) => ({
        action: `${verb}EdgeTerminator`,
        actor_id: api.adminId,
        target_kind: 'edge-terminator',
      })),
    );
  });

  test('of unknown services and routers, and with values that no router could use, are refused with the field', async () => {
    for (const [field, value] of [
      ['service', ''],
      ['router', ''],
      ['address', ''],
      ['address', '127.0.0.1:80'],
      ['binding', 'edge'],
      ['cost', 65_536],
      ['cost', -1],
      ['precedence', 'first'],
      ['identitySecret', 'c2VjcmV0'],
    ] as [string, unknown][]) {
      const { status, error } = await api.call('POST', 'terminators', { ...wanted(), [field]: value });
      assert.deepEqual([status, error.code, error.cause?.field], [400, 'COULD_NOT_VALIDATE', field]);
    }
    for (const field of ['service', 'router']) {
      const { status, error } = await api.call('POST', 'terminators', { ...wanted(), [field]: 'nothing' });
      assert.deepEqual([status, error.code], [404, 'NOT_FOUND'], field);
    }
    const id = await api.make('terminators', wanted());
    const other = await api.make('services', { name: 'other' });
    for (const [field, value] of [
      ['service', other],
      ['identity', 'two'],
    ] as const) {
      const { error } = await api.call('PATCH', `terminators/${id}`, { [field]: value });
      assert.deepEqual([error.code, error.cause?.field], ['COULD_NOT_VALIDATE', field]);
    }
    const moved = await api.call('PATCH', `terminators/${id}`, { router: 'nothing' });
    assert.equal(moved.error.code, 'NOT_FOUND');
    for (const [method, body] of [['PUT', wanted()], ['PATCH', {}], ['DELETE']] as const)
      assert.equal((await api.call(method, 'terminators/nothing', body)).status, 404);
  });

  test('of a program that hosts change their cost and precedence only, and can be deleted', async () => {
    await hosted('t1');
    const change = { cost: 3, precedence: 'failed' };
    assert.equal((await api.call('PATCH', 'terminators/t1', change)).status, 200);
    const { cost, precedence, binding } = await read('t1');
    assert.deepEqual([cost, precedence, binding], [3, 'failed', 'edge']);
    for (const [field, value] of [
      ['address', 'tcp:127.0.0.1:1'],
      ['binding', 'transport'],
      ['tags', { a: 1 }],
    ] as const) {
      const { error } = await api.call('PATCH', 'terminators/t1', { [field]: value });
      assert.deepEqual([error.code, error.cause?.field], ['COULD_NOT_VALIDATE', field]);
    }
    assert.equal((await api.call('DELETE', 'terminators/t1')).status, 200);
    assert.equal((await api.call('GET', 'terminators/t1')).status, 404);
  });

  test('that a host named like an entity are deleted without it', async () => {
    const config = await api.make('config-types', { name: 'kept' });
    await hosted(config);
    assert.equal((await api.call('DELETE', `terminators/${config}`)).status, 200);
    assert.equal((await api.call('GET', `config-types/${config}`)).status, 200);
  });

  test('go with their service, and with their router', async () => {
    const [doomed, west] = [
      await api.make('services', { name: 'doomed' }),
      await api.make('edge-routers', { name: 'west' }),
    ];
    const [first, second, third] = [
      await api.make('terminators', { ...wanted(), service: doomed }),
      await api.make('terminators', { ...wanted(), router: west }),
      await api.make('terminators', wanted()),
    ];
    await modelled(third);
    await api.call('DELETE', `services/${doomed}`);
    await api.call('DELETE', `edge-routers/${west}`);
    for (const id of [first, second]) {
      await modelled(id, false);
      assert.equal((await api.call('GET', `terminators/${id}`)).status, 404);
    }
    assert.ok(api.model.fabricTerminator(third));
  });

  test('are bounded for each service', async () => {
    const full = await api.make('services', { name: 'full' });
    const calls = Array.from({ length: 130 }, () =>
      api.call('POST', 'terminators', { ...wanted(), service: full }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    assert.deepEqual(
      statuses.filter((status) => status !== 201),
      [429, 429],
    );
  });
});
