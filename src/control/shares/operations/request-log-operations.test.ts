import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import type { LoggedRequestAnswer, RequestLogAnswer } from '#contract/schemas';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';
import type { Call } from './call.ts';
import { loggedOf } from './request-log-fixture.ts';
import { requestLogHandlers } from './request-log-operations.ts';
import { putLoggedRequests } from '../records/request-log-store.ts';

interface RequestPage {
  readonly content: readonly LoggedRequestAnswer[];
  readonly next: string | null;
}

describe('the request log', () => {
  let world: ApiWorld;
  before(async () => {
    world = await openApiWorld();
    const at = 1_699_999_999_000;
    await putLoggedRequests(world.store, {
      records: [
        loggedOf('request-1', { at, identity: 'ann', providerId: '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22' }),
        loggedOf('request-2', { at: at + 1, method: 'POST', path: '/Login', bytesIn: 100 }),
        loggedOf('request-3', {
          at: at + 1,
          outcome: 'refused',
          status: 403,
          code: 'address-denied',
          hop: 'client',
          cause: 'the address is denied',
          client: '203.0.113.9',
        }),
        loggedOf('request-4', {
          at: at + 2,
          outcome: 'client-gone',
          status: 0,
          identity: '=cmd("x")',
          timings: { decidedMs: 0, circuitMs: null, firstByteMs: null, doneMs: 1_500.25 },
          leftOut: 7,
        }),
        loggedOf('request-5', { at: at + 3, shareId: 'other' }),
      ],
      gatewayId: 'gateway',
      shareOf: (id) =>
        id === 'other'
          ? { frontdoorId: world.other.frontdoorId, token: 'app' }
          : { frontdoorId: world.first.frontdoorId, token: 'app' },
      nowMs: world.clock.nowMs(),
    });
  });
  after(() => world.close());

  const base = (): string => `/frontdoor/${world.first.frontdoorId}`;
  const list = async (query = ''): Promise<RequestPage> => {
    const { status, body, text } = await world.call('GET', `${base()}/requests${query}`);
    assert.equal(status, 200, text);
    return body as RequestPage;
  };
  const exported = (query: string) =>
    world.app.inject({
      method: 'GET',
      url: `${base()}/request-log/export?${query}`,
      headers: { authorization: world.authorization },
    });
  const ids = async (query: string): Promise<string> =>
    (await list(query)).content.map(({ id }) => id.slice('request-'.length)).join(' ');

  it('has the requests to all shares of a frontdoor and of no other, newest first, page after page', async () => {
    assert.equal(await ids(''), '4 3 2 1');
    const first = await list('?limit=2');
    assert.deepEqual(
      first.content.map(({ id }) => id),
      ['request-4', 'request-3'],
    );
    const second = await list(`?limit=2&cursor=${first.next}`);
    assert.deepEqual([second.content.map(({ id }) => id), second.next], [['request-2', 'request-1'], null]);
    assert.equal((await world.call('GET', `${base()}/requests?cursor=x`)).status, 400);
  });

  it('finds requests by each attribute', async () => {
    const found: Readonly<Record<string, string>> = {
      'outcome=served': '2 1',
      'outcome=unserved': '4 3',
      'outcome=refused&status=403': '3',
      'statusClass=none': '4',
      'method=POST': '2',
      'text=login': '2',
      'text=DENIED': '3',
      'client=203.0.113.9': '3',
      'caller=ann': '1',
      'authProviderId=0D8A64F8-6A52-4F0E-9D5E-4B8C0D1C7A22': '1',
      'code=address-denied': '3',
      'minMs=1500': '4',
      'host=APP.share.localhost&shareToken=app&limit=1': '4',
      'shareToken=gone': '',
      'from=2023-11-14T22:13:19.002Z': '4',
      'to=2023-11-14T22:13:19.001Z': '1',
    };
    for (const [query, expected] of Object.entries(found))
      assert.equal(await ids(`?${query}`), expected, query);
  });

  it('explains one request, and finds none of another frontdoor', async () => {
    const { body } = await world.call('GET', `${base()}/requests/request-3`);
    const { remedy, timingsMs, ...rest } = body as LoggedRequestAnswer;
    assert.ok(remedy !== null && remedy !== '');
    assert.deepEqual(timingsMs, { decided: 0.1, circuit: 2.5, firstByte: null, done: 30.25 });
    assert.deepEqual(rest, {
      id: 'request-3',
      at: '2023-11-14T22:13:19.001Z',
      shareToken: 'app',
      outcome: 'refused',
      status: 403,
      method: 'GET',
      host: 'app.share.localhost',
      path: '/orders',
      client: '203.0.113.9',
      caller: null,
      authProviderId: null,
      decision: 'open',
      code: 'address-denied',
      hop: 'client',
      cause: 'the address is denied',
      traceId: null,
      gatewayId: 'gateway',
      bytesIn: 5,
      bytesOut: 6,
      leftOut: 0,
    });
    for (const id of ['request-5', 'missing'])
      assert.equal((await world.call('GET', `${base()}/requests/${id}`)).status, 404);
    const { authorization } = world.other;
    assert.equal((await world.call('GET', `${base()}/requests`, { authorization })).status, 403);
  });

  it('is exported as lines of JSON and as CSV, in which no text is a formula', async () => {
    const lines = await exported('outcome=served');
    const entries = lines.body.trimEnd().split('\n');
    assert.deepEqual(
      entries.map((line) => JSON.parse(line) as unknown),
      (await list('?outcome=served')).content,
    );
    const csv = await exported('format=csv&outcome=client-gone');
    assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8');
    const [names, entry, end] = csv.body.split('\r\n');
    assert.match(names!, /^at,id,share,outcome,/);
    assert.match(entry!, /,"'=cmd\(""x""\)",/);
    assert.equal(end, '');
  });

  it('is exported twice at once by an organization, which keeps no other one waiting', async () => {
    const begin = async (organizationId: string) => {
      const frontdoor = { id: world.first.frontdoorId, organizationId } as GrantedFrontdoor;
      const call = { frontdoor, query: {} } as Call<undefined, 'frontdoorId'>;
      const { raw } = await requestLogHandlers.exportRequests(world, call);
      return raw!.data as Readable;
    };
    const running = [await begin('one'), await begin('one'), await begin('other')];
    await assert.rejects(begin('one'), { code: 'rate-limited' });
    const closed = once(running[0]!, 'close');
    running[0]!.destroy();
    await closed;
    running.push(await begin('one'));
    for (const each of running) each.destroy();
  });

  it('is kept as an operator sets it, and no other caller can', async () => {
    const path = `${base()}/request-log`;
    const { body } = await world.call('GET', path);
    const { usedBytes, ...defaults } = body as RequestLogAnswer;
    assert.ok(usedBytes > 800);
    assert.deepEqual(defaults, {
      enabled: true,
      keptHours: 24,
      maxEntries: 100_000,
      maxMebibytes: 64,
      entries: 4,
    });
    const wanted = { enabled: true, keptHours: 72, maxEntries: 200_000, maxMebibytes: 128 };
    const set = await world.call('PUT', path, { body: wanted });
    assert.equal(set.status, 200, set.text);
    assert.deepEqual((await world.call('GET', path)).body, { ...wanted, entries: 4, usedBytes });
    const { authorization } = await world.addAccount(
      world.first.organizationId,
      'frontdoor.read frontdoor.write frontdoor.organization',
    );
    const refused = await world.call('PUT', path, { body: wanted, authorization });
    assert.equal(refused.status, 403);
    assert.equal((await world.call('PUT', path, { body: { enabled: true, keptHours: 721 } })).status, 400);
  });
});
