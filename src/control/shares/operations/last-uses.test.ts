import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { callerKey } from '../../credentials/accounts/mod.ts';
import { writeCallerUses } from '../../credentials/accounts/mod.ts';
import { writeIdentityUses } from '../../overlay/records/mod.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';
import { createManagementApi } from './management-api.ts';

type Body = Readonly<Record<string, unknown>>;

describeEachStore('last uses', (open) => {
  let world: ApiWorld;
  before(async () => {
    world = await openApiWorld({ open });
  });
  after(() => world.close());

  const read = async (path: string): Promise<Body> => (await world.call('GET', path)).body as Body;

  it('of API accounts and OAuth clients are shown, and change no entity tag', async () => {
    const { organizationId } = world.first;
    const body = { name: 'in use', organizationId };
    const account = (await world.call('POST', '/api-accounts', { body })).body as Body;
    const client = (await world.call('POST', '/oauth-clients', { body })).body as Body;
    const path = `/api-accounts/${String(account['id'])}`;
    const unused = await world.call('GET', path);
    assert.equal((unused.body as Body)['lastUsedAt'], null);
    assert.equal((await read(`/oauth-clients/${String(client['id'])}`))['lastUsedAt'], null);

    // The uses are written when the API closes, at the latest.
    world.clock.advance(5_000);
    const usedAt = new Date(world.clock.nowMs()).toISOString();
    const api = await createManagementApi(world.options);
    const authorization = `Basic ${String(account['id'])}:${String(account['token'])}`;
    const caller = await api.inject({ method: 'GET', url: '/caller', headers: { authorization } });
    assert.equal(caller.statusCode, 200);
    const wrong = `Basic ${String(account['id'])}:wrong`;
    world.clock.advance(1_000);
    await api.inject({ method: 'GET', url: '/caller', headers: { authorization: wrong } });
    const payload = {
      grant_type: 'client_credentials',
      client_id: client['id'],
      client_secret: client['secret'],
      audience: `${world.options.baseUrl()}/frontdoor`,
    };
    const token = await api.inject({ method: 'POST', url: '/oauth/token', payload });
    assert.equal(token.statusCode, 200, token.body);
    await api.close();

    const used = await world.call('GET', path);
    assert.equal((used.body as Body)['lastUsedAt'], usedAt);
    assert.equal(used.headers['etag'], unused.headers['etag']);
    const { lastUsedAt } = await read(`/oauth-clients/${String(client['id'])}`);
    assert.equal(lastUsedAt, new Date(world.clock.nowMs()).toISOString());
    const list = (await read('/api-accounts?size=1000'))['content'] as Body[];
    assert.equal(list.find(({ id }) => id === account['id'])?.['lastUsedAt'], usedAt);
  });

  it('never go backwards, and are written for many in one go', async () => {
    const { first, store, clock } = world;
    const environments: string[] = [];
    for (let i = 0; i < 3; i += 1) environments.push(await world.addEnvironment(`seen ${i}`));
    const nowMs = clock.nowMs();
    const [one = '', two = ''] = environments;
    await writeIdentityUses(store.db, [
      { id: one, atMs: nowMs, address: '192.0.2.1' },
      { id: two, atMs: nowMs - 10, address: '192.0.2.2' },
    ]);
    await writeIdentityUses(store.db, [
      { id: one, atMs: nowMs - 60_000, address: '192.0.2.3' },
      { id: two, atMs: nowMs + 60_000, address: undefined },
    ]);
    const root = `/frontdoor/${first.frontdoorId}/environments`;
    const seen = (await read(`/frontdoor/${first.frontdoorId}/agents?name=seen&sort=name`))[
      'content'
    ] as Body[];
    assert.deepEqual(
      seen.map(({ lastSeenAt, remoteAddress }) => [lastSeenAt, remoteAddress]),
      [
        [new Date(nowMs).toISOString(), '192.0.2.1'],
        [new Date(nowMs + 60_000).toISOString(), '192.0.2.2'],
        [null, null],
      ],
    );
    world.connected.add(one);
    clock.advance(1);
    assert.equal((await read(`${root}/${one}`))['lastSeenAt'], new Date(clock.nowMs()).toISOString());

    const key = callerKey('account', first.accountId);
    await writeCallerUses(store.db, [{ id: key, atMs: nowMs, address: undefined }]);
    await writeCallerUses(store.db, [{ id: key, atMs: nowMs - 1, address: undefined }]);
    const { lastUsedAt } = await read(`/api-accounts/${first.accountId}`);
    assert.equal(lastUsedAt, new Date(nowMs).toISOString());
  });

  it('stand beside the number of shares of an environment', async () => {
    const { frontdoorId } = world.first;
    const environmentId = await world.addEnvironment('hosting');
    const root = `/frontdoor/${frontdoorId}`;
    for (const name of ['one', 'two']) {
      const body = { name, environmentId, shareMode: 'private', backendMode: 'proxy', target: 'http://h:1' };
      assert.equal((await world.call('POST', `${root}/shares`, { body })).status, 201);
    }
    assert.equal((await read(`${root}/environments/${environmentId}`))['shareCount'], 2);
    const list = (await read(`${root}/agents?size=1000`))['content'] as Body[];
    assert.deepEqual(
      list.filter(({ shareCount }) => shareCount !== 0).map(({ name, shareCount }) => [name, shareCount]),
      [['hosting', 2]],
    );
  });
});
