// Domains of shares with a real name server: who may have one, when it is served, and what it does to others.
import assert from 'node:assert/strict';
import { after, afterEach, before, it } from 'node:test';
import type { DomainCertificate } from '#domain/gateway-shapes';
import { txtRecordsOf } from '#net/names';
import { TestNameServer } from '../../../../test/support/test-name-server.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { challengeName, challengeValue } from '../hostnames/hostname-proof-policy.ts';
import { HostnameProver } from '../hostnames/hostname-prover.ts';
import { takeDomainCertificates } from '../records/domain-certificate-store.ts';
import { BASE_URL, openApiWorld, type ApiWorld } from './api-fixture.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HSTS = { hsts: { maxAgeSeconds: 86_400, includeSubdomains: true } };

interface Domain {
  readonly hostname: string;
  readonly proof: string;
  readonly proofEndsAt: string | null;
  readonly proofProblem: string | null;
  readonly certificate: {
    readonly state: string;
    readonly validUntil: string | null;
    readonly problem: string | null;
    readonly retryAt: string | null;
  };
  readonly dnsRecords: readonly { readonly type: string; readonly name: string; readonly value: string }[];
}

describeEachStore('domains of shares', (open) => {
  let world: ApiWorld;
  let server: TestNameServer;
  let prover: HostnameProver;
  let frontendId: string;
  let environmentId: string;
  before(async () => {
    server = await TestNameServer.start();
    world = await openApiWorld({ open });
    const { store, secrets, clock, options } = world;
    prover = new HostnameProver({
      store,
      secrets,
      clock,
      log: options.log,
      random: () => 0.5,
      txt: (name, signal) => txtRecordsOf(name, { servers: [server.address], signal }),
    });
    ({ id: frontendId } = await store.db.selectFrom('frontend').select('id').executeTakeFirstOrThrow());
    environmentId = await world.addEnvironment('edge');
    for (const name of ['app', 'site']) assert.equal((await share(name)).status, 201);
  });
  after(async () => {
    await prover.close();
    await world.close();
    server.close();
  });
  afterEach(async () => {
    server.names.clear();
    for (const token of ['app', 'site']) {
      assert.equal((await policy(token, {})).status, 200);
      const { body } = await world.call('GET', `${root()}/shares/${token}/domains`);
      for (const { hostname } of body as Domain[]) await remove(hostname, token);
    }
    const owners = [
      { frontdoorId: world.first.frontdoorId, authorization: world.authorization },
      world.other,
    ];
    for (const { frontdoorId, authorization } of owners) {
      const path = `/frontdoor/${frontdoorId}/custom-frontends`;
      const { body } = await world.call('GET', path, { authorization });
      for (const { id } of (body as { content: { id: string }[] }).content)
        await world.call('DELETE', `${path}/${id}`, { authorization });
    }
    await world.store.db.deleteFrom('resting_name').execute();
  });

  const root = () => `/frontdoor/${world.first.frontdoorId}`;
  const share = (name: string, more: object = {}) =>
    world.call('POST', `${root()}/shares`, {
      body: {
        name,
        environmentId,
        shareMode: 'public',
        backendMode: 'proxy',
        target: 'http://127.0.0.1:1',
        ...more,
      },
    });
  const add = (hostname: string, token = 'app') =>
    world.call('POST', `${root()}/shares/${token}/domains`, { body: { hostname } });
  const remove = (hostname: string, token = 'app') =>
    world.call('DELETE', `${root()}/shares/${token}/domains/${hostname}`);
  const added = async (hostname: string, token?: string): Promise<void> => {
    const made = await add(hostname, token);
    assert.equal(made.status, 201, made.text);
  };
  const refused = async (hostname: string, status: number, text: RegExp, token?: string): Promise<void> => {
    const answer = await add(hostname, token);
    assert.deepEqual([answer.status, text.test(answer.text)], [status, true], `${hostname}: ${answer.text}`);
  };
  const read = async (hostname: string, token = 'app'): Promise<Domain> =>
    (await world.call('GET', `${root()}/shares/${token}/domains/${hostname}`)).body as Domain;
  const zone = (hostname: string, who: 'first' | 'other' = 'first') =>
    world.call('POST', `/frontdoor/${world[who].frontdoorId}/custom-frontends`, {
      body: { hostname, frontendId },
      ...(who === 'other' ? { authorization: world.other.authorization } : {}),
    });
  const policy = (token: string, body: object) =>
    world.call('PUT', `${root()}/shares/${token}/policy`, { body });
  const prove = async (name: string, organizationId = world.first.organizationId): Promise<void> => {
    server.names.set(challengeName(name), { txt: [challengeValue(organizationId)] });
    world.clock.advance(HOUR_MS);
    await prover.pass();
  };
  const provenDomain = async (hostname: string, token?: string): Promise<void> => {
    await added(hostname, token);
    await prove(hostname);
  };
  const served = (): readonly string[] =>
    [...world.catalog.all()].flatMap(({ customHosts }) => customHosts.map(({ host }) => host)).toSorted();

  it('are claims with their DNS records, and are served and listed once they are proven', async () => {
    const made = await add('Shop.Example.com');
    assert.equal(made.status, 201, made.text);
    assert.equal(made.headers['location'], `${BASE_URL}${root()}/shares/app/domains/shop.example.com`);
    const claim = made.body as Domain;
    assert.deepEqual(
      [claim.hostname, claim.proof, claim.proofEndsAt],
      ['shop.example.com', 'PENDING', new Date(world.clock.nowMs() + 14 * DAY_MS).toISOString()],
    );
    assert.deepEqual(
      claim.dnsRecords.map(({ type, name, value }) => [type, name, value]),
      [
        ['CNAME', 'shop.example.com', 'share.localhost'],
        ['TXT', challengeName('shop.example.com'), challengeValue(world.first.organizationId)],
      ],
    );
    assert.deepEqual(await read('SHOP.example.com'), claim);
    assert.deepEqual(served(), []);
    await prove('shop.example.com');
    assert.deepEqual([(await read('shop.example.com')).proof, served()], ['PROVEN', ['shop.example.com']]);
    const { body } = await world.call('GET', `${root()}/shares/app`);
    const { frontendEndpoints } = body as { frontendEndpoints: string[] };
    assert.deepEqual(frontendEndpoints, ['http://app.share.localhost:8080', 'http://shop.example.com:8080']);
    const list = await world.call('GET', `${root()}/shares/app/domains`);
    assert.deepEqual(
      (list.body as Domain[]).map(({ hostname }) => hostname),
      ['shop.example.com'],
    );
    const zones = (await world.call('GET', `${root()}/custom-frontends`)).body as { totalElements: number };
    assert.equal(zones.totalElements, 0, 'a domain is no custom frontend');
  });

  it('are written in the audit trail of the share', async () => {
    await provenDomain('shop.example.com');
    await remove('shop.example.com');
    const { body } = await world.call('GET', '/audit-events?sort=-at&size=3');
    const { content } = body as {
      content: { action: string; target: { kind: string; id: string }; actor: { kind: string } }[];
    };
    assert.deepEqual(
      content.map(({ action, target, actor }) => [action, `${target.kind} ${target.id}`, actor.kind]),
      [
        ['removeShareDomain', 'share app', 'account'],
        ['proveHostname', 'share app', 'system'],
        ['addShareDomain', 'share app', 'account'],
      ],
    );
  });

  it('show the certificates that gateways report, and why an order failed', async () => {
    await provenDomain('shop.example.com');
    const { id: shareId } = await world.store.db
      .selectFrom('share')
      .select('id')
      .where('token', '=', 'app')
      .executeTakeFirstOrThrow();
    // Any two identities stand for gateways.
    const gateways = [environmentId, await world.addEnvironment('other-gateway')];
    const atMs = (days: number) => world.clock.nowMs() + days * DAY_MS;
    const iso = (ms: number) => new Date(ms).toISOString();
    const empty = { validUntilMs: null, problem: null, retryAtMs: null };
    const report = (gateway: string, state: Partial<DomainCertificate>) =>
      takeDomainCertificates(
        world.store,
        gateway,
        [
          // Only the last of two counts.
          { ...empty, host: 'shop.example.com', shareId, validUntilMs: atMs(90) },
          { ...empty, host: 'shop.example.com', shareId, ...state },
          { ...empty, host: 'unknown.example.com', shareId, validUntilMs: atMs(1) },
        ],
        world.clock.nowMs(),
      );
    const certificate = async () => (await read('shop.example.com')).certificate;
    const none = { state: 'NONE', validUntil: null, problem: null, retryAt: null };
    assert.deepEqual(await certificate(), none);
    const [one, other] = gateways as [string, string];
    const failed = { problem: 'no valid A records', retryAtMs: atMs(1) };
    await report(one, failed);
    const shown = { problem: failed.problem, retryAt: iso(failed.retryAtMs) };
    assert.deepEqual(await certificate(), { state: 'FAILED', validUntil: null, ...shown });
    await report(one, {});
    assert.equal((await certificate()).state, 'FAILED', 'a gateway that was restarted has forgotten it');
    const [late, early] = [atMs(80), atMs(60)];
    await report(other, { validUntilMs: early });
    assert.deepEqual(await certificate(), { state: 'VALID', validUntil: iso(early), ...shown });
    await report(one, { validUntilMs: late });
    const valid = { state: 'VALID', validUntil: iso(early), problem: null, retryAt: null };
    assert.deepEqual(await certificate(), valid);
    const { body } = await world.call('GET', `${root()}/domains?proof=PROVEN`);
    const [listed] = (body as { content: (Domain & { shareToken: string })[] }).content;
    assert.deepEqual([listed!.hostname, listed!.shareToken], ['shop.example.com', 'app']);
    assert.deepEqual(listed!.certificate, valid);
    await report(other, {});
    assert.equal((await certificate()).validUntil, iso(late));
    world.clock.advance(2 * DAY_MS);
    assert.deepEqual(await certificate(), none, 'what was not repeated for a day counts no longer');
  });

  it('are DNS names of the owner: no wildcards, no suffixes, no other script, nothing of the installation', async () => {
    const rule = /a DNS name of two labels or more/;
    for (const name of [
      '*.example.com',
      'example',
      'bücher.example',
      'a..example',
      '192.0.2.1',
      'a.example.',
    ])
      await refused(name, 400, rule);
    await refused('co.uk', 400, /below a public suffix/);
    await refused('xyz.app.share.localhost', 409, /is taken/);
    await refused('shop.control.frontdoor.example', 400, /name of this installation/);
    await refused('frontdoor.example', 400, /name of this installation/);
    await added('xn--bcher-kva.example');
    await refused('xn--bcher-kva.example', 409, /has the domain .* already/);
    const made = await share('hidden', { shareMode: 'private' });
    assert.equal(made.status, 201, made.text);
    await refused('shop.example.com', 409, /only public shares/, 'hidden');
  });

  it('of one organization may be above and below each other, but in no custom frontend', async () => {
    await provenDomain('example.com', 'site');
    await provenDomain('app.example.com');
    assert.deepEqual(served(), ['app.example.com', 'example.com']);
    await refused('app.example.com', 409, /is taken/, 'site');
    assert.equal((await zone('apps.example.com')).status, 201, 'below a domain');
    await refused('portal.apps.example.com', 409, /is taken/);
    assert.equal((await zone('example.com')).status, 409, 'at a domain');
    await added('shop.example');
    assert.equal((await zone('apps.shop.example')).status, 201);
    assert.equal((await zone('example')).status, 400);
  });

  it('are not blocked by claims of neighbours, and block them once they are proven', async () => {
    assert.equal((await zone('example.com', 'other')).status, 201);
    await provenDomain('app.example.com');
    assert.deepEqual(served(), ['app.example.com']);
    await prove('example.com', world.other.organizationId);
    const claims = (await world.call('GET', '/hostname-claims?sort=hostname')).body as {
      content: { hostname: string; proof: string; shareToken: string | null; proofProblem: string | null }[];
    };
    assert.deepEqual(
      claims.content.map(({ hostname, proof, shareToken }) => [hostname, proof, shareToken]),
      [
        ['app.example.com', 'PROVEN', 'app'],
        ['example.com', 'PENDING', null],
      ],
    );
    assert.match(claims.content[1]!.proofProblem!, /is served for another custom frontend or share/);
    assert.equal((await zone('app.example.com', 'other')).status, 409);
    assert.equal((await zone('x.app.example.com', 'other')).status, 409);
  });

  it('are lost days after their record is gone, and are claims again', async () => {
    await provenDomain('shop.example.com');
    server.names.clear();
    world.clock.advance(2 * DAY_MS);
    await prover.pass();
    assert.deepEqual([(await read('shop.example.com')).proof, served()], ['MISSING', ['shop.example.com']]);
    world.clock.advance(3 * DAY_MS);
    await prover.pass();
    assert.deepEqual([(await read('shop.example.com')).proof, served()], ['PENDING', []]);
    world.clock.advance(14 * DAY_MS);
    await prover.pass();
    assert.equal((await world.call('GET', `${root()}/shares/app/domains/shop.example.com`)).status, 404);
  });

  it('rest when they are removed, and when their share or its frontdoor is', async () => {
    await provenDomain('one.example.com');
    assert.equal((await remove('one.example.com')).status, 204);
    assert.equal((await remove('one.example.com')).status, 404);
    assert.deepEqual(served(), []);
    assert.equal((await share('brief')).status, 201);
    await provenDomain('two.example.com', 'brief');
    await added('never.example.com', 'brief');
    assert.equal((await world.call('DELETE', `${root()}/shares/brief`)).status, 204);
    const rests = (await world.call('GET', '/resting-names?sort=name')).body as {
      content: { name: string; kind: string }[];
    };
    assert.deepEqual(
      rests.content.filter(({ kind }) => kind === 'share-domain').map(({ name }) => name),
      ['one.example.com', 'two.example.com'],
      'what was not proven does not rest',
    );
    for (const name of ['one.example.com', 'two.example.com', 'a.one.example.com'])
      assert.equal((await zone(name, 'other')).status, 409, name);
    await provenDomain('one.example.com', 'site');
    assert.deepEqual(served(), ['one.example.com'], 'its organization takes it again at once');
  });

  it('never come together with HSTS that includes the names of other shares', async () => {
    await provenDomain('example.com', 'site');
    assert.equal((await policy('site', HSTS)).status, 200);
    await refused('app.example.com', 409, /HSTS of example\.com includes its subdomains/);
    assert.equal((await zone('apps.example.com')).status, 409);
    await provenDomain('www.example.com', 'site');
    assert.deepEqual(served(), ['example.com', 'www.example.com'], 'the share itself may have names below');
    assert.equal((await policy('site', {})).status, 200);
    await provenDomain('app.example.com');
    const late = await policy('site', HSTS);
    assert.deepEqual([late.status, /other shares have names below/.test(late.text)], [409, true], late.text);
    assert.equal((await policy('app', HSTS)).status, 200);
    await added('example.org');
    await prove('example.org');
    await added('shop.example.net', 'site');
    await refused('example.net', 409, /other shares have names below it/);
  });

  it('are at most twenty of a share', async () => {
    for (let at = 0; at < 20; at += 1) await added(`a${at}.example.com`);
    await refused('one-more.example.com', 409, /A share has at most 20 domains/);
    await added('one-more.example.com', 'site');
  });

  it('stay with a share that becomes private, which is served nowhere', async () => {
    assert.equal((await share('moody')).status, 201);
    await provenDomain('moody.example.com', 'moody');
    const change = (body: object) => world.call('PATCH', `${root()}/shares/moody`, { body });
    assert.equal((await change({ shareMode: 'private' })).status, 200);
    assert.deepEqual(served(), []);
    assert.equal((await change({ shareMode: 'public' })).status, 200);
    assert.deepEqual(served(), ['moody.example.com']);
  });
});
