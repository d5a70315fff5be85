// One search over every resource that a caller may see, and over no other.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { SearchResultAnswer } from '#contract/schemas';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

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
  const namesIn = ({ results }: SearchResultAnswer) => results.map(({ kind, name }) => `${kind} ${name}`);

  it('finds resources of each kind by a part of the name, in either case, an exact name first', async () => {
    const found = await search('BLUE');
    assert.equal(found.more, false);
    assert.deepEqual(namesIn(found).toSorted(), [
      'auth-provider Blue keys',
      'environment Blue laptop',
      'frontdoor Blue door',
      'organization Blue Inc',
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
    assert.deepEqual([nine.results.length, nine.more], [10, false]);
  });

  it('finds a share by its domains', async () => {
    const { frontdoorId } = world.first;
    const domains = `/frontdoor/${frontdoorId}/shares/green/domains`;
    for (const hostname of ['shop.teal.example', 'www.teal.example']) {
      const { status, text } = await world.call('POST', domains, { body: { hostname } });
      assert.equal(status, 201, text);
    }
    assert.deepEqual(await search('WWW.teal'), {
      results: [{ kind: 'share', id: 'green', name: 'www.teal.example', frontdoorId }],
      more: false,
    });
    assert.deepEqual(namesIn(await search('teal')), ['share shop.teal.example', 'share www.teal.example']);
    assert.deepEqual(namesIn(await search('teal', world.other.authorization)), []);
  });

  it('shows only what the caller may see', async () => {
    const { authorization } = await world.addAccount(world.first.organizationId, 'frontdoor.read');
    const kinds = new Set((await search('blue', authorization)).results.map(({ kind }) => kind));
    assert.deepEqual([...kinds].toSorted(), ['auth-provider', 'environment', 'frontdoor', 'share']);
    assert.deepEqual(namesIn(await search('blue', world.other.authorization)), [
      'environment blue of others',
    ]);
    assert.equal((await world.call('GET', '/search')).status, 400);
    assert.equal((await world.call('GET', '/search?q=')).status, 400);
  });
});
