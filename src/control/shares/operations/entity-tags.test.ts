// Entity tags: what they name, when they change, and that of those who change the same thing at once one alone continues.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import {
  entityTagKindOf,
  openApiDocument,
  operations,
  takesIdempotencyKey,
  takesIfMatch,
  type Operation,
} from '#contract';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openStore, type Store } from '../../store/mod.ts';
import { openApiWorld, type ApiWorld, type CallAnswer } from './api-fixture.ts';
import { createManagementApi } from './management-api.ts';

const RACERS = 50;
const rows = operations as readonly Operation[];

function tagOf({ headers, status, text }: CallAnswer): string {
  assert.ok(status < 300, text);
  assert.match(String(headers['etag']), /^"[A-Za-z0-9_-]{22}"$/);
  return String(headers['etag']);
}

function errorOf({ body }: CallAnswer): string {
  return (body as { error: string }).error;
}

describeEachStore('entity tags', (_open, newPlace) => {
  let world: ApiWorld;
  let base: string;
  let environmentId: string;
  const call: ApiWorld['call'] = (...args) => world.call(...args);
  const when = (tag: string) => ({ headers: { 'if-match': tag } });

  /** Another control plane over the same database, where there can be one; else the same. */
  let peer: FastifyInstance;
  let peerStore: Store | undefined;

  before(async () => {
    const place = await newPlace();
    world = await openApiWorld({ open: (options) => openStore({ ...place, ...options }) });
    peerStore = world.store.isShared ? await openStore(place) : undefined;
    peer = await createManagementApi({ ...world.options, store: peerStore ?? world.store });
    base = `/frontdoor/${world.first.frontdoorId}`;
    environmentId = await world.addEnvironment('host');
  });
  after(async () => {
    await peer.close();
    await peerStore?.close();
    await world.close();
  });

  async function askPeer(method: string, url: string, tag: string, body: object | undefined) {
    const headers = {
      authorization: world.authorization,
      'if-match': tag,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
    const asked = { method: method as 'PATCH', url, headers, ...payload };
    const { statusCode: status, body: text, headers: given } = await peer.inject(asked);
    return { status, text, headers: given, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  }

  async function newShare(name: string): Promise<string> {
    const body = { name, environmentId, shareMode: 'public', backendMode: 'proxy', target: 'http://a:1' };
    const made = await call('POST', `${base}/shares`, { body });
    assert.equal(made.status, 201, made.text);
    return `${base}/shares/${name}`;
  }

  async function newProvider(): Promise<string> {
    const data = { issuer: 'https://id.example', client_id: 'a', client_secret: 'first secret' };
    const body = { name: 'p', type: 'OIDC', data };
    const made = await call('POST', `${base}/auth-providers`, { body });
    return `${base}/auth-providers/${(made.body as { id: string }).id}`;
  }

  it('are the same in the answer of a creation, a change and a read', async () => {
    const { organizationId } = world.first;
    const creations: [path: string, body: object, change?: object][] = [
      [
        `${base}/shares`,
        { name: 'same', environmentId, shareMode: 'public', backendMode: 'proxy', target: 'http://a:1' },
        { target: 'http://a:2' },
      ],
      [
        `${base}/auth-providers`,
        { name: 'k', type: 'API_KEY', data: { placement: 'bearer', keys: [{ name: 'b' }, { name: 'a' }] } },
        { name: 'l' },
      ],
      [
        `${base}/auth-providers`,
        {
          name: 'o',
          type: 'OIDC',
          data: { issuer: 'https://id.example', client_id: 'a', client_secret: 's' },
        },
        { data: { client_secret: 't' } },
      ],
      ['/frontdoor', { name: 'another', organizationId }],
      ['/organizations', { name: 'another' }, { name: 'renamed' }],
      ['/api-accounts', { name: 'a', organizationId }],
      ['/oauth-clients', { name: 'c', organizationId }],
      ['/fabric/services', { name: 'service' }, { terminatorStrategy: 'random' }],
      ['/fabric/routers', { name: 'router' }],
    ];
    for (const [path, body, change] of creations) {
      const made = await call('POST', path, { body });
      const at = new URL(String(made.headers['location'])).pathname;
      const tag = tagOf(made);
      assert.equal(tagOf(await call('GET', at)), tag, path);
      if (change === undefined) continue;
      const changed = tagOf(await call('PATCH', at, { body: change, ...when(tag) }));
      assert.notEqual(changed, tag, path);
      assert.equal(tagOf(await call('GET', at)), changed, path);
    }
    const settings = `/organizations/${organizationId}/settings`;
    const tag = tagOf(await call('GET', settings));
    const put = await call('PATCH', settings, { body: { tokenExchange: true }, ...when(tag) });
    assert.equal(tagOf(put), tagOf(await call('GET', settings)));
  });

  it('change with a secret that nobody sees, and give none of it away; use and measurement change nothing', async () => {
    const provider = await newProvider();
    const tag = tagOf(await call('GET', provider));
    const masked = await call('GET', provider);
    assert.equal(tagOf(await call('PUT', provider, { body: masked.body })), tag, 'what was read, put back');
    const secret = await call('PATCH', provider, { body: { data: { client_secret: 'second secret' } } });
    assert.notEqual(tagOf(secret), tag);
    assert.deepEqual((await call('GET', provider)).body, masked.body);

    const policy = `${await newShare('tagged')}/policy`;
    const user = (password: string) => ({ body: { basicAuth: [{ name: 'ann', password }] } });
    const one = tagOf(await call('PUT', policy, user('a long password')));
    const two = tagOf(await call('PUT', policy, user('another password')));
    assert.notEqual(one, two);
    const read = await call('GET', policy);
    assert.equal(tagOf(read), two);
    assert.equal(tagOf(await call('PUT', policy, { body: read.body })), two);

    const share = `${base}/shares/tagged`;
    const before = tagOf(await call('GET', share));
    const [{ id } = { id: '' }] = await world.store.db
      .selectFrom('share')
      .select('id')
      .where('token', '=', 'tagged')
      .execute();
    world.connected.add(environmentId);
    world.statuses.set(id, { state: 'DEPLOYED' });
    assert.equal(tagOf(await call('GET', share)), before);
    assert.equal((await call('GET', share, { headers: { 'if-none-match': before } })).status, 200);
  });

  it('that are not those of now refuse a change with 412, and leave all as it was', async () => {
    const share = await newShare('held');
    const tag = tagOf(await call('GET', share));
    const events = () => call('GET', '/audit-events?targetId=held').then(({ text }) => text);
    const before = await events();
    for (const stale of ['"other"', `W/${tag}`, `"a", W/${tag} , "b"`, ', "x"']) {
      const refused = await call('PATCH', share, { body: { target: 'http://b:1' }, ...when(stale) });
      assert.equal(refused.status, 412, stale);
      assert.equal(errorOf(refused), 'precondition_failed');
      assert.equal((await call('DELETE', share, when(stale))).status, 412);
      assert.equal((await call('GET', share, when(stale))).status, 412);
    }
    assert.equal(await events(), before);
    for (const bad of ['', 'x', tag.slice(1), '"a" "b"', '*, "a"', 'w/"a"']) {
      const refused = await call('PATCH', share, { body: { target: 'http://b:1' }, ...when(bad) });
      assert.deepEqual(
        [refused.status, (refused.body as { message: string }).message],
        [400, 'Value for If-Match must be of * or a list of entity tags'],
        bad,
      );
    }
    assert.equal(tagOf(await call('GET', share)), tag);
    for (const good of [tag, `"a", ${tag}`, `${tag},`, '*', ' * ']) {
      const target = `http://b:${good.length + 1}`;
      assert.equal((await call('PATCH', share, { body: { target }, ...when(good) })).status, 200, good);
      await call('PATCH', share, { body: { target: 'http://a:1' } });
    }
    const unless = { headers: { 'if-none-match': '*' } };
    assert.equal((await call('PATCH', share, { body: { target: 'http://b:1' }, ...unless })).status, 412);
    assert.equal((await call('DELETE', share, when(tag))).status, 204);
    assert.equal((await call('DELETE', share, when('*'))).status, 404);
  });

  it('answer a read of what one holds already by 304, where the tag names the whole answer', async () => {
    const policy = `${await newShare('whole')}/policy`;
    const tag = tagOf(await call('GET', policy));
    for (const held of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const { status, text, headers } = await call('GET', policy, { headers: { 'if-none-match': held } });
      assert.deepEqual([status, text, headers['etag']], [304, '', tag]);
    }
    await call('PUT', policy, { body: { basicAuth: [{ name: 'bob', password: 'a long password' }] } });
    assert.equal((await call('GET', policy, { headers: { 'if-none-match': tag } })).status, 200);
    assert.equal((await call('HEAD', policy)).headers['etag'], tagOf(await call('GET', policy)));
  });

  it('are refused where there is none, rather than ignored', async () => {
    const body = { name: 'x', organizationId: world.first.organizationId };
    const refused = await call('POST', '/frontdoor', { body, ...when('*') });
    assert.deepEqual([refused.status, errorOf(refused)], [400, 'invalid_request']);
  });

  it('allow one change of 50 callers that read the same resource, of any kind, at any control plane', async () => {
    const frontend = ((await call('GET', `${base}/frontends`)).body as { id: string }[])[0]!.id;
    const service = await call('POST', '/fabric/services', { body: { name: 'raced' } });
    const organization = await call('POST', '/organizations', { body: { name: 'raced' } });
    const organizationPath = `/organizations/${(organization.body as { id: string }).id}`;
    const hostname = 'raced.example.com';
    const custom = await call('POST', `${base}/custom-frontends`, {
      body: { hostname, frontendId: frontend },
    });
    const share = await newShare('raced');
    const provider = await newProvider();
    const races: [method: string, path: string, body: (at: number) => object | undefined][] = [
      ['PATCH', share, (at) => ({ target: `http://raced:${at + 1}` })],
      ['PUT', `${share}/policy`, (at) => ({ ipAllow: [`10.0.0.${at}/32`] })],
      ['PUT', `${share}/inspector`, (at) => ({ enabled: true, maxBodyBytes: at + 1 })],
      ['PATCH', provider, (at) => ({ name: `p${at}` })],
      ['PATCH', organizationPath, (at) => ({ name: `o${at}` })],
      ['PATCH', `/fabric/services/${(service.body as { id: string }).id}`, (at) => ({ name: `s${at}` })],
      ['DELETE', `${base}/custom-frontends/${(custom.body as { id: string }).id}`, () => undefined],
      ['DELETE', share, () => undefined],
    ];
    for (const [method, path, bodyOf] of races) {
      const tag = tagOf(await call('GET', path));
      const answers = await Promise.all(
        Array.from({ length: RACERS }, (_, at) => {
          const body = bodyOf(at);
          return at % 2 === 0 ? askPeer(method, path, tag, body) : call(method, path, { body, ...when(tag) });
        }),
      );
      const won = answers.filter(({ status }) => status < 300);
      assert.equal(won.length, 1, `${method} ${path}`);
      const lost = method === 'DELETE' ? 404 : 412;
      assert.equal(answers.filter(({ status }) => status === lost).length, RACERS - 1, `${method} ${path}`);
      if (method !== 'DELETE') assert.equal(tagOf(await call('GET', path)), tagOf(won[0]!));
    }
  });
});

describe('the table of conditional requests', () => {
  it('is as the description states: headers, and 412 where a change may be refused', () => {
    const { paths } = openApiDocument({ baseUrl: 'https://a.example', authUrl: 'https://a.example' });
    for (const row of rows) {
      const { parameters = [], responses } = paths[row.path]![row.method.toLowerCase()]!;
      const names = parameters.filter((each) => each['in'] === 'header').map((each) => each['name']);
      assert.equal(names.includes('If-Match'), takesIfMatch(row), row.id);
      assert.equal('412' in responses, takesIfMatch(row), row.id);
      assert.equal(names.includes('Idempotency-Key'), takesIdempotencyKey(row), row.id);
      if (takesIdempotencyKey(row)) assert.ok('409' in responses, row.id);
      const isWholeRead = row.method === 'GET' && entityTagKindOf(row) === 'whole';
      assert.equal(names.includes('If-None-Match'), isWholeRead, row.id);
      assert.equal('304' in responses, isWholeRead, row.id);
      const { headers = {} } = responses[row.answer.status] as { headers?: object };
      assert.equal('ETag' in headers, entityTagKindOf(row) !== undefined, row.id);
    }
  });

  it('has an entity tag for every resource that is read, replaced or changed', () => {
    /** Measured at the moment of the answer, or not a thing that anybody changes. */
    const without = new Set([
      'getAgentStatus',
      'getAgentVersion',
      'getBootstrapToken',
      'getTokenKeys',
      'getOriginKeys',
      'getIssuerMetadata',
      'getFrontdoorMetrics',
      'getFrontdoorSparklines',
      'getEnvironmentMetrics',
      'search',
      'getShareMetrics',
      'getShareSparklines',
      'getBusiestShares',
      'getFrontdoorSummary',
      'getFrontdoorAttention',
      'getInstallationSummary',
      'followChanges',
      'followFrontdoorChanges',
      'followInstallationChanges',
      'getBackup',
      'exportRequests',
      'verifyAuditEvents',
      'getInstallation',
      'checkDnsRecords',
      'getShareDomain',
      'checkShareDomain',
      'getAuthProviderUses',
      'getPolicyUses',
      'getMesh',
      'getRoute',
      'getSecondFactor',
      'getAuthorities',
      'getSealingKey',
    ]);
    for (const row of rows) {
      const isOne = row.method === 'GET' && !row.id.startsWith('list');
      const isWritten = row.method === 'PUT' || row.method === 'PATCH';
      if (isOne || isWritten) assert.equal(entityTagKindOf(row) !== undefined, !without.has(row.id), row.id);
    }
  });

  it('honours If-Match wherever what has an entity tag is changed or deleted', () => {
    const tagged = new Set(rows.filter((row) => entityTagKindOf(row) !== undefined).map(({ path }) => path));
    tagged.add('/frontdoor/{frontdoorId}/agents/{agentId}');
    tagged.add('/fabric/gateways/{id}');
    // By the tag of the person.
    tagged.add('/people/{id}/second-factor');
    for (const row of rows) {
      const isChange = ['PUT', 'PATCH', 'DELETE'].includes(row.method);
      assert.equal(takesIfMatch(row), isChange && tagged.has(row.path), row.id);
    }
  });
});
