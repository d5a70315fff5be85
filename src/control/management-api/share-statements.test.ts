import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeEachStore, type OpenStore } from '../store/engine/each-store-suite.ts';
import { statementsOf } from '../store/engine/statement-log-fixture.ts';
import { openApiWorld, type ApiWorld, type CallOptions } from './api-fixture.ts';

/** Counted from `begin` on, with what the overlay's model reads after the commit. What proves the caller comes before. */
const MOST_STATEMENTS = 12;
/** On PostgreSQL the other control planes are notified too. */
const MOST_OF_A_REPLACEMENT = 13;
/** A share that moves to other frontends has names to give up and names to claim. */
const MOST_OF_A_MOVE = 17;

interface ShareWorld {
  readonly world: ApiWorld;
  readonly shares: string;
  readonly environmentId: string;
  /** The default one. The other frontend has the id `second`. */
  readonly frontendId: string;
  readonly providerIds: readonly string[];
}

async function openShareWorld(open: OpenStore): Promise<ShareWorld> {
  const world = await openApiWorld({ open });
  const root = `/frontdoor/${world.first.frontdoorId}`;
  const environmentId = await world.addEnvironment('edge');
  const { id: frontendId } = await world.store.db
    .selectFrom('frontend')
    .select('id')
    .executeTakeFirstOrThrow();
  const second = {
    id: 'second',
    public_name: 'second',
    zone: 'second.example',
    is_default: 0,
    created_at: 0,
  };
  await world.store.db.insertInto('frontend').values(second).execute();
  const providerIds: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    const data = { placement: 'bearer', keys: [{ name: 'k' }] };
    const made = await world.call('POST', `${root}/auth-providers`, {
      body: { name, type: 'API_KEY', data },
    });
    providerIds.push((made.body as { id: string }).id);
  }
  return { world, shares: `${root}/shares`, environmentId, frontendId, providerIds };
}

describeEachStore('the statements of a change', (open) => {
  let world: ApiWorld;
  let shares: string;
  let environmentId: string;
  let neighbourId: string;
  let frontendId: string;
  let providerIds: readonly string[];
  before(async () => {
    ({ world, shares, environmentId, frontendId, providerIds } = await openShareWorld(open));
    neighbourId = await world.addEnvironment('neighbour');
  });
  after(() => world.close());

  const newShare = (more: object = {}) => ({
    ...{ environmentId, shareMode: 'public', backendMode: 'proxy', target: 'http://127.0.0.1:1' },
    ...more,
  });
  async function made(more: object): Promise<string> {
    const { status, body, text } = await world.call('POST', shares, { body: newShare(more) });
    assert.equal(status, 201, text);
    return `${shares}/${(body as { token: string }).token}`;
  }
  async function countOf(method: string, path: string, options?: CallOptions): Promise<number> {
    const statements = await statementsOf(async () => {
      const { status, text } = await world.call(method, path, options);
      assert.ok(status < 300, text);
    });
    const begin = statements.findIndex((text) => text.startsWith('begin'));
    return statements.slice(begin).length;
  }

  const changes: readonly (readonly [
    what: string,
    share: () => object,
    change: () => object,
    most: number,
  ])[] = [
    ['its target', () => ({}), () => ({ target: 'http://127.0.0.1:2' }), MOST_STATEMENTS],
    ['whether it is reserved', () => ({}), () => ({ reserved: true }), MOST_STATEMENTS],
    [
      'all that it has, sent back with another target',
      () => ({ name: 'whole' }),
      () => ({ ...newShare({ name: 'whole' }), target: 'http://127.0.0.1:2', frontendIds: [frontendId] }),
      MOST_STATEMENTS,
    ],
    ['its first auth provider', () => ({}), () => ({ authProviderIds: [providerIds[0]] }), MOST_STATEMENTS],
    ['its first grant', () => ({ shareMode: 'private' }), () => ({ grants: [neighbourId] }), MOST_STATEMENTS],
    [
      'a grant in place of another',
      () => ({ shareMode: 'private', grants: [neighbourId] }),
      () => ({ grants: [environmentId] }),
      MOST_OF_A_REPLACEMENT,
    ],
    [
      'an auth provider in place of another',
      () => ({ authProviderIds: [providerIds[0]] }),
      () => ({ authProviderIds: [providerIds[1]] }),
      MOST_OF_A_REPLACEMENT,
    ],
    ['its mode to private', () => ({}), () => ({ shareMode: 'private' }), MOST_OF_A_REPLACEMENT],
    ['its mode to public', () => ({ shareMode: 'private' }), () => ({ shareMode: 'public' }), MOST_OF_A_MOVE],
    ['its frontends', () => ({}), () => ({ frontendIds: ['second'] }), MOST_OF_A_MOVE],
  ];

  for (const [what, share, change, most] of changes) {
    it(`of a share are at most ${most}: ${what}`, async (t) => {
      const path = await made(share());
      const statements = await countOf('PATCH', path, { body: change() });
      t.diagnostic(`${statements} statements`);
      assert.ok(statements <= most, `${statements} statements`);
    });
  }

  const siblings: readonly (readonly [
    method: string,
    suffix: string,
    body: object | undefined,
    most: number,
  ])[] = [
    ['PUT', '/policy', { emails: ['*@example.com'] }, 11],
    ['PUT', '/inspector', { enabled: true }, 11],
    ['DELETE', '', undefined, 11],
  ];

  for (const [method, suffix, body, most] of siblings) {
    it(`of its sibling ${method} …/{token}${suffix} are at most ${most}`, async (t) => {
      const statements = await countOf(method, (await made({})) + suffix, { body });
      t.diagnostic(`${statements} statements`);
      assert.ok(statements <= most, `${statements} statements`);
    });
  }

  it('of a new share are at most 14', async (t) => {
    const statements = await countOf('POST', shares, { body: newShare() });
    t.diagnostic(`${statements} statements`);
    assert.ok(statements <= 14, `${statements} statements`);
  });
});

describeEachStore('the answer to a change of a share', (open) => {
  let world: ApiWorld;
  let shares: string;
  let environmentId: string;
  let frontendId: string;
  let providerIds: readonly string[];
  before(async () => {
    ({ world, shares, environmentId, frontendId, providerIds } = await openShareWorld(open));
    const body = { hostname: 'apps.example.com', frontendId, authProviderIds: [providerIds[2]] };
    const path = `/frontdoor/${world.first.frontdoorId}/custom-frontends`;
    assert.equal((await world.call('POST', path, { body })).status, 201);
  });
  after(() => world.close());

  it('is what is stored then: as a read answers it, with the same entity tag, and as the model has it', async () => {
    const [one, two] = providerIds;
    const grants = [await world.addEnvironment('b'), await world.addEnvironment('a')];
    const body = { environmentId, shareMode: 'public', backendMode: 'proxy', target: 'http://127.0.0.1:1' };
    const made = await world.call('POST', shares, { body: { ...body, name: 'app' } });
    assert.equal(made.status, 201, made.text);
    const path = `${shares}/app`;
    for (const change of [
      {},
      { target: 'http://127.0.0.1:2' },
      { authProviderIds: [one] },
      { authProviderIds: [two, one] },
      { authProviderIds: [one, two, one!.toUpperCase()] },
      { authProviderIds: [two] },
      { authProviderIds: [] },
      { frontendIds: ['second'] },
      { frontendIds: ['second', frontendId] },
      { frontendIds: [frontendId, 'second'], authProviderIds: [one] },
      { frontendIds: [] },
      { shareMode: 'private' },
      { grants },
      { grants: [grants[0], environmentId] },
      { grants: [environmentId, grants[0], environmentId], target: 'http://127.0.0.1:3' },
      { shareMode: 'public', frontendIds: ['second'] },
      { shareMode: 'private', grants },
      { shareMode: 'public' },
      { reserved: false },
    ]) {
      const changed = await world.call('PATCH', path, { body: change });
      assert.equal(changed.status, 200, changed.text);
      const read = await world.call('GET', path);
      const what = JSON.stringify(change);
      assert.equal(changed.text, read.text, what);
      assert.equal(changed.headers['etag'], read.headers['etag'], what);
      const { frontendEndpoints, authProviderIds } = read.body as {
        frontendEndpoints: string[];
        authProviderIds: string[];
      };
      const service = [...world.model.services()].find(({ name }) => name === 'app')!;
      const hosts = [...service.hosts, ...service.customHosts.map(({ host }) => host)];
      assert.deepEqual(
        frontendEndpoints,
        hosts.map((host) => `http://${host}:8080`),
        what,
      );
      assert.deepEqual(service.authProviderIds, authProviderIds, what);
    }
  });
});
