// Filters and orders of lists: which entries a filter leaves, that its pages add up with the right count, and that an
// id of another organization finds the same as an id that does not exist.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import { operations, type Operation } from '#contract';
import { listInspected, putFailures, putInspected } from '../records/request-record-store.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

interface List {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly totalElements?: number;
}

const MINUTE = 60_000;

describeEachStore('lists', (open) => {
  let world: ApiWorld;
  let base: string;
  let startMs: number;
  let active: string;
  let inactive: string;
  let provider: string;
  let foreignProvider: string;

  const make = async (path: string, body: object, authorization?: string): Promise<string> => {
    const made = await world.call('POST', path, {
      body,
      authorization,
    });
    assert.equal(made.status, 201, made.text);
    const { id, token } = made.body as { id?: string; token?: string };
    return id ?? token!;
  };
  const iso = (minutes: number): string =>
    encodeURIComponent(new Date(startMs + minutes * MINUTE).toISOString());
  const list = async (path: string): Promise<List> => {
    const answer = await world.call('GET', path);
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer.body as List;
  };
  /** In pages of two, which must add up to the list and its count. */
  async function all(path: string, key = 'name'): Promise<unknown[]> {
    const found: unknown[] = [];
    for (let page = 0; ; page += 1) {
      const { content, totalElements } = await list(
        `${path}${path.includes('?') ? '&' : '?'}size=2&page=${page}`,
      );
      found.push(...content.map((entry) => entry[key]));
      if (content.length === 2) continue;
      if (totalElements !== undefined) assert.equal(totalElements, found.length, path);
      assert.equal(new Set(found).size, found.length, path);
      return found;
    }
  }

  before(async () => {
    world = await openApiWorld({ open });
    startMs = world.clock.nowMs();
    base = `/frontdoor/${world.first.frontdoorId}`;
    const data = { placement: 'bearer', keys: [{ name: 'k' }] };
    const other = `/frontdoor/${world.other.frontdoorId}`;
    foreignProvider = await make(
      `${other}/auth-providers`,
      { name: 'x', type: 'API_KEY', data },
      world.other.authorization,
    );
    provider = await make(`${base}/auth-providers`, { name: 'Staff', type: 'API_KEY', data });
    await make(`${base}/auth-providers`, { name: '100%_own', type: 'API_KEY', data });
    active = await world.addEnvironment('Laptop');
    world.clock.advance(MINUTE);
    inactive = await world.addEnvironment('server');
    world.connected.add(active);
    for (const [name, environmentId, authProviderIds] of [
      ['alpha', active, [provider]],
      ['beta', inactive, []],
      ['alphabet', active, []],
      ['gamma', active, [provider]],
      ['delta', inactive, [provider]],
    ] as const) {
      await make(`${base}/shares`, {
        name,
        environmentId,
        authProviderIds,
        shareMode: 'public',
        backendMode: 'proxy',
        target: 'http://a:1',
      });
      world.clock.advance(MINUTE);
    }
    for (const { id, token } of await world.store.db.selectFrom('share').select(['id', 'token']).execute())
      if (token === 'alpha') world.statuses.set(id, { state: 'DEPLOYED' });
  });
  after(() => world.close());

  it('of shares are narrowed by name, environment, provider, state and time, alone and together', async () => {
    const shares = (query: string): Promise<unknown[]> => all(`${base}/shares?${query}`);
    assert.deepEqual(await shares('name=ALPHA'), ['alpha', 'alphabet']);
    assert.deepEqual(await shares('name=%25'), []);
    assert.deepEqual(await shares(`environmentId=${active.toUpperCase()}`), ['alpha', 'alphabet', 'gamma']);
    assert.deepEqual(await shares(`providerId=${provider}`), ['alpha', 'gamma', 'delta']);
    assert.deepEqual(await shares(`providerId=${provider}&environmentId=${inactive}`), ['delta']);
    assert.deepEqual(await shares('status=DEPLOYED'), ['alpha']);
    assert.deepEqual(await shares('status=PENDING'), ['alphabet', 'gamma']);
    assert.deepEqual(await shares('status=FAILED'), ['beta', 'delta']);
    assert.deepEqual(await shares(`status=FAILED&providerId=${provider}`), ['delta']);
    assert.deepEqual(await shares('status=FAILED&sort=name,desc'), ['delta', 'beta']);
    const { id: policyId } = (await world.call('POST', `${base}/policies`, { body: { name: 'staff' } }))
      .body as { readonly id: string };
    for (const name of ['beta', 'gamma'])
      await world.call('PATCH', `${base}/shares/${name}`, { body: { policyId } });
    assert.deepEqual(await shares(`policyId=${policyId.toUpperCase()}`), ['beta', 'gamma']);
    assert.deepEqual(await shares(`policyId=${policyId}&status=FAILED`), ['beta']);
    assert.deepEqual(await shares(`policyId=${randomUUID()}`), []);
    assert.deepEqual(await shares(`from=${iso(2)}&to=${iso(4)}`), ['beta', 'alphabet']);
    assert.deepEqual(await shares(`from=${iso(99)}`), []);
    for (const entry of (await list(`${base}/shares?status=FAILED`)).content)
      assert.equal(entry['status'], 'FAILED');
  });

  it('of shares are sorted by creation and state, in both directions and spellings', async () => {
    const made = ['alpha', 'beta', 'alphabet', 'gamma', 'delta'];
    const shares = (sort: string): Promise<unknown[]> => all(`${base}/shares?sort=${sort}`);
    assert.deepEqual(await shares('createdAt'), made);
    assert.deepEqual(await shares('-createdAt'), made.toReversed());
    assert.deepEqual(await shares('createdAt,desc'), made.toReversed());
    assert.deepEqual(await shares('status'), ['alpha', 'beta', 'delta', 'alphabet', 'gamma']);
    assert.deepEqual(await shares('-status'), ['gamma', 'alphabet', 'delta', 'beta', 'alpha']);
    assert.deepEqual(await all(`${base}/shares?sort=-createdAt&name=alpha`), ['alphabet', 'alpha']);
  });

  it('of very many shares have the same pages and counts, however few a filter leaves', async () => {
    const { frontdoorId: id, authorization } = world.other;
    const environmentId = await world.addEnvironment('many', id);
    world.connected.add(environmentId);
    const names = Array.from({ length: 700 }, (_, n) => `many-${String(n).padStart(3, '0')}`);
    await world.store.transaction(async (trx, touch) => {
      for (const [n, name] of names.entries()) {
        const row = {
          id: randomUUID(),
          frontdoor_id: id,
          environment_id: environmentId,
          token: name,
          name,
          ...({ share_mode: 'private', backend_mode: 'proxy', target: 'http://a:1' } as const),
          reserved: 1,
          target_by_agent: 0,
          epoch: 1,
          created_at: startMs + n,
          updated_at: startMs,
        };
        await trx.insertInto('share').values(row).execute();
        touch('share', row.id);
        world.statuses.set(row.id, { state: n % 2 === 0 ? 'DEPLOYED' : 'FAILED' });
      }
    });
    const found = async (query: string): Promise<unknown[]> => {
      const entries: unknown[] = [];
      for (let page = 0; ; page += 1) {
        const path = `/frontdoor/${id}/shares?size=90&page=${page}&${query}`;
        const { body } = await world.call('GET', path, { authorization });
        const { content, totalElements } = body as List;
        entries.push(...content.map((entry) => entry['name']));
        if (content.length === 90) continue;
        assert.equal(totalElements, entries.length, query);
        return entries;
      }
    };
    const [even, odd] = [0, 1].map((rest) => names.filter((_, n) => n % 2 === rest));
    assert.deepEqual(await found('name=MANY'), names);
    assert.deepEqual(await found('name=many&sort=-createdAt'), names.toReversed());
    assert.deepEqual(await found('name=ny-12&sort=name,desc'), names.slice(120, 130).toReversed());
    assert.deepEqual(await found('name=none'), []);
    assert.deepEqual(await found('status=DEPLOYED&sort=-createdAt'), even!.toReversed());
    assert.deepEqual(await found('status=FAILED&name=ny-12'), odd!.slice(60, 65));
    assert.deepEqual(await found('sort=status'), [...even!, ...odd!]);
    assert.deepEqual(await found('sort=-status&name=MANY'), [...even!, ...odd!].toReversed());
  });

  it('find by an id of someone else what an id of nobody finds: nothing', async () => {
    const foreign = await world.addEnvironment('foreign', world.other.frontdoorId);
    for (const [name, theirs] of [
      ['environmentId', foreign],
      ['providerId', foreignProvider],
    ] as const) {
      const [one, two] = await Promise.all(
        [theirs, randomUUID()].map((id) => world.call('GET', `${base}/shares?${name}=${id}`)),
      );
      assert.deepEqual([one!.status, one!.text], [200, two!.text]);
      assert.equal((one!.body as List).totalElements, 0);
    }
  });

  it('of environments and agents are narrowed by name, state and time, and sorted', async () => {
    for (const path of [`${base}/environments`, `${base}/agents`]) {
      assert.deepEqual(await all(`${path}?name=LAP`), ['Laptop']);
      assert.deepEqual(await all(`${path}?status=ACTIVE`), ['Laptop']);
      assert.deepEqual(await all(`${path}?status=INACTIVE`), ['server']);
      assert.deepEqual(await all(`${path}?from=${iso(1)}`), ['server']);
      assert.deepEqual(await all(`${path}?to=${iso(1)}`), ['Laptop']);
      assert.deepEqual(await all(`${path}?sort=-status`), ['server', 'Laptop']);
      assert.deepEqual(await all(`${path}?sort=-createdAt`), ['server', 'Laptop']);
    }
  });

  it('of failures and records are narrowed by text, status, environment, provider and time, and sorted', async () => {
    const shares = await world.store.db.selectFrom('share').select(['id', 'token']).execute();
    const idOf = (token: string) => shares.find((share) => share.token === token)!.id;
    const frontdoorOf = () => world.first.frontdoorId;
    const failures = [
      ['failure-1', 'alpha', 502, '/Orders', 'refused'],
      ['failure-2', 'beta', 404, '/100%', 'absent'],
      ['failure-3', 'beta', 0, '/', 'broken'],
    ] as const;
    const timings = { decidedMs: 1, circuitMs: null, firstByteMs: null, doneMs: 1 };
    const records = failures.map(([id, token, status, path, cause], i) => ({
      id,
      at: startMs + i * MINUTE,
      shareId: idOf(token),
      frontdoorId: '',
      status,
      code: 'no-answer',
      hop: 'service',
      cause,
      method: 'GET',
      host: `${token}.example`,
      path,
      client: '192.0.2.7',
      identity: null,
      decision: 'open',
      traceId: null,
      timings,
    }));
    await putFailures(world.store, { records: records, frontdoorOf });
    const found = (query: string) => all(`${base}/failures?${query}`, 'errorId');
    assert.deepEqual(await found('sort=at'), ['failure-1', 'failure-2', 'failure-3']);
    assert.deepEqual(await found('sort=-at'), ['failure-3', 'failure-2', 'failure-1']);
    assert.deepEqual(await found('text=orders'), ['failure-1']);
    assert.deepEqual(await found('text=%25'), ['failure-2']);
    assert.deepEqual(await found('text=BETA.&sort=at'), ['failure-2', 'failure-3']);
    assert.deepEqual(await found('text=timings'), []);
    assert.deepEqual(await found('statusClass=5xx'), ['failure-1']);
    assert.deepEqual(await found('statusClass=none'), ['failure-3']);
    assert.deepEqual(await found(`environmentId=${inactive}`), ['failure-3', 'failure-2']);
    assert.deepEqual(await found(`providerId=${provider}`), ['failure-1']);
    assert.deepEqual(await found(`providerId=${provider}&from=${iso(1)}`), []);
    const message = { headers: [], body: '', bodyBytes: 0, isTruncated: false };
    const recorded = (['record-1', 'record-2'] as const).map((id, i) => ({
      ...records[i]!,
      id,
      shareId: idOf('alpha'),
      target: records[i]!.path,
      replayOf: null,
      failure: null,
      request: message,
      answer: message,
    }));
    await putInspected(world.store, { records: recorded, frontdoorOf });
    const requests = async (query: string) => {
      const { db } = world.store;
      const filter = Object.fromEntries(new URLSearchParams(query));
      const page = { page: 0, size: 9, sort: 'at', direction: 'asc' } as const;
      return (await listInspected(db, idOf('alpha'), page, filter)).content.map(({ id }) => id);
    };
    assert.deepEqual(await requests(''), ['record-1', 'record-2']);
    assert.deepEqual(await requests('text=ORDERS'), ['record-1']);
    assert.deepEqual(await requests('statusClass=4xx'), ['record-2']);
    await world.store.db.deleteFrom('request_failure').execute();
    await world.store.db.deleteFrom('inspected_request').execute();
  });

  it('of auth providers are narrowed by type, state and time', async () => {
    const path = `${base}/auth-providers`;
    const id = await make(path, {
      name: 'late',
      type: 'GITHUB',
      data: { client_id: 'a', client_secret: 'b' },
    });
    assert.equal((await world.call('PATCH', `${path}/${id}`, { body: { enabled: false } })).status, 200);
    assert.deepEqual(await all(`${path}?type=GITHUB`), ['late']);
    assert.deepEqual(await all(`${path}?enabled=false`), ['late']);
    assert.deepEqual(await all(`${path}?enabled=true&sort=name`), ['100%_own', 'Staff']);
    assert.deepEqual(await all(`${path}?from=${iso(1)}`), ['late']);
    assert.deepEqual((await all(`${path}?sort=-createdAt`))[0], 'late');
    assert.equal((await world.call('DELETE', `${path}/${id}`)).status, 204);
  });

  it('of shares by state have the entries of each state, however many these are', async () => {
    const shares = (query: string): Promise<unknown[]> => all(`${base}/shares?${query}`);
    assert.deepEqual(await shares('sort=status&name=alpha'), ['alpha', 'alphabet']);
    assert.deepEqual(await shares('sort=-status&status=FAILED'), ['delta', 'beta']);
    assert.deepEqual(await shares(`sort=status&environmentId=${active}`), ['alpha', 'alphabet', 'gamma']);
    world.connected.add(inactive);
    assert.deepEqual(await shares('status=PENDING'), ['beta', 'alphabet', 'gamma', 'delta']);
    assert.deepEqual(await shares('status=FAILED'), []);
    world.connected.delete(inactive);
  });

  it('of other things are narrowed by what these have', async () => {
    assert.deepEqual(await all(`${base}/auth-providers?name=staff`), ['Staff']);
    assert.deepEqual(await all(`${base}/auth-providers?name=%25_`), ['100%_own']);
    const [frontend] = (await world.call('GET', `${base}/frontends`)).body as { id: string }[];
    const custom = `${base}/custom-frontends`;
    const frontendId = frontend!.id;
    await make(custom, { hostname: 'a.example.com', frontendId, authProviderIds: [provider] });
    world.clock.advance(MINUTE);
    await make(custom, { hostname: 'b.example.com', frontendId });
    assert.deepEqual(await all(`${custom}?providerId=${provider}`, 'hostname'), ['a.example.com']);
    assert.deepEqual(await all(`${custom}?name=B.EX`, 'hostname'), ['b.example.com']);
    assert.deepEqual(await all(`${custom}?status=ACTIVE`, 'hostname'), []);
    assert.deepEqual(await all(`${custom}?status=NEW&sort=-createdAt`, 'hostname'), [
      'b.example.com',
      'a.example.com',
    ]);
    assert.deepEqual(await all(`${custom}?sort=status`, 'hostname').then((found) => found.length), 2);
    const { organizationId } = world.first;
    await make('/organizations', { name: 'Partners' });
    await make('/frontdoor', { name: 'Second', organizationId });
    await make('/api-accounts', { name: 'Robot', organizationId });
    await make('/oauth-clients', { name: 'Robot', organizationId });
    await make('/fabric/routers', { name: 'East' });
    await make('/fabric/gateways', { name: 'East' });
    await make('/fabric/services', { name: 'East' });
    assert.deepEqual(await all('/organizations?name=part'), ['Partners']);
    assert.deepEqual(await all(`/organizations/${organizationId}/frontdoors?name=SEC`), ['Second']);
    for (const path of ['/api-accounts', '/oauth-clients']) {
      assert.deepEqual(await all(`${path}?name=rob&sort=-createdAt`), ['Robot']);
      assert.deepEqual(await all(`${path}?to=${iso(1)}&name=rob`), []);
    }
    for (const path of ['/fabric/routers', '/fabric/gateways', '/fabric/services'])
      assert.deepEqual(await all(`${path}?name=eas&from=${iso(1)}&sort=-createdAt`), ['East']);
    const events = await list(`/audit-events?action=createShare&from=${iso(2)}&to=${iso(4)}`);
    assert.deepEqual([events.content.length, events.totalElements], [2, 2]);
    for (const path of [`${base}/failures`, `${base}/auth-providers/${provider}/sessions`])
      assert.deepEqual(await all(`${path}?from=${iso(0)}&to=${iso(9)}`, 'id'), []);
    assert.deepEqual(await all(`${base}/shares/alpha/inspector/requests?from=${iso(0)}`, 'id'), []);
  });

  it('refuse values that a filter or an order does not take', async () => {
    const cases = {
      'status=deployed': 'Value for status must be of PENDING or DEPLOYED or FAILED',
      'from=yesterday': 'Value for from must be of date-time',
      'to=2030-01-01': 'Value for to must be of date-time',
      'environmentId=x': 'Value for environmentId must be of UUID',
      'name=': 'Value for name must be of string of 1 to 255 characters without NUL',
      'name=a&name=b': 'Value for name must be of one value, not several',
      'sort=target': 'Value for sort must be of name or id or createdAt or status',
      'sort=-createdAt,asc': 'Value for sort must be of asc or desc',
      'sort=--createdAt': 'Value for sort must be of name or id or createdAt or status',
    };
    for (const [query, message] of Object.entries(cases)) {
      const { status, body } = await world.call('GET', `${base}/shares?${query}`);
      assert.deepEqual([status, (body as { message: string }).message], [400, message], query);
    }
  });

  it('take each filter that the table of operations gives them, none without effect', async () => {
    const narrowing = [
      'name',
      'status',
      'environmentId',
      'providerId',
      'policyId',
      'from',
      'to',
      'text',
      'statusClass',
      'enabled',
      'type',
    ];
    // The request log has a cursor instead of pages; `request-log-operations.test.ts` tries its filters.
    const filtered = (operations as readonly Operation[]).filter(
      ({ id, query }) =>
        id.startsWith('list') && id !== 'listRequests' && query.some(({ name }) => narrowing.includes(name)),
    );
    assert.equal(filtered.length, 23);
    for (const { path, query, id } of filtered) {
      const at = path
        .replace('{frontdoorId}', world.first.frontdoorId)
        .replace('{organizationId}', world.first.organizationId)
        .replace('{token}', 'alpha')
        .replace('{id}', provider);
      for (const { name, type, values } of query.filter((each) => narrowing.includes(each.name))) {
        const states = values ?? [undefined];
        const found = await Promise.all(
          states.map((state) => {
            const time = name === 'from' ? iso(1e6) : iso(-1e6);
            const value =
              state ?? (type === 'date-time' ? time : type === 'UUID' ? randomUUID() : 'no such name');
            return list(`${at}?${name}=${value}`);
          }),
        );
        const whole = (await list(`${at}?size=1000`)).content.length;
        const left = found.reduce((sum, { content }) => sum + content.length, 0);
        assert.equal(left, values === undefined ? 0 : whole, `${id}: ${name}`);
      }
    }
  });
});
