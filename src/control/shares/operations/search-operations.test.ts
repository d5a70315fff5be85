// One search over every resource that a caller may see, and over no other.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { SearchResultAnswer } from '#contract/schemas';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { insertPerson } from '../../credentials/people/mod.ts';
import { putFailures } from '../records/request-record-store.ts';
import { putUnroutedFailures } from '../records/unrouted-failure-store.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

const FAILURE = {
  at: Date.UTC(2026, 4, 12),
  shareId: 'a share that is gone',
  frontdoorId: '',
  status: 502,
  code: 'no-answer',
  hop: 'service',
  cause: 'connection refused',
  method: 'GET',
  host: 'crm.example',
  path: '/',
  client: '192.0.2.7',
  identity: null,
  decision: 'open',
  traceId: null,
  timings: { decidedMs: 1, circuitMs: null, firstByteMs: null, doneMs: 1 },
} as const;

describeEachStore('a search', (open) => {
  let world: ApiWorld;
  let environmentId: string;
  before(async () => {
    world = await openApiWorld({ open });
    const { frontdoorId, organizationId } = world.first;
    environmentId = await world.addEnvironment('Blue laptop');
    await world.addEnvironment('blue of others', world.other.frontdoorId);
    const make = async (path: string, body: object) => {
      const { status, text } = await world.call('POST', path, { body });
      assert.equal(status, 201, text);
    };
    const share = { environmentId, shareMode: 'public', backendMode: 'proxy', target: 'http://127.0.0.1:1' };
    for (const name of ['blue', 'a-blue', 'green'])
      await make(`/frontdoor/${frontdoorId}/shares`, { ...share, name });
    const data = { placement: 'header', name: 'X-Key', keys: [{ name: 'ci' }] };
    await make(`/frontdoor/${frontdoorId}/auth-providers`, { name: 'Blue keys', type: 'API_KEY', data });
    await make(`/frontdoor/${frontdoorId}/policies`, { name: 'Blue staff' });
    await make('/frontdoor', { name: 'Blue door', organizationId });
    await make('/fabric/routers', { name: 'blue-router' });
    await make('/organizations', { name: 'Blue Inc' });
  });
  after(() => world.close());

  const search = async (q: string, authorization = world.authorization): Promise<SearchResultAnswer> => {
    const answer = await world.call('GET', `/search?q=${encodeURIComponent(q)}`, { authorization });
    assert.equal(answer.status, 200, answer.text);
    return answer.body as SearchResultAnswer;
  };
  const resourcesIn = ({ results }: SearchResultAnswer) =>
    results.filter(({ kind }) => kind !== 'audit-event');
  const namesIn = (found: SearchResultAnswer) =>
    resourcesIn(found).map(({ kind, name }) => `${kind} ${name}`);

  it('finds resources of each kind by a part of the name, in either case, an exact name first', async () => {
    const found = await search('BLUE');
    assert.deepEqual(namesIn(found).toSorted(), [
      'auth-provider Blue keys',
      'environment Blue laptop',
      'frontdoor Blue door',
      'organization Blue Inc',
      'policy Blue staff',
      'router blue-router',
      'share a-blue',
      'share blue',
    ]);
    assert.deepEqual(
      namesIn(found).filter((name) => name.startsWith('share')),
      ['share blue', 'share a-blue'],
    );
    assert.deepEqual(namesIn(await search(environmentId)), ['environment Blue laptop']);
    assert.deepEqual(namesIn(await search('%')), []);
  });

  it('finds the first ten of a kind by name, wherever they were made, and reports that there are more', async () => {
    const { frontdoorId } = world.first;
    const names = Array.from({ length: 14 }, (_, at) => `many-${String((at * 5) % 14).padStart(2, '0')}`);
    const share = { environmentId, shareMode: 'private', backendMode: 'proxy', target: 'http://127.0.0.1:1' };
    for (const name of [...names, 'many']) {
      const { status } = await world.call('POST', `/frontdoor/${frontdoorId}/shares`, {
        body: { ...share, name },
      });
      assert.equal(status, 201);
    }
    const found = await search('many');
    assert.equal(found.more, true);
    const first = names.toSorted().slice(0, 9);
    assert.deepEqual(
      namesIn(found),
      ['many', ...first].map((name) => `share ${name}`),
    );
    const nine = await search('many-0');
    assert.equal(resourcesIn(nine).length, 10);
  });

  it('finds a share by its domains', async () => {
    const { frontdoorId } = world.first;
    const domains = `/frontdoor/${frontdoorId}/shares/green/domains`;
    for (const hostname of ['shop.teal.example', 'www.teal.example']) {
      const { status, text } = await world.call('POST', domains, { body: { hostname } });
      assert.equal(status, 201, text);
    }
    assert.deepEqual(resourcesIn(await search('WWW.teal')), [
      { kind: 'share', id: 'green', name: 'www.teal.example', detail: 'green', at: null, frontdoorId },
    ]);
    assert.deepEqual(namesIn(await search('teal')), ['share shop.teal.example', 'share www.teal.example']);
    assert.deepEqual(namesIn(await search('teal', world.other.authorization)), []);
  });

  it('finds a share by its target, and people, accounts and clients for who administers them', async () => {
    const { frontdoorId, organizationId } = world.first;
    const created = async (path: string, body: object) => {
      const { status, text, body: made } = await world.call('POST', path, { body });
      assert.equal(status, 201, text);
      return (made as { readonly id: string }).id;
    };
    const share = { environmentId, shareMode: 'public', backendMode: 'proxy', name: 'crm' };
    await created(`/frontdoor/${frontdoorId}/shares`, { ...share, target: 'http://10.9.8.7:8080' });
    assert.deepEqual(resourcesIn(await search('10.9.8.7:80')), [
      { kind: 'share', id: 'crm', name: 'crm', detail: 'http://10.9.8.7:8080', at: null, frontdoorId },
    ]);
    const scopes = ['frontdoor.read'];
    const accountId = await created('/api-accounts', { name: 'Violet robot', organizationId, scopes });
    await created('/oauth-clients', { name: 'Violet client', organizationId, scopes });
    await insertPerson(world.store.db, {
      organizationId,
      name: 'Violet',
      email: 'v.parr@example.com',
      role: 'reader',
      nowMs: 0,
    });
    const people = ['person Violet', 'api-account Violet robot', 'oauth-client Violet client'];
    assert.deepEqual(namesIn(await search('violet')), people);
    assert.deepEqual(namesIn(await search('V.PARR@')), ['person Violet']);
    assert.deepEqual(namesIn(await search(accountId)), ['api-account Violet robot']);
    const { authorization } = await world.addAccount(organizationId, 'frontdoor.read frontdoor.write');
    assert.deepEqual(namesIn(await search('violet', authorization)), []);
    assert.deepEqual(namesIn(await search('violet', world.other.authorization)), []);
    const { authorization: administrator } = await world.addAccount(
      organizationId,
      'frontdoor.read frontdoor.organization',
    );
    assert.deepEqual(namesIn(await search('violet', administrator)), people);
  });

  it('finds a failure by its error ID: of the own organization, and without a share for operators', async () => {
    const { frontdoorId } = world.first;
    const failure = { ...FAILURE, id: 'ab'.repeat(12) };
    const unrouted = { ...failure, id: 'cd'.repeat(12), gatewayId: 'g', gatewayName: 'edge' };
    await putFailures(world.store, { records: [failure], frontdoorOf: () => frontdoorId });
    await putUnroutedFailures(world.store, [unrouted]);
    const at = '2026-05-12T00:00:00.000Z';
    const own = { kind: 'failure', id: failure.id, name: failure.id, detail: failure.cause, at, frontdoorId };
    assert.deepEqual(resourcesIn(await search(failure.id.toUpperCase())), [own]);
    assert.deepEqual(namesIn(await search(failure.id.slice(1))), []);
    assert.deepEqual(namesIn(await search(failure.id, world.other.authorization)), []);
    assert.deepEqual(namesIn(await search(unrouted.id)), [`unrouted-failure ${unrouted.id}`]);
    const { authorization } = await world.addAccount(world.first.organizationId, 'frontdoor.read');
    assert.deepEqual(namesIn(await search(unrouted.id, authorization)), []);
  });

  it('finds the latest events by what they concern, the newest first, in the own trail alone', async () => {
    const { frontdoorId } = world.first;
    const { status } = await world.call('DELETE', `/frontdoor/${frontdoorId}/shares/crm`);
    assert.equal(status, 204);
    const eventsIn = ({ results }: SearchResultAnswer) =>
      results.filter(({ kind }) => kind === 'audit-event').map(({ name, detail }) => `${name} ${detail}`);
    const found = await search('crm');
    assert.deepEqual(eventsIn(found), ['deleteShare crm', 'createShare crm']);
    const [event] = found.results;
    assert.deepEqual((await search(event!.id)).results, [event]);
    assert.deepEqual(await search('crm', world.other.authorization), { results: [], more: false });
    assert.deepEqual((await search(event!.id, world.other.authorization)).results, []);
  });

  it('shows only what the caller may see', async () => {
    const { authorization } = await world.addAccount(world.first.organizationId, 'frontdoor.read');
    const kinds = new Set(resourcesIn(await search('blue', authorization)).map(({ kind }) => kind));
    assert.deepEqual([...kinds].toSorted(), ['auth-provider', 'environment', 'frontdoor', 'policy', 'share']);
    assert.deepEqual(namesIn(await search('blue', world.other.authorization)), [
      'environment blue of others',
    ]);
    assert.equal((await world.call('GET', '/search')).status, 400);
    assert.equal((await world.call('GET', '/search?q=')).status, 400);
  });
});
