import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { silentLog } from '#base';
import { releaseShare } from '../records/share-store.ts';
import { RestingNameSweep } from '../records/resting-name-sweep.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openApiWorld, type ApiWorld, type CallAnswer } from './api-fixture.ts';

const DAY_MS = 86_400_000;

describeEachStore('names that were given up', (open) => {
  let world: ApiWorld;
  let root: string;
  let otherRoot: string;
  let environmentId: string;
  let foreignId: string;
  let frontendId: string;
  let secondId: string;
  before(async () => {
    world = await openApiWorld({ open, limits: { writes: { perSecond: 1_000, burst: 10_000 } } });
    root = `/frontdoor/${world.first.frontdoorId}`;
    otherRoot = `/frontdoor/${world.other.frontdoorId}`;
    environmentId = await world.addEnvironment('edge');
    foreignId = await world.addEnvironment('foreign', world.other.frontdoorId);
    ({ id: frontendId } = await world.store.db.selectFrom('frontend').select('id').executeTakeFirstOrThrow());
    secondId = 'second';
    const row = { id: secondId, public_name: 'second', zone: 'Second.example', is_default: 0, created_at: 9 };
    await world.store.db.insertInto('frontend').values(row).execute();
  });
  after(() => world.close());

  const share = { shareMode: 'public', backendMode: 'proxy', target: 'http://127.0.0.1:1' };
  const mine = (name: string | null, more: object = {}): Promise<CallAnswer> =>
    world.call('POST', `${root}/shares`, { body: { ...share, name, environmentId, ...more } });
  const theirs = (name: string, more: object = {}): Promise<CallAnswer> =>
    world.call('POST', `${otherRoot}/shares`, {
      body: { ...share, name, environmentId: foreignId, ...more },
      authorization: world.other.authorization,
    });
  const myHost = (hostname: string): Promise<CallAnswer> =>
    world.call('POST', `${root}/custom-frontends`, { body: { hostname, frontendId } });
  const theirHost = (hostname: string): Promise<CallAnswer> =>
    world.call('POST', `${otherRoot}/custom-frontends`, {
      body: { hostname, frontendId },
      authorization: world.other.authorization,
    });
  const made = async (asked: Promise<CallAnswer>): Promise<{ id: string; token: string }> => {
    const answer = await asked;
    assert.equal(answer.status, 201, answer.text);
    return answer.body as { id: string; token: string };
  };
  const removed = async (path: string, authorization?: string): Promise<void> => {
    const answer = await world.call('DELETE', path, authorization === undefined ? {} : { authorization });
    assert.equal(answer.status, 204, answer.text);
  };
  /** The name is refused as if a share had it. */
  const refused = async (asked: Promise<CallAnswer>, name: string): Promise<void> => {
    const answer = await asked;
    assert.deepEqual(answer.body, { error: 'conflict', message: `Share ${name} already exists` });
    assert.equal(answer.status, 409);
  };

  it('of a deleted share stay with its organization for 30 days, which takes them back at once', async () => {
    await made(mine('kept'));
    await removed(`${root}/shares/kept`);
    await refused(theirs('kept'), 'kept');
    assert.equal((await theirs('kept', { frontendIds: [secondId] })).status, 201, 'another name');
    world.clock.advance(30 * DAY_MS - 1_000);
    await removed(`${otherRoot}/shares/kept`, world.other.authorization);
    await refused(theirs('kept'), 'kept');
    await made(mine('kept'));
    await removed(`${root}/shares/kept`);
    world.clock.advance(30 * DAY_MS - 1_000);
    await refused(theirs('kept'), 'kept');
    world.clock.advance(2_000);
    await made(theirs('kept'));
    await refused(mine('kept'), 'kept');
  });

  it('of a released share, of an environment and of a frontdoor rest as well, for any origin of the name', async () => {
    const gone = await world.addEnvironment('gone');
    const random = await made(mine(null, { environmentId: gone }));
    await made(mine('env-one', { environmentId: gone }));
    await made(mine('released', { environmentId: gone }));
    await world.store.transaction((trx, touch) =>
      releaseShare(trx, touch, { environmentId: gone, token: 'released' }, world.clock.nowMs()),
    );
    await refused(theirs('released'), 'released');
    await removed(`${root}/environments/${gone}`);
    await refused(theirs('env-one'), 'env-one');
    await refused(theirs(random.token), random.token);
    const { organizationId } = world.first;
    const { id } = await made(world.call('POST', '/frontdoor', { body: { name: 'short', organizationId } }));
    const inside = await world.addEnvironment('inside', id);
    await made(
      world.call('POST', `/frontdoor/${id}/shares`, {
        body: { ...share, name: 'whole', environmentId: inside },
      }),
    );
    const whole = await made(
      world.call('POST', `/frontdoor/${id}/custom-frontends`, {
        body: { hostname: 'whole.example', frontendId },
      }),
    );
    await world.grant(whole.id);
    await removed(`/frontdoor/${id}`);
    await refused(theirs('whole'), 'whole');
    assert.equal((await theirHost('whole.example')).status, 409);
    await made(mine('whole'));
    await made(myHost('whole.example'));
  });

  it('that a share leaves by a change rest: made private, or moved to another frontend', async () => {
    await made(mine('moved', { frontendIds: [frontendId, secondId] }));
    const change = (body: object): Promise<CallAnswer> =>
      world.call('PATCH', `${root}/shares/moved`, { body });
    assert.equal((await change({ frontendIds: [secondId] })).status, 200);
    await refused(theirs('moved'), 'moved');
    await refused(theirs('moved', { frontendIds: [secondId] }), 'moved');
    assert.equal((await change({ shareMode: 'private' })).status, 200);
    await refused(theirs('moved', { frontendIds: [secondId] }), 'moved');
    // A private name affects no other organization until it is published.
    await made(theirs('moved', { shareMode: 'private' }));
    const published = await world.call('PATCH', `${otherRoot}/shares/moved`, {
      body: { shareMode: 'public' },
      authorization: world.other.authorization,
    });
    assert.equal(published.status, 409);
    assert.equal((await change({ shareMode: 'public' })).status, 200);
  });

  it('of custom frontends rest with what lies above and below them', async () => {
    const { id } = await made(myHost('apps.example.com'));
    await world.grant(id);
    const live = await theirHost('apps.example.com');
    await removed(`${root}/custom-frontends/${id}`);
    for (const hostname of ['apps.example.com', 'APPS.example.com', 'a.apps.example.com', 'example.com'])
      assert.equal((await theirHost(hostname)).status, 409, hostname);
    assert.deepEqual((await theirHost('apps.example.com')).body, live.body);
    await made(theirHost('other.example.com'));
    await made(myHost('a.apps.example.com'));
    await made(myHost('apps2.example.com'));
  });

  it('of custom frontends that were never proven do not rest', async () => {
    const { id } = await made(myHost('claimed.example.net'));
    await removed(`${root}/custom-frontends/${id}`);
    await made(theirHost('claimed.example.net'));
  });

  it('of a deleted organization rest with nobody', async () => {
    const { id } = await made(world.call('POST', '/organizations', { body: { name: 'short-lived' } }));
    const { authorization } = await world.addAccount(id, 'frontdoor.read frontdoor.write');
    const { id: frontdoorId } = await made(
      world.call('POST', '/frontdoor', { body: { name: 'theirs', organizationId: id }, authorization }),
    );
    const inside = await world.addEnvironment('inside', frontdoorId);
    const body = { ...share, name: 'orphan', environmentId: inside };
    await made(world.call('POST', `/frontdoor/${frontdoorId}/shares`, { body, authorization }));
    await removed(`/frontdoor/${frontdoorId}`, authorization);
    await removed(`/organizations/${id}`);
    await refused(theirs('orphan'), 'orphan');
    await refused(mine('orphan'), 'orphan');
    await removed('/resting-names/orphan.share.localhost');
    await made(theirs('orphan'));
  });

  it('are listed and released by administrators, which the former owner finds in its audit trail', async () => {
    await made(mine('let-go'));
    await removed(`${root}/shares/let-go`);
    const { organizationId } = world.first;
    const list = async (query: string): Promise<unknown[]> =>
      ((await world.call('GET', `/resting-names?size=1000${query}`)).body as { content: unknown[] }).content;
    const resting = {
      name: 'let-go.share.localhost',
      kind: 'share',
      organizationId,
      createdAt: new Date(world.clock.nowMs()).toISOString(),
      expiresAt: new Date(world.clock.nowMs() + 30 * DAY_MS).toISOString(),
    };
    const own = await list(`&organizationId=${organizationId}&sort=name,desc`);
    assert.ok(own.some((each) => JSON.stringify(each) === JSON.stringify(resting)));
    assert.deepEqual(
      (await list(`&organizationId=${world.other.organizationId}`)).filter(
        (each) => (each as { name: string }).name === resting.name,
      ),
      [],
    );
    const path = '/resting-names/LET-GO.share.localhost';
    const { authorization } = world.other;
    assert.equal((await world.call('DELETE', path, { authorization })).status, 403);
    assert.equal((await world.call('GET', '/resting-names', { authorization })).status, 403);
    await removed(path);
    assert.deepEqual((await world.call('DELETE', path)).body, {
      error: 'not_found',
      message: 'Resting name LET-GO.share.localhost not found',
    });
    const { body } = await world.call('GET', '/audit-events?action=releaseRestingName&size=1');
    const [event] = (body as { content: { target: unknown; before: unknown }[] }).content;
    assert.deepEqual(event!.target, { kind: 'resting-name', id: resting.name });
    assert.deepEqual(event!.before, resting);
    await made(theirs('let-go'));
  });

  it('go to one organization only, however deletions and requests meet', async () => {
    for (let round = 0; round < 10; round += 1) {
      const name = `raced-${round}`;
      await made(mine(name));
      const answers = await Promise.all([
        world.call('DELETE', `${root}/shares/${name}`),
        ...Array.from({ length: 5 }, () => theirs(name)),
        ...Array.from({ length: 2 }, () => mine(name)),
      ]);
      assert.deepEqual(
        answers.slice(1, 6).map(({ status }) => status),
        [409, 409, 409, 409, 409],
      );
      assert.equal(answers[0].status, 204);
    }
  });

  it('are removed once their rest is over, and the oldest ones beyond what one organization may have', async () => {
    const count = async (): Promise<number> =>
      (await world.store.db.selectFrom('resting_name').select('name').execute()).length;
    const parts = { store: world.store, clock: world.clock, log: silentLog };
    world.clock.advance(31 * DAY_MS);
    const sweep = new RestingNameSweep(parts, 3);
    await sweep.sweep();
    assert.equal(await count(), 0);
    for (const name of ['one', 'two', 'three', 'four', 'five']) {
      await made(mine(`swept-${name}`));
      await removed(`${root}/shares/swept-${name}`);
      world.clock.advance(1_000);
    }
    await sweep.sweep();
    await sweep.close();
    const rows = await world.store.db
      .selectFrom('resting_name')
      .select('name')
      .orderBy('created_at')
      .execute();
    assert.deepEqual(
      rows.map(({ name }) => name.split('.')[0]),
      ['swept-three', 'swept-four', 'swept-five'],
    );
  });
});
