import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { BASE_URL, openApiWorld, type ApiWorld } from './api-fixture.ts';

describeEachStore('custom frontends', (open) => {
  let world: ApiWorld;
  let root: string;
  let environmentId: string;
  let frontendId: string;
  before(async () => {
    world = await openApiWorld({ open });
    root = `/frontdoor/${world.first.frontdoorId}`;
    environmentId = await world.addEnvironment('edge');
    ({ id: frontendId } = await world.store.db.selectFrom('frontend').select('id').executeTakeFirstOrThrow());
  });
  after(() => world.close());

  const create = (body: object) =>
    world.call('POST', `${root}/custom-frontends`, { body: { frontendId, ...body } });
  const created = async (path: string, body: object): Promise<string> => {
    const made = await world.call('POST', `${root}${path}`, { body });
    assert.equal(made.status, 201, made.text);
    const { id, token } = made.body as { id?: string; token: string };
    return id ?? token;
  };
  const provider = () =>
    created('/auth-providers', {
      name: 'staff',
      type: 'API_KEY',
      data: { placement: 'bearer', keys: [{ name: 'k' }] },
    });
  const share = (name: string, more: object = {}) =>
    created('/shares', {
      name,
      environmentId,
      shareMode: 'public',
      backendMode: 'proxy',
      target: 'http://127.0.0.1:1',
      ...more,
    });
  const serviceOf = (token: string) =>
    [...world.catalog.all()].find(
      ({ token: own, frontdoorId }) => own === token && frontdoorId === world.first.frontdoorId,
    );

  const customHost = (host: string) =>
    serviceOf(host.split('.')[0]!)!.customHosts.find((each) => each.host === host);

  it('are made, listed, read and deleted', async () => {
    const made = await create({ hostname: 'Apps.Example.com' });
    assert.equal(made.status, 201, made.text);
    const record = made.body as { id: string };
    assert.deepEqual(record, {
      id: record.id,
      frontdoorId: world.first.frontdoorId,
      hostname: 'apps.example.com',
      frontendId,
      authProviderIds: [],
      status: 'NEW',
      domainName: '*.apps.example.com',
      proof: 'PENDING',
      proofEndsAt: new Date(world.clock.nowMs() + 14 * 86_400_000).toISOString(),
      proofProblem: null,
      createdAt: new Date(world.clock.nowMs()).toISOString(),
    });
    const path = `${root}/custom-frontends/${record.id}`;
    assert.equal(made.headers['location'], BASE_URL + path);
    assert.deepEqual((await world.call('GET', path)).body, record);
    const { body: records } = await world.call('GET', `${path}/dns-records`);
    assert.deepEqual(
      (records as { type: string; name: string; value: string }[]).map(({ type, name, value }) => [
        type,
        name,
        value,
      ]),
      [
        ['CNAME', '*.apps.example.com', 'share.localhost'],
        [
          'TXT',
          '_frontdoor-challenge.apps.example.com',
          `frontdoor-organization=${world.first.organizationId}`,
        ],
      ],
    );
    const { body: again } = await world.call('POST', `${root}/custom-frontends`, {
      body: { ...record, hostname: 'other.example' },
    });
    const { body: list } = await world.call('GET', `${root}/custom-frontends?sort=hostname,desc`);
    const page = list as { content: { hostname: string }[]; totalElements: number };
    assert.deepEqual(
      [page.content.map(({ hostname }) => hostname), page.totalElements],
      [['other.example', 'apps.example.com'], 2],
    );
    for (const { id } of [record, again as { id: string }]) {
      assert.equal((await world.call('DELETE', `${root}/custom-frontends/${id}`)).status, 204);
    }
    assert.deepEqual(await world.call('GET', path).then(({ status, body }) => [status, body]), [
      404,
      { error: 'not_found', message: `Custom frontend ${record.id} not found` },
    ]);
  });

  it('have a name of their own: no zone, and none above or below another, whosever it is', async () => {
    const id = await created('/custom-frontends', { hostname: 'taken.example.com', frontendId });
    await world.grant(id);
    const names = ['taken.example.com', 'TAKEN.example.com', 'a.taken.example.com', 'example.com'];
    for (const hostname of [...names, 'share.localhost', 'x.share.localhost', 'oauth.taken.example.com']) {
      const mine = await create({ hostname });
      assert.equal(mine.status, 409, hostname);
      const theirs = await world.call('POST', `/frontdoor/${world.other.frontdoorId}/custom-frontends`, {
        body: { hostname, frontendId },
        authorization: world.other.authorization,
      });
      assert.deepEqual([theirs.status, theirs.body], [409, mine.body], hostname);
    }
    assert.equal((await create({ hostname: 'nottaken.example.com' })).status, 201);
    for (const hostname of [
      'localhost',
      '192.0.2.1',
      'a_b.example',
      'a..example',
      '*.a.example',
      'a.example.',
    ])
      assert.deepEqual((await create({ hostname })).body, {
        error: 'invalid_request',
        message: 'Value for hostname must be of hostname (a DNS name of two labels or more)',
      });
    await world.call('DELETE', `${root}/custom-frontends/${id}`);
    assert.equal((await create({ hostname: 'a.taken.example.com' })).status, 201);
  });

  it('are not made of public suffixes: of countries and providers, in any script', async () => {
    const suffixes = ['co.uk', 'CO.UK', 'github.io', 'x.ck', 'kobe.jp', 's3.amazonaws.com', 'xn--55qx5d.cn'];
    for (const hostname of suffixes) {
      const answer = await create({ hostname });
      assert.equal(answer.status, 400, hostname);
      assert.deepEqual(answer.body, {
        error: 'invalid_request',
        message: `Value for hostname must be of hostname below a public suffix, as example.${hostname.toLowerCase()}`,
      });
    }
    for (const hostname of ['shop.co.uk', 'me.github.io', 'www.ck', 'corp.internal'])
      await created('/custom-frontends', { hostname, frontendId });
  });

  it('ask for a frontend and providers that are there, in this frontdoor', async () => {
    const id = randomUUID();
    const none = await create({ hostname: 'new.example', frontendId: id });
    assert.deepEqual(
      [none.status, none.body],
      [404, { error: 'not_found', message: `Frontend ${id} not found` }],
    );
    const foreign = await world.call('POST', `/frontdoor/${world.other.frontdoorId}/auth-providers`, {
      body: { name: 'x', type: 'API_KEY', data: { placement: 'bearer', keys: [{ name: 'k' }] } },
      authorization: world.other.authorization,
    });
    for (const providerId of [id, (foreign.body as { id: string }).id]) {
      const answer = await create({ hostname: 'new.example', authProviderIds: [providerId] });
      assert.equal((answer.body as { message: string }).message, `Auth provider ${providerId} not found`);
    }
    assert.equal((await create({ hostname: 'new.example' })).status, 201);
  });

  it('show public shares of their frontend, guarded by them where the share has no guard, as long as both are there', async () => {
    const [guard, own] = [await provider(), await provider()];
    const early = await share('early');
    const id = await created('/custom-frontends', {
      hostname: 'shown.example',
      frontendId,
      authProviderIds: [guard, guard.toUpperCase()],
    });
    assert.equal(customHost('early.shown.example'), undefined, 'nothing before its proof');
    await world.grant(id);
    await share('late', { authProviderIds: [own] });
    await share('hidden', { shareMode: 'private' });
    assert.deepEqual(customHost('early.shown.example'), {
      customFrontendId: id,
      host: 'early.shown.example',
      authProviderIds: [guard],
    });
    assert.deepEqual(serviceOf(early)!.authProviderIds, []);
    assert.deepEqual(customHost('late.shown.example'), {
      customFrontendId: id,
      host: 'late.shown.example',
      authProviderIds: [own],
    });
    assert.deepEqual(serviceOf('hidden')!.customHosts, []);
    const { body } = await world.call('GET', `${root}/shares/early`);
    const { frontendEndpoints } = body as { frontendEndpoints: string[] };
    assert.ok(frontendEndpoints.includes('http://early.shown.example:8080'), frontendEndpoints.join());

    const inUse = await world.call('DELETE', `${root}/auth-providers/${guard}`);
    assert.deepEqual(inUse.body, {
      error: 'conflict',
      message: `Auth provider ${guard} is used by custom frontend shown.example`,
    });
    await world.call('DELETE', `${root}/custom-frontends/${id}`);
    assert.ok(!serviceOf(early)!.customHosts.some(({ host }) => host === 'early.shown.example'));
    assert.equal((await world.call('DELETE', `${root}/auth-providers/${guard}`)).status, 204);
  });

  it('do not show shares of another frontdoor', async () => {
    const theirs = await world.addEnvironment('theirs', world.other.frontdoorId);
    await world.grant(await created('/custom-frontends', { hostname: 'ours.example', frontendId }));
    const made = await world.call('POST', `/frontdoor/${world.other.frontdoorId}/shares`, {
      body: {
        name: 'foreign',
        environmentId: theirs,
        shareMode: 'public',
        backendMode: 'proxy',
        target: 'http://127.0.0.1:1',
      },
      authorization: world.other.authorization,
    });
    assert.equal(made.status, 201, made.text);
    const foreign = [...world.catalog.all()].find(({ token }) => token === 'foreign')!;
    assert.deepEqual(foreign.customHosts, []);
  });

  it('get other auth providers, by one of several who read the same state', async () => {
    const [first, second] = [await provider(), await provider()];
    const token = await share('guarded', { frontendIds: [frontendId] });
    const id = await created('/custom-frontends', {
      hostname: 'change.example',
      frontendId,
      authProviderIds: [first],
    });
    await world.grant(id);
    const path = `${root}/custom-frontends/${id}`;
    const read = await world.call('GET', path);
    const headers = { 'if-match': String(read.headers['etag']) };
    const body = { ...(read.body as object), authProviderIds: [second, first] };
    const changed = await world.call('PATCH', path, { body, headers });
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual(changed.body, body);
    assert.deepEqual((await world.call('GET', path)).body, body);
    assert.equal((await world.call('PATCH', path, { body, headers })).status, 412);
    const guards = () => customHost(`${token}.change.example`)?.host;
    assert.equal(guards(), `${token}.change.example`);
    const emptied = await world.call('PATCH', path, { body: { authProviderIds: [] } });
    assert.deepEqual((emptied.body as { authProviderIds: string[] }).authProviderIds, []);
    assert.equal((await world.call('DELETE', `${root}/auth-providers/${first}`)).status, 204);
    const refusals: [object, number][] = [
      [{ authProviderIds: [first] }, 404],
      [{ hostname: 'other.example' }, 400],
      [{ frontendId: randomUUID() }, 400],
    ];
    for (const [wrong, status] of refusals)
      assert.equal((await world.call('PATCH', path, { body: wrong })).status, status);
    const foreign = `/frontdoor/${world.other.frontdoorId}/custom-frontends/${id}`;
    const { authorization } = world.other;
    assert.equal((await world.call('PATCH', foreign, { body: {}, authorization })).status, 404);
    assert.equal((await world.call('DELETE', path)).status, 204);
  });

  it('show what DNS says about the names below them now', async () => {
    const id = await created('/custom-frontends', { hostname: 'asked.example', frontendId });
    const path = `${root}/custom-frontends/${id}/dns-check`;
    const lookedUp = 'frontdoor-check.asked.example';
    const ask = async () => {
      const [record] = (await world.call('GET', path)).body as Record<string, unknown>[];
      return record;
    };
    const needed = { type: 'CNAME', name: '*.asked.example', value: 'share.localhost', lookedUp };
    assert.deepEqual(await ask(), { ...needed, state: 'missing', found: [], problem: null });
    world.records.set(lookedUp, { alias: undefined, addresses: [], problem: 'queryA ETIMEOUT' });
    assert.deepEqual(await ask(), { ...needed, state: 'unknown', found: [], problem: 'queryA ETIMEOUT' });
    world.records.set(lookedUp, { alias: 'share.localhost', addresses: ['192.0.2.1'], problem: undefined });
    assert.deepEqual(await ask(), { ...needed, state: 'correct', found: ['share.localhost'], problem: null });
    const name = '_frontdoor-challenge.asked.example';
    const value = `frontdoor-organization=${world.first.organizationId}`;
    const text = async () => ((await world.call('GET', path)).body as Record<string, unknown>[])[1];
    const proof = { type: 'TXT', name, value, lookedUp: name };
    assert.deepEqual(await text(), { ...proof, state: 'missing', found: [], problem: null });
    world.texts.set(name, { values: ['other'], problem: undefined });
    assert.deepEqual(await text(), { ...proof, state: 'different', found: ['other'], problem: null });
    world.texts.set(name, { values: [], problem: 'queryTxt ESERVFAIL' });
    assert.deepEqual(await text(), { ...proof, state: 'unknown', found: [], problem: 'queryTxt ESERVFAIL' });
    world.texts.set(name, { values: [value], problem: undefined });
    assert.deepEqual(await text(), { ...proof, state: 'correct', found: [value], problem: null });
    await world.grant(id);
    assert.equal(await text(), undefined, 'a granted name needs no record');
    assert.equal((await world.call('DELETE', `${root}/custom-frontends/${id}`)).status, 204);
    assert.equal((await world.call('GET', path)).status, 404);
  });

  it('go with their frontdoor, and with what guards them', async () => {
    const { body } = await world.call('POST', '/frontdoor', {
      body: { name: 'short', organizationId: world.first.organizationId },
    });
    const { id } = body as { id: string };
    const { body: guard } = await world.call('POST', `/frontdoor/${id}/auth-providers`, {
      body: { name: 'x', type: 'API_KEY', data: { placement: 'bearer', keys: [{ name: 'k' }] } },
    });
    const authProviderIds = [(guard as { id: string }).id];
    const made = await world.call('POST', `/frontdoor/${id}/custom-frontends`, {
      body: { hostname: 'short.example', frontendId, authProviderIds },
    });
    assert.equal(made.status, 201, made.text);
    assert.equal((await world.call('DELETE', `/frontdoor/${id}`)).status, 204);
    assert.equal((await create({ hostname: 'short.example' })).status, 201);
  });

  it('are at most a hundred in a frontdoor', async () => {
    const { body: list } = await world.call('GET', `${root}/custom-frontends`);
    const { totalElements } = list as { totalElements: number };
    for (let at = totalElements; at < 100; at += 1)
      await created('/custom-frontends', { hostname: `many${at}.example`, frontendId });
    assert.equal((await create({ hostname: 'more.example' })).status, 409);
  });
});
