import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { MAX_TERMINATORS_PER_SERVICE } from '../../overlay/records/terminator-store.ts';
import { openApiWorld, type ApiWorld, type CallAnswer } from './api-fixture.ts';
import { shareTerminatorView } from './fabric-view-fixture.ts';

const SERVICES = '/fabric/services';
const TERMINATORS = '/fabric/terminators';

describeEachStore('services of the fabric and their terminators', (open) => {
  let world: ApiWorld;
  let routerId: string;
  before(async () => {
    world = await openApiWorld({ open });
    routerId = await addRouter();
  });
  after(() => world.close());

  const made = async (path: string, body: unknown): Promise<Record<string, unknown> & { id: string }> => {
    const answer = await world.call('POST', path, { body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body as Record<string, unknown> & { id: string };
  };
  const addRouter = async () => (await made('/fabric/routers', { name: 'r' })).id;
  const addService = async () => (await made(SERVICES, { name: randomUUID() })).id;
  const addTerminator = async (serviceId: string, more: object = {}) =>
    made(TERMINATORS, { serviceId, routerId, address: 'tcp:127.0.0.1:5432', ...more });
  const refused = (answer: CallAnswer, status: number, message: RegExp | string) => {
    assert.equal(answer.status, status, answer.text);
    const said = (answer.body as { message: string }).message;
    if (typeof message === 'string') assert.equal(said, message);
    else assert.match(said, message);
  };
  const modelled = (serviceId: string) =>
    [...world.model.fabricTerminators()].filter((each) => each.serviceId === serviceId);

  it('are made, shown, changed and deleted, and the overlay follows at once', async () => {
    const made1 = await made(SERVICES, { name: ' database ' });
    const { id } = made1;
    const createdAt = new Date(world.clock.nowMs()).toISOString();
    assert.deepEqual(made1, { id, name: 'database', terminatorStrategy: 'smartrouting', createdAt });
    assert.deepEqual(world.model.fabricService(id), {
      id,
      name: 'database',
      terminatorStrategy: 'smartrouting',
    });
    assert.deepEqual((await world.call('GET', `${SERVICES}/${id}`)).body, made1);
    const changed = await world.call('PATCH', `${SERVICES}/${id}`, {
      body: { ...made1, name: 'db', terminatorStrategy: 'ha' },
    });
    assert.deepEqual(changed.body, { ...made1, name: 'db', terminatorStrategy: 'ha' });
    assert.equal(world.model.fabricService(id)?.terminatorStrategy, 'ha');
    const { content } = (await world.call('GET', SERVICES)).body as { content: unknown[] };
    assert.deepEqual(content, [changed.body]);
    assert.equal((await world.call('DELETE', `${SERVICES}/${id}`)).status, 204);
    assert.equal(world.model.fabricService(id), undefined);
    for (const method of ['GET', 'DELETE'])
      refused(await world.call(method, `${SERVICES}/${id}`), 404, `Service ${id} not found`);
  });

  it('refuse a name that is taken, one with an at sign and an unknown strategy', async () => {
    const { id } = await made(SERVICES, { name: 'one' });
    await made(SERVICES, { name: 'two' });
    const post = (body: unknown) => world.call('POST', SERVICES, { body });
    refused(await post({ name: 'two' }), 409, 'The service name two is taken');
    refused(
      await world.call('PATCH', `${SERVICES}/${id}`, { body: { name: 'two' } }),
      409,
      'The service name two is taken',
    );
    assert.equal(world.model.fabricService(id)?.name, 'one');
    refused(
      await post({ name: 'a@b' }),
      400,
      'Value for name must be of service name (1 to 255 characters without @, no control characters)',
    );
    refused(
      await post({ name: 'x', terminatorStrategy: 'best' }),
      400,
      'Value for terminatorStrategy must be of smartrouting or weighted or random or ha',
    );
  });

  it('end at an address that a router dials', async () => {
    const serviceId = await addService();
    const terminator = await addTerminator(serviceId, {
      address: 'tls:[::1]:443',
      cost: 7,
      precedence: 'required',
      instanceId: 'i1',
    });
    const { id } = terminator;
    const expected = {
      id,
      kind: 'fabric',
      serviceId,
      serviceName: world.model.fabricService(serviceId)!.name,
      routerId,
      routerName: 'r',
      binding: 'transport',
      address: 'tls:[::1]:443',
      instanceId: 'i1',
      cost: 7,
      dynamicCost: 3,
      precedence: 'required',
      healthy: true,
    };
    assert.deepEqual(terminator, expected);
    assert.deepEqual(world.model.fabricTerminator(id), {
      id,
      serviceId,
      routerId,
      binding: 'transport',
      address: 'tls:[::1]:443',
      instanceId: 'i1',
      cost: 7,
      precedence: 1,
      peerData: new Map(),
    });
    const path = `${TERMINATORS}/${id}`;
    assert.deepEqual((await world.call('GET', path)).body, expected);
    const body = { ...expected, cost: 0, precedence: 'failed', address: 'tcp:db.internal:1', instanceId: '' };
    const changed = await world.call('PATCH', path, { body });
    assert.deepEqual([changed.status, changed.body], [200, body]);
    assert.equal(world.model.fabricTerminator(id)?.precedence, 2);
    assert.equal((await world.call('PATCH', path, { body: { cost: 9 } })).status, 200);
    assert.equal(world.model.fabricTerminator(id)?.address, 'tcp:db.internal:1');
    assert.equal((await world.call('DELETE', path)).status, 204);
    assert.equal(world.model.fabricTerminator(id), undefined);
    refused(await world.call('GET', path), 404, `Terminator ${id} not found`);
    refused(await world.call('PATCH', path, { body: { cost: 1 } }), 404, `Terminator ${id} not found`);
  });

  it('refuse addresses, routers and services that are none, and to be moved', async () => {
    const serviceId = await addService();
    const post = (more: object) =>
      world.call('POST', TERMINATORS, {
        body: { serviceId, routerId, address: 'tcp:127.0.0.1:1', ...more },
      });
    for (const address of ['127.0.0.1:1', 'dtls:127.0.0.1:1', 'tcp::1', 'tcp:127.0.0.1:0', 'tcp:a b:1'])
      refused(
        await post({ address }),
        400,
        'Value for address must be of tcp:host:port, tls:host:port or udp:host:port',
      );
    refused(await post({ cost: 65_536 }), 400, 'Value for cost must be of integer from 0 to 65535');
    refused(await post({ binding: 'edge' }), 400, 'Value for binding must be of transport');
    refused(await post({ serviceId: 'none' }), 404, 'Service none not found');
    refused(await post({ routerId: 'none' }), 404, 'Router none not found');
    const { id: gatewayId } = await made('/fabric/gateways', { name: 'g' });
    refused(await post({ routerId: gatewayId }), 404, `Router ${gatewayId} not found`);
    const { id } = await addTerminator(serviceId);
    const other = await addRouter();
    refused(
      await world.call('PATCH', `${TERMINATORS}/${id}`, { body: { routerId: other } }),
      400,
      `Value for routerId must be of ${routerId}`,
    );
    assert.equal(modelled(serviceId).length, 1);
  });

  it('go with their service, and with their router', async () => {
    const [kept, doomed] = [await addService(), await addService()];
    const ownRouter = await addRouter();
    await addTerminator(kept);
    await addTerminator(kept, { routerId: ownRouter });
    await addTerminator(doomed);
    await world.call('DELETE', `${SERVICES}/${doomed}`);
    assert.equal(modelled(doomed).length, 0);
    assert.equal(modelled(kept).length, 2);
    await world.call('DELETE', `/fabric/routers/${ownRouter}`);
    assert.deepEqual(
      modelled(kept).map((each) => each.routerId),
      [routerId],
    );
    const rows = await world.store.db.selectFrom('terminator').select('router_id').execute();
    assert.ok(!rows.some((row) => row.router_id === ownRouter));
  });

  it('are no more than a service can use', async () => {
    const serviceId = await addService();
    await world.store.db
      .insertInto('terminator')
      .values(
        Array.from({ length: MAX_TERMINATORS_PER_SERVICE - 1 }, (_, n) => ({
          id: `${serviceId}-${n}`,
          kind: 'fabric' as const,
          fabric_service_id: serviceId,
          router_id: routerId,
          binding: 'transport',
          address: 'tcp:a:1',
          instance_id: '',
          cost: 0,
          precedence: 0,
          peer_data: '{}',
          created_at: 1,
        })),
      )
      .execute();
    const body = { serviceId, routerId, address: 'tcp:127.0.0.1:1' };
    const answers = await Promise.all([0, 1, 2].map(() => world.call('POST', TERMINATORS, { body })));
    assert.deepEqual(answers.map(({ status }) => String(status)).toSorted(), ['201', '409', '409']);
    const refusal = answers.find(({ status }) => status === 409)!;
    refused(refusal, 409, `A service has at most ${MAX_TERMINATORS_PER_SERVICE} terminators`);
  });

  it('stand in one list with those of shares, which nobody changes here', async () => {
    world.fabric.shareTerminators.push(shareTerminatorView('t-of-share', { serviceId: 'a-share' }));
    const serviceId = await addService();
    const { id } = await addTerminator(serviceId, { cost: 1 });
    const list = async (query: string) => {
      const answer = await world.call('GET', `${TERMINATORS}?size=1000&${query}`);
      return (answer.body as { content: { id: string; kind: string }[] }).content;
    };
    const all = await list('');
    assert.equal(all.find((each) => each.id === 't-of-share')?.kind, 'share');
    assert.equal(all.find((each) => each.id === id)?.kind, 'fabric');
    assert.deepEqual(
      (await list(`serviceId=${serviceId}`)).map((each) => each.id),
      [id],
    );
    assert.deepEqual(
      (await list('routerId=r1')).map((each) => each.id),
      ['t-of-share'],
    );
    for (const method of ['PATCH', 'DELETE'])
      refused(
        await world.call(
          method,
          `${TERMINATORS}/t-of-share`,
          method === 'PATCH' ? { body: { cost: 1 } } : {},
        ),
        409,
        "Terminator t-of-share is a share's: its host makes and removes it",
      );
    world.fabric.shareTerminators.pop();
  });
});
