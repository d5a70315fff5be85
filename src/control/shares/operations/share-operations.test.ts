import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import { NO_PATH, targetForms } from '#domain';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { insertEdgeEntity } from '../../overlay/records/mod.ts';
import { BASE_URL, openApiWorld, type ApiWorld } from './api-fixture.ts';

type Share = Record<string, unknown> & { token: string };

describeEachStore('shares', (open) => {
  let world: ApiWorld;
  let root: string;
  let environmentId: string;
  let frontendId: string;
  before(async () => {
    world = await openApiWorld({ open });
    root = `/frontdoor/${world.first.frontdoorId}/shares`;
    environmentId = await world.addEnvironment('edge');
    world.connected.add(environmentId);
    ({ id: frontendId } = await world.store.db.selectFrom('frontend').select('id').executeTakeFirstOrThrow());
  });
  after(() => world.close());

  const wanted = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
    environmentId,
    shareMode: 'public',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:3000',
    ...fields,
  });
  const serviceOf = (token: string) =>
    [...world.catalog.all()].find((s) => s.token === token && s.frontdoorId === world.first.frontdoorId);

  it('with a name are reserved and appear on the default frontend', async () => {
    const made = await world.call('POST', root, { body: wanted({ name: 'app' }) });
    assert.equal(made.status, 201);
    assert.equal(made.headers['location'], `${BASE_URL}${root}/app`);
    const record = {
      token: 'app',
      name: 'app',
      shareMode: 'public',
      backendMode: 'proxy',
      reserved: true,
      environmentId,
      target: 'http://127.0.0.1:3000',
      frontendIds: [frontendId],
      frontendEndpoints: ['http://app.share.localhost:8080'],
      backendEndpoint: 'http://127.0.0.1:3000',
      authProviderIds: [],
      policyId: null,
      ingress: null,
      ingressPort: null,
      grants: [],
      access: { admits: 'everyone', summary: 'Everyone' },
      status: 'PENDING',
      createdAt: new Date(world.clock.nowMs()).toISOString(),
    };
    assert.deepEqual(made.body, record);
    assert.deepEqual(Object.keys(made.body as object), Object.keys(record));
    assert.deepEqual((await world.call('GET', `${root}/app`)).body, record);
    assert.deepEqual(
      serviceOf('app')?.frontends.map(({ host }) => host),
      ['app.share.localhost'],
    );
    assert.equal(serviceOf('app')?.targetByAgent, false);
  });

  it('without a name get a random token and are not reserved', async () => {
    for (const name of [undefined, null]) {
      const { status, body } = await world.call('POST', root, { body: wanted({ name }) });
      assert.equal(status, 201);
      const share = body as Share;
      assert.match(share.token, /^[a-z2-7]{16}$/);
      assert.equal(share['name'], null);
      assert.equal(share['reserved'], false);
    }
  });

  it('that are private are dialed by the environments of their grants', async () => {
    const guest = await world.addEnvironment('guest');
    const { status, body } = await world.call('POST', root, {
      body: wanted({ name: 'inner', shareMode: 'private', grants: [guest, guest] }),
    });
    assert.equal(status, 201);
    const share = body as Share;
    assert.deepEqual(share['grants'], [guest]);
    assert.deepEqual(share['frontendIds'], []);
    assert.deepEqual(share['frontendEndpoints'], []);
    assert.ok(world.model.mayDial(guest, world.model.hostedService(serviceOf('inner')!.id)!));
    assert.ok(!world.model.mayDial(environmentId, world.model.hostedService(serviceOf('inner')!.id)!));
    await world.call('DELETE', `/frontdoor/${world.first.frontdoorId}/environments/${guest}`);
    assert.deepEqual(serviceOf('inner')?.grants, []);
    assert.deepEqual(((await world.call('GET', `${root}/inner`)).body as Share)['grants'], []);
  });

  it('that are private are dialed by tunnel routers that are for their organization', async () => {
    const [createdAtMs, id] = [0, 'site'];
    const place = (roleAttributes: string[]): Promise<void> =>
      world.store.transaction(async (trx, touch) => {
        const data = { isTunnelerEnabled: true, roleAttributes };
        const times = { createdAtMs, updatedAtMs: createdAtMs };
        const entity = { id, kind: 'edge-router' as const, name: id, data, tags: {}, ...times };
        await trx.deleteFrom('edge_entity').where('id', '=', id).execute();
        await insertEdgeEntity(trx, touch, entity);
      });
    const row = { id, kind: 'router' as const, frontdoor_id: null, name: id, agent_version: null };
    await world.store.transaction(async (trx, touch) => {
      await trx
        .insertInto('identity')
        .values({ ...row, created_at: 0 })
        .execute();
      touch('identity', id);
    });
    await place(['tunnels']);
    const body = wanted({ name: 'deep', shareMode: 'private', grants: [id] });
    assert.equal((await world.call('POST', root, { body })).status, 404);
    await place(['tunnels', world.first.frontdoorId]);
    assert.equal((await world.call('POST', root, { body })).status, 201);
    assert.ok(world.model.mayDial(id, world.model.hostedService(serviceOf('deep')!.id)!));
    await world.call('DELETE', `/fabric/routers/${id}`);
    assert.deepEqual(serviceOf('deep')?.grants, []);
  });

  it('show their measured state, and FAILED with a reason while their agent is away', async () => {
    const { id } = serviceOf('app')!;
    const failure = { count: 3, lastError: 'connection refused', nextRetry: '2026-01-01T00:00:00.000Z' };
    world.statuses.set(id, { state: 'FAILED', failure });
    const failed = (await world.call('GET', `${root}/app`)).body as Share;
    assert.equal(failed['status'], 'FAILED');
    assert.deepEqual(failed['failure'], failure);
    world.statuses.set(id, { state: 'DEPLOYED' });
    assert.equal(((await world.call('GET', `${root}/app`)).body as Share)['status'], 'DEPLOYED');
    const offline = await world.addEnvironment('offline');
    const made = (await world.call('POST', root, { body: wanted({ environmentId: offline, name: 'off' }) }))
      .body as Share;
    assert.equal(made['status'], 'FAILED');
    const reason = made['failure'] as { count: number; lastError: string; nextRetry: string };
    assert.equal(reason.count, 1);
    assert.match(reason.lastError, /not connected/);
    assert.ok(Date.parse(reason.nextRetry) > world.clock.nowMs());
  });

  it('may have names of one and two letters', async () => {
    for (const name of ['x', 'ci', 's3']) {
      const made = await world.call('POST', root, { body: wanted({ name }) });
      assert.equal(made.status, 201);
      assert.equal((made.body as Share)['token'], name);
      assert.equal((await world.call('DELETE', `${root}/${name}`)).status, 204);
    }
  });

  it('of a name are made once, also by simultaneous requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => world.call('POST', root, { body: wanted({ name: 'raced' }) })),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assert.equal(answer.status, 409);
      assert.deepEqual(answer.body, { error: 'conflict', message: 'Share raced already exists' });
    }
  });

  it('of one name may stand in two frontdoors, but not on one frontend', async () => {
    const { frontdoorId, authorization } = world.other;
    const foreign = await world.addEnvironment('foreign', frontdoorId);
    const other = `/frontdoor/${frontdoorId}/shares`;
    const body = wanted({ environmentId: foreign, name: 'app' });
    const taken = await world.call('POST', other, { body, authorization });
    assert.equal(taken.status, 409);
    const hidden = await world.call('POST', other, {
      body: { ...body, shareMode: 'private' },
      authorization,
    });
    assert.equal(hidden.status, 201);
    const opened = await world.call('PATCH', `${other}/app`, {
      body: { shareMode: 'public' },
      authorization,
    });
    assert.equal(opened.status, 409);
    assert.equal((await world.call('GET', `${other}/app`, { authorization })).status, 200);
    assert.equal(((await world.call('GET', `${root}/app`)).body as Share)['environmentId'], environmentId);
  });

  it('are refused with the property and type that is wrong', async () => {
    const form = 'Value for name must be of share name (1 to 63 of a-z, 0-9 and -, no - at either end)';
    const reserved = 'Value for name must be of share name other than oauth, api, www';
    const script = 'Value for name must be of share name without -- in the third and fourth place';
    const uri = `Value for target must be of uri (${targetForms()})`;
    const pathless = `Value for target must be of http://HOST[:PORT], https://HOST[:PORT], h2c://HOST[:PORT], h2://HOST[:PORT], grpc://HOST[:PORT] or grpcs://HOST[:PORT], ${NO_PATH}`;
    const cases: [Record<string, unknown>, number, string][] = [
      [{ name: 'a-' }, 400, form],
      [{ name: 'Api' }, 400, form],
      [{ name: 'oauth' }, 400, reserved],
      [{ name: 'www' }, 400, reserved],
      [{ name: 'api' }, 400, reserved],
      [{ name: 'xn--pple-43d' }, 400, script],
      [{ name: 'ab--cd' }, 400, script],
      [{ name: 5 }, 400, 'Value for name must be of string'],
      [{ environmentId: undefined }, 400, 'Value for environmentId must be of string'],
      [{ shareMode: 'open' }, 400, 'Value for shareMode must be of public or private'],
      [{ shareMode: 1 }, 400, 'Value for shareMode must be of string'],
      [
        { backendMode: 'drive' },
        400,
        'Value for backendMode must be of proxy or tcpTunnel or udpTunnel or web',
      ],
      [{ target: 'ftp://h:1' }, 400, uri],
      [{ target: 'tcp://h' }, 400, uri],
      [{ target: 'http://h:1/path?query' }, 400, uri],
      [{ target: 'tcp://h:1/path' }, 400, uri],
      [{ shareMode: 'private', target: 'http://h:1/path' }, 400, pathless],
      [{ target: 'http://u:p@h:1' }, 400, uri],
      [{ target: 3 }, 400, 'Value for target must be of string'],
      [{ grants: 'x' }, 400, 'Value for grants must be of array'],
      [{ grants: [1] }, 400, 'Value for grants.0 must be of string'],
      [{ frontendIds: ['nope'] }, 404, 'Frontend nope not found'],
      [{ authProviderIds: ['nope'] }, 404, 'Auth provider nope not found'],
      [{ environmentId: 'nope' }, 404, 'Environment nope not found'],
      [{ shareMode: 'private', grants: ['nope'] }, 404, 'Environment nope not found'],
    ];
    const before = await world.store.db.selectFrom('share').selectAll().execute();
    for (const [fields, status, message] of cases) {
      const answer = await world.call('POST', root, { body: wanted(fields) });
      assert.equal(answer.status, status, JSON.stringify(fields));
      assert.deepEqual(answer.body, { error: status === 404 ? 'not_found' : 'invalid_request', message });
    }
    const unknown = await world.call('POST', root, { body: wanted({ tarket: 'x' }) });
    assert.match((unknown.body as { message: string }).message, /^Value for tarket must be of target, /);
    assert.equal((await world.call('POST', root, { body: wanted({ grants: [environmentId] }) })).status, 400);
    const hidden = wanted({ shareMode: 'private', frontendIds: [frontendId] });
    assert.equal((await world.call('POST', root, { body: hidden })).status, 400);
    assert.deepEqual(await world.store.db.selectFrom('share').selectAll().execute(), before);
  });

  it('have the backend mode of their target', async () => {
    const tunnel = wanted({
      name: 'database',
      shareMode: 'private',
      backendMode: 'tcpTunnel',
      target: 'tcp://Db:5432',
    });
    const made = await world.call('POST', root, { body: tunnel });
    assert.equal(made.status, 201);
    const share = made.body as Share;
    assert.deepEqual(
      [share['backendMode'], share['target'], share['backendEndpoint']],
      ['tcpTunnel', 'tcp://db:5432', 'tcp://db:5432'],
    );
    const path = `${root}/database`;
    const refused: [Record<string, unknown>, string][] = [
      [{ target: 'udp://db:53' }, 'Value for target must be of tcp://HOST:PORT (backendMode tcpTunnel)'],
      [{ backendMode: 'udpTunnel' }, 'Value for target must be of udp://HOST:PORT (backendMode udpTunnel)'],
      [
        { backendMode: 'proxy' },
        'Value for target must be of http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH], h2c://HOST[:PORT][/PATH], h2://HOST[:PORT][/PATH], grpc://HOST[:PORT] or grpcs://HOST[:PORT] (backendMode proxy)',
      ],
    ];
    for (const [body, message] of refused)
      assert.deepEqual((await world.call('PATCH', path, { body })).body, {
        error: 'invalid_request',
        message,
      });
    assert.deepEqual((await world.call('GET', path)).body, share);
    const datagrams = { backendMode: 'udpTunnel', target: 'udp://db:53' };
    const changed = await world.call('PATCH', path, { body: datagrams });
    assert.deepEqual(changed.body, { ...share, ...datagrams, backendEndpoint: 'udp://db:53' });
    assert.deepEqual(
      [serviceOf('database')!.backendMode, serviceOf('database')!.target],
      ['udpTunnel', 'udp://db:53'],
    );
    assert.equal((await world.call('DELETE', path)).status, 204);
  });

  it('change in part, and accept what was read', async () => {
    await world.call('POST', root, { body: wanted({ name: 'fluid' }) });
    const first = serviceOf('fluid')!;
    const changed = await world.call('PATCH', `${root}/fluid`, { body: { target: 'https://Web:8443/' } });
    assert.equal(changed.status, 200);
    assert.equal((changed.body as Share)['target'], 'https://web:8443');
    assert.equal(serviceOf('fluid')!.epoch, first.epoch + 1);
    assert.equal(serviceOf('fluid')!.id, first.id);

    const again = await world.call('PATCH', `${root}/fluid`, { body: changed.body });
    assert.equal(again.status, 200);
    assert.deepEqual(again.body, changed.body);

    const guest = await world.addEnvironment('guest');
    const hidden = await world.call('PATCH', `${root}/fluid`, {
      body: { shareMode: 'private', grants: [guest] },
    });
    assert.deepEqual((hidden.body as Share)['frontendIds'], []);
    assert.deepEqual(serviceOf('fluid')!.frontends, []);
    assert.deepEqual(serviceOf('fluid')!.grants, [guest]);
    const open = await world.call('PATCH', `${root}/fluid`, {
      body: { shareMode: 'public', reserved: false },
    });
    assert.deepEqual((open.body as Share)['grants'], []);
    assert.deepEqual((open.body as Share)['frontendIds'], [frontendId]);
    assert.equal((open.body as Share)['reserved'], false);
    assert.equal((await world.call('PATCH', `${root}/fluid`, { body: {} })).status, 200);

    for (const [body, message] of [
      [{ token: 'x' }, 'Value for token must be of fluid'],
      [{ id: 'x' }, 'Value for id must be of fluid'],
      [{ name: 'solid' }, 'Value for name must be of fluid'],
      [{ name: null }, 'Value for name must be of fluid'],
      [{ environmentId: guest }, `Value for environmentId must be of ${environmentId}`],
      [{ reserved: 'yes' }, 'Value for reserved must be of boolean'],
      [{ target: null }, 'Value for target must be of string'],
    ] as const) {
      const answer = await world.call('PATCH', `${root}/fluid`, { body });
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.deepEqual(answer.body, { error: 'invalid_request', message });
    }
    assert.equal((await world.call('PATCH', `${root}/nope`, { body: {} })).status, 404);
  });

  it('are listed whole, in counted pages, sorted by name or by token', async () => {
    type Page = { content: Share[]; pageable: unknown; totalElements: number; totalPages: number };
    const all = (await world.call('GET', `${root}?size=1000`)).body as Page;
    assert.equal(all.totalElements, all.content.length);
    assert.equal(all.totalPages, 1);
    const some = (await world.call('GET', `${root}?size=2&page=1&sort=id`)).body as Page;
    assert.deepEqual(some.pageable, { pageNumber: 1, pageSize: 2 });
    assert.equal(some.totalPages, Math.ceil(all.totalElements / 2));
    const tokens = all.content.map(({ token }) => token).sort();
    assert.deepEqual(
      some.content.map(({ token }) => token),
      tokens.slice(2, 4),
    );
    const byName = (await world.call('GET', `${root}?size=1000&sort=name,desc`)).body as Page;
    const names = byName.content.map(({ name }) => (name ?? '') as string);
    assert.deepEqual(names, names.toSorted().toReversed());
    const app = all.content.find(({ token }) => token === 'app');
    assert.deepEqual(app, (await world.call('GET', `${root}/app`)).body);
  });

  it('of other organizations are never listed', async () => {
    const { frontdoorId, authorization } = world.other;
    const list = await world.call('GET', `/frontdoor/${frontdoorId}/shares?size=1000`, { authorization });
    const { content } = list.body as { content: Share[] };
    assert.deepEqual(
      content.map(({ token, environmentId: host }) => [token, host === environmentId]),
      [['app', false]],
    );
  });

  it('go when they are deleted', async () => {
    assert.equal((await world.call('DELETE', `${root}/app`)).status, 204);
    assert.equal(serviceOf('app'), undefined);
    for (const method of ['GET', 'DELETE']) {
      const answer = await world.call(method, `${root}/app`);
      assert.equal(answer.status, 404);
      assert.deepEqual(answer.body, { error: 'not_found', message: 'Share app not found' });
    }
    const other = await world.call('GET', `${root.replace(world.first.frontdoorId, randomUUID())}/app`);
    assert.equal(other.status, 403);
  });
});
