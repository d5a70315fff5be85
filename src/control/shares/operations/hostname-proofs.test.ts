// Proofs of hostnames with a real name server: what is served, for whom, and for how long.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, it } from 'node:test';
import { txtRecordsOf } from '#net/names';
import { TestNameServer } from '../../../../test/support/test-name-server.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { challengeName, challengeValue } from '../hostnames/hostname-proof-policy.ts';
import { HostnameProver } from '../hostnames/hostname-prover.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Domain {
  readonly id: string;
  readonly status: string;
  readonly proof: string;
  readonly proofEndsAt: string | null;
  readonly proofProblem: string | null;
}

describeEachStore('the proofs of custom frontends', (open) => {
  let world: ApiWorld;
  let server: TestNameServer;
  let prover: HostnameProver;
  let make: () => HostnameProver;
  let frontendId: string;
  before(async () => {
    server = await TestNameServer.start();
    world = await openApiWorld({ open });
    const { store, secrets, clock, options } = world;
    const dns = { servers: [server.address] };
    make = () =>
      new HostnameProver({
        store,
        secrets,
        clock,
        log: options.log,
        random: () => 0.5,
        txt: (name, signal) => txtRecordsOf(name, { ...dns, signal }),
      });
    prover = make();
    ({ id: frontendId } = await store.db.selectFrom('frontend').select('id').executeTakeFirstOrThrow());
    const environmentId = await world.addEnvironment('edge');
    const made = await world.call('POST', `/frontdoor/${world.first.frontdoorId}/shares`, {
      body: {
        name: 'app',
        environmentId,
        shareMode: 'public',
        backendMode: 'proxy',
        target: 'http://127.0.0.1:1',
      },
    });
    assert.equal(made.status, 201, made.text);
  });
  after(async () => {
    await prover.close();
    await world.close();
    server.close();
  });
  beforeEach(() => {
    server.names.clear();
    server.asked.length = 0;
  });
  afterEach(async () => {
    for (const { frontdoorId, authorization } of owners())
      for (const { id } of await domainsOf(frontdoorId, authorization))
        await world.call('DELETE', `/frontdoor/${frontdoorId}/custom-frontends/${id}`, { authorization });
    await world.store.db.deleteFrom('resting_name').execute();
  });

  const owners = () => [
    { frontdoorId: world.first.frontdoorId, authorization: world.authorization },
    world.other,
  ];
  const domainsOf = async (frontdoorId: string, authorization: string): Promise<readonly Domain[]> => {
    const { body } = await world.call('GET', `/frontdoor/${frontdoorId}/custom-frontends?size=1000`, {
      authorization,
    });
    return (body as { content: readonly Domain[] }).content;
  };
  const claim = async (
    hostname: string,
    who: 'first' | 'other' = 'first',
  ): Promise<() => Promise<Domain>> => {
    const { frontdoorId, authorization } = who === 'first' ? owners()[0]! : world.other;
    const path = `/frontdoor/${frontdoorId}/custom-frontends`;
    const made = await world.call('POST', path, { body: { hostname, frontendId }, authorization });
    assert.equal(made.status, 201, made.text);
    const { id } = made.body as Domain;
    return async () => (await world.call('GET', `${path}/${id}`, { authorization })).body as Domain;
  };
  const prove = (name: string, ...organizationIds: readonly string[]): void =>
    void server.names.set(challengeName(name), { txt: organizationIds.map(challengeValue) });
  /** The names of the share below custom frontends, as gateways get them. */
  const served = (): readonly string[] =>
    [...world.catalog.all()].flatMap(({ customHosts }) => customHosts.map(({ host }) => host));
  const later = async (ms: number): Promise<void> => {
    world.clock.advance(ms);
    await prover.pass();
  };
  const mine = () => world.first.organizationId;
  const theirs = () => world.other.organizationId;

  it('come before it is served: by the value of its organization, not of another, nor because its names lead here', async () => {
    const read = await claim('apps.shop.example');
    server.names.set('*.apps.shop.example', { addresses: ['127.0.0.1'] });
    await prover.pass();
    assert.deepEqual([(await read()).proof, served()], ['PENDING', []]);
    prove('apps.shop.example', theirs());
    await later(HOUR_MS);
    const { proof, proofProblem } = await read();
    assert.equal(proof, 'PENDING');
    assert.match(
      proofProblem!,
      /no TXT record has the value of your organization at _frontdoor-challenge\.apps/,
    );
    assert.deepEqual(served(), []);
    prove('apps.shop.example', theirs(), mine());
    await later(HOUR_MS);
    assert.deepEqual([(await read()).proof, (await read()).proofEndsAt], ['PROVEN', null]);
    assert.deepEqual(served(), ['app.apps.shop.example']);
    const events = await world.call('GET', '/audit-events?sort=-at&size=1');
    const [event] = (events.body as { content: { action: string; actor: { kind: string } }[] }).content;
    assert.deepEqual([event!.action, event!.actor.kind], ['proveHostname', 'system']);
  });

  it('are not needed from others: a claim blocks nobody, and ends after 14 days', async () => {
    const idle = await claim('apps.shop.example', 'other');
    const read = await claim('apps.shop.example');
    prove('apps.shop.example', mine());
    await prover.pass();
    assert.deepEqual([(await read()).proof, (await idle()).proof], ['PROVEN', 'PENDING']);
    await later(13 * DAY_MS);
    assert.equal((await domainsOf(world.other.frontdoorId, world.other.authorization)).length, 1);
    await later(DAY_MS);
    assert.deepEqual(await domainsOf(world.other.frontdoorId, world.other.authorization), []);
    const again = await world.call('POST', `/frontdoor/${world.other.frontdoorId}/custom-frontends`, {
      body: { hostname: 'apps.shop.example', frontendId },
      authorization: world.other.authorization,
    });
    assert.equal(again.status, 409, 'the proven name is taken');
  });

  it('are at most a hundred that are open in an organization', async () => {
    const { authorization, frontdoorId, organizationId } = world.other;
    const body = { name: 'more', organizationId };
    const more = (await world.call('POST', '/frontdoor', { body, authorization })).body as { id: string };
    const rows = Array.from({ length: 100 }, (_, at) => ({
      id: `claim-${at}`,
      frontdoor_id: frontdoorId,
      hostname: `a${at}.shop.example`,
      frontend_id: frontendId,
      status: 'NEW' as const,
      created_at: 0,
      proof: 'PENDING' as const,
      proof_due_at: Number.MAX_SAFE_INTEGER,
    }));
    await world.store.db.insertInto('hostname_claim').values(rows).execute();
    const path = `/frontdoor/${more.id}/custom-frontends`;
    const refused = await world.call('POST', path, {
      body: { hostname: 'one-more.shop.example', frontendId },
      authorization,
    });
    assert.equal(refused.status, 409, refused.text);
    assert.match(refused.text, /at most 100 custom frontends and domains that are not proven/);
    await claim('a0.shop.example');
    assert.equal((await world.call('DELETE', `/frontdoor/${more.id}`, { authorization })).status, 204);
    await world.store.db.deleteFrom('hostname_claim').where('frontdoor_id', '=', frontdoorId).execute();
  });

  it('stay while name servers fail, and are lost after three days without the record', async () => {
    const read = await claim('apps.shop.example');
    prove('apps.shop.example', mine());
    await prover.pass();
    server.names.set(challengeName('apps.shop.example'), { failure: 'SERVFAIL' });
    for (let day = 0; day < 20; day += 1) await later(DAY_MS);
    assert.deepEqual([(await read()).proof, served().length], ['PROVEN', 1]);
    assert.match((await read()).proofProblem!, /ESERVFAIL/);
    server.names.clear();
    await later(2 * DAY_MS);
    const missing = await read();
    assert.deepEqual([missing.proof, served().length], ['MISSING', 1]);
    assert.ok(Date.parse(missing.proofEndsAt!) > world.clock.nowMs() + 2 * DAY_MS);
    server.names.set(challengeName('apps.shop.example'), { failure: 'SERVFAIL' });
    await later(4 * DAY_MS);
    assert.equal((await read()).proof, 'MISSING');
    server.names.clear();
    await later(2 * HOUR_MS);
    const lost = await read();
    assert.deepEqual([lost.proof, lost.status, served()], ['PENDING', 'NEW', []]);
    prove('apps.shop.example', mine());
    await later(2 * HOUR_MS);
    assert.deepEqual([(await read()).proof, served().length], ['PROVEN', 1]);
  });

  it('of a registrable domain prove all names below it, and then others need a record of the domain', async () => {
    const read = await claim('apps.shop.example');
    prove('shop.example', mine());
    await prover.pass();
    assert.equal((await read()).proof, 'PROVEN');
    const other = await claim('blog.shop.example', 'other');
    prove('blog.shop.example', theirs());
    await later(HOUR_MS);
    assert.equal((await other()).proof, 'PENDING');
    assert.match((await other()).proofProblem!, /another organization has proven shop\.example/);
    prove('shop.example', mine(), theirs());
    await later(HOUR_MS);
    assert.equal((await other()).proof, 'PROVEN');
  });

  it('of two organizations for names above and below each other serve the first alone', async () => {
    const above = await claim('shop.example', 'other');
    const below = await claim('apps.shop.example');
    prove('apps.shop.example', mine());
    await prover.pass();
    prove('shop.example', theirs());
    await later(HOUR_MS);
    assert.deepEqual([(await below()).proof, (await above()).proof], ['PROVEN', 'PENDING']);
    assert.match((await above()).proofProblem!, /served for another custom frontend/);
  });

  it('are replaced by the grant of an operator, which can be withdrawn', async () => {
    const read = await claim('inside.corp.example');
    const { id } = await read();
    const grant = `/hostname-claims/${id}/grant`;
    const { authorization } = await world.addAccount(mine(), 'frontdoor.read frontdoor.write');
    assert.equal((await world.call('POST', grant, { authorization })).status, 403);
    const granted = await world.call('POST', grant);
    assert.equal(granted.status, 200, granted.text);
    assert.equal((granted.body as Domain).proof, 'GRANTED');
    assert.equal(served().length, 1);
    await prover.pass();
    server.asked.length = 0;
    for (let day = 0; day < 20; day += 1) await later(DAY_MS);
    assert.equal((await read()).proof, 'GRANTED');
    assert.ok(!server.asked.includes(challengeName('inside.corp.example')), 'it is not looked up');
    assert.equal((await world.call('DELETE', grant)).status, 204);
    assert.deepEqual([(await read()).proof, served()], ['PENDING', []]);
    assert.equal((await world.call('DELETE', grant)).status, 409);
    assert.equal((await world.call('POST', `/hostname-claims/${(await read()).id}/grant`)).status, 200);
    const list = await world.call('GET', `/hostname-claims?proof=GRANTED&organizationId=${mine()}`);
    assert.equal(list.status, 200, list.text);
    assert.deepEqual(
      (list.body as { content: { hostname: string }[] }).content.map(({ hostname }) => hostname),
      ['inside.corp.example'],
    );
  });

  it('hold up the end of a control plane by no look-up', async () => {
    await claim('slow.shop.example');
    server.names.set(challengeName('shop.example'), { failure: 'SILENCE' });
    const ending = make();
    const passed = ending.pass();
    const startMs = performance.now();
    await ending.close();
    await passed;
    assert.ok(performance.now() - startMs < 1_500, 'it waited for a name server');
  });

  it('are looked up once by two control planes, a few of an organization at once, and not where all fails', async () => {
    for (let at = 0; at < 12; at += 1) await claim(`n${at}.dead.example`, 'other');
    const read = await claim('live.shop.example');
    server.names.set('*.dead.example', { failure: 'SERVFAIL' });
    server.names.set(challengeName('dead.example'), { failure: 'SERVFAIL' });
    prove('live.shop.example', mine());
    const second = make();
    await Promise.all([prover.pass(), second.pass()]);
    await second.close();
    assert.equal((await read()).proof, 'PROVEN');
    const dead = server.asked.filter((name) => name.includes('.dead.example'));
    const counts = Map.groupBy(dead, (name) => name);
    for (const [name, times] of counts)
      if (name.startsWith('_frontdoor-challenge.n')) assert.ok(times.length <= 2);
    assert.ok(counts.size < 14, `${counts.size} of 13 names`);
  });
});
