import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeEachStore, type OpenStore } from '../../store/engine/each-store-suite.ts';
import { statementsOf } from '../../store/engine/statement-log-fixture.ts';
import { openApiWorld, type ApiWorld, type CallOptions } from './api-fixture.ts';

/** Counted from `begin` on, with what the overlay's model reads after the commit. What proves the caller comes before. */
const MOST_STATEMENTS = 12;
/** The limit of changes of two lists on PostgreSQL. A change that removes an auth provider reads the policy, too. */
const MOST_OF_TWO_LISTS_TOGETHER = 13;
/**
 * The limit of changes of two lists at once, on the embedded database: it runs each write in a statement of its own,
 * where PostgreSQL runs several in one.
 */
const MOST_OF_TWO_LISTS = 15;

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
  const guarded = { hostname: 'apps.example.com', frontendId, authProviderIds: [providerIds[2]] };
  const custom = await world.call('POST', `${root}/custom-frontends`, { body: guarded });
  assert.equal(custom.status, 201, custom.text);
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
    environmentId,
    shareMode: 'public',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:1',
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
      'a grant instead of another',
      () => ({ shareMode: 'private', grants: [neighbourId] }),
      () => ({ grants: [environmentId] }),
      MOST_STATEMENTS,
    ],
    [
      'an auth provider instead of another',
      () => ({ authProviderIds: [providerIds[0]] }),
      () => ({ authProviderIds: [providerIds[1]] }),
      MOST_STATEMENTS,
    ],
    [
      'the order of its auth providers, and one of them less',
      () => ({ authProviderIds: providerIds }),
      () => ({ authProviderIds: [providerIds[2], providerIds[0]] }),
      MOST_STATEMENTS,
    ],
    ['its mode to private', () => ({}), () => ({ shareMode: 'private' }), MOST_STATEMENTS],
    [
      'its mode to private, with a grant',
      () => ({}),
      () => ({ shareMode: 'private', grants: [neighbourId] }),
      MOST_STATEMENTS,
    ],
    [
      'its mode to public',
      () => ({ shareMode: 'private' }),
      () => ({ shareMode: 'public' }),
      MOST_STATEMENTS,
    ],
    [
      'its mode to public, and the end of its grant',
      () => ({ shareMode: 'private', grants: [neighbourId] }),
      () => ({ shareMode: 'public', frontendIds: ['second'] }),
      MOST_STATEMENTS,
    ],
    ['its frontends', () => ({}), () => ({ frontendIds: ['second'] }), MOST_STATEMENTS],
    [
      'its frontends and its auth provider',
      () => ({ authProviderIds: [providerIds[0]] }),
      () => ({ frontendIds: ['second'], authProviderIds: [providerIds[1]] }),
      MOST_OF_TWO_LISTS,
    ],
    [
      'its mode to public, its frontends, its auth provider, and the end of its grant',
      () => ({ shareMode: 'private', grants: [neighbourId], authProviderIds: [providerIds[0]] }),
      () => ({ shareMode: 'public', frontendIds: ['second'], authProviderIds: [providerIds[1]] }),
      MOST_OF_TWO_LISTS,
    ],
    [
      'its mode to private, with a grant and another auth provider',
      () => ({ authProviderIds: [providerIds[0]] }),
      () => ({ shareMode: 'private', grants: [neighbourId], authProviderIds: [providerIds[1]] }),
      MOST_OF_TWO_LISTS,
    ],
    ['one more frontend', () => ({}), () => ({ frontendIds: [frontendId, 'second'] }), MOST_STATEMENTS],
    [
      'its frontends to the default one',
      () => ({ frontendIds: ['second'] }),
      () => ({ frontendIds: [] }),
      MOST_STATEMENTS,
    ],
  ];

  for (const [what, share, change, mostEmbedded] of changes) {
    it(`of a share are at most ${mostEmbedded}: ${what}`, async (t) => {
      const most = world.store.isShared ? Math.min(mostEmbedded, MOST_OF_TWO_LISTS_TOGETHER) : mostEmbedded;
      const path = await made(share());
      const statements = await countOf('PATCH', path, { body: change() });
      t.diagnostic(`${statements} statements`);
      assert.ok(statements <= most, `${statements} statements`);
    });
  }

  const siblings: readonly (readonly [
    method: string,
    suffix: string,
    share: () => object,
    body: object | undefined,
    most: number,
  ])[] = [
    // One more than others: a share that uses a shared policy has no rules of its own.
    ['PUT', '/policy', () => ({}), { ipDeny: ['192.0.2.0/24'] }, 10],
    ['PUT', '/inspector', () => ({}), { enabled: true }, 9],
    ['DELETE', '', () => ({}), undefined, 9],
    ['DELETE', '', () => ({ shareMode: 'private', grants: [neighbourId] }), undefined, 9],
  ];

  for (const [method, suffix, share, body, most] of siblings) {
    it(`of its sibling ${method} …/{token}${suffix} are at most ${most}`, async (t) => {
      const statements = await countOf(method, (await made(share())) + suffix, { body });
      t.diagnostic(`${statements} statements`);
      assert.ok(statements <= most, `${statements} statements`);
    });
  }

  const creations: readonly (readonly [what: string, share: () => object, key: object, most: number])[] = [
    ['as it comes', () => ({}), {}, 11],
    ['private, with a grant', () => ({ shareMode: 'private', grants: [neighbourId] }), {}, 9],
    [
      'on two frontends, with auth providers',
      () => ({ frontendIds: [frontendId, 'second'], authProviderIds: providerIds }),
      {},
      MOST_STATEMENTS,
    ],
    ['with an Idempotency-Key', () => ({}), { 'idempotency-key': 'once' }, 16],
  ];

  for (const [what, share, key, most] of creations) {
    it(`of a new share are at most ${most}: ${what}`, async (t) => {
      const statements = await countOf('POST', shares, { body: newShare(share()), headers: { ...key } });
      t.diagnostic(`${statements} statements`);
      assert.ok(statements <= most, `${statements} statements`);
    });
  }
});

describeEachStore('the answer to a change of a share', (open) => {
  let world: ApiWorld;
  let shares: string;
  let environmentId: string;
  let frontendId: string;
  let providerIds: readonly string[];
  before(async () => {
    ({ world, shares, environmentId, frontendId, providerIds } = await openShareWorld(open));
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
      const service = [...world.catalog.all()].find(({ token }) => token === 'app')!;
      const hosts = [...service.frontends, ...service.customHosts].map(({ host }) => host);
      assert.deepEqual(
        frontendEndpoints,
        hosts.map((host) => `http://${host}:8080`),
        what,
      );
      assert.deepEqual(service.authProviderIds, authProviderIds, what);
    }
  });
});
