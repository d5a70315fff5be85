import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  openEdgeFixture,
  rawRequest,
  type EdgeFixture,
  type Enrolled,
} from '../../ziti/client-api/edge-api-fixture.ts';

let fixture: EdgeFixture;
let one: Enrolled;
let two: Enrolled;
let gateway: Enrolled;

before(async () => {
  fixture = await openEdgeFixture();
  one = await fixture.enroll('one');
  two = await fixture.enroll('two');
  gateway = await fixture.enroll('gateway', 'gateway');
});
after(() => fixture.close());

const app = {
  name: 'app',
  shareMode: 'public',
  backendMode: 'proxy',
  target: 'http://127.0.0.1:3000',
} as const;

test('an agent makes a share, which is in effect when it is answered', async () => {
  const share = await one.agentApi.createShare(app);
  assert.deepEqual(
    [share.token, share.name, share.reserved, share.targetByAgent, share.epoch, share.status],
    ['app', 'app', true, true, 1, 'PENDING'],
  );
  assert.deepEqual(share.frontendEndpoints, ['http://app.share.localhost:8080']);
  assert.equal(fixture.catalog.get(share.id)?.environmentId, one.id);
  assert.deepEqual(
    (await one.client.services()).map(({ name }) => name),
    ['app'],
  );
});

test('the same environment gets its name again, another gets a conflict', async () => {
  const again = await one.agentApi.createShare({ ...app, target: 'http://127.0.0.1:3001' });
  assert.deepEqual([again.token, again.epoch, again.target], ['app', 2, 'http://127.0.0.1:3001']);
  assert.equal((await one.agentApi.hostedShares()).length, 1);
  await assert.rejects(two.agentApi.createShare(app), { kind: 'conflict' });
});

test('an agent sets how requests reach the service; what it does not name stays', async () => {
  const name = 'vite';
  const share = await one.agentApi.createShare({ ...app, name, upstream: { hostHeader: 'LocalHost' } });
  assert.equal(share.upstream?.hostHeader, 'localhost');
  assert.equal(fixture.catalog.get(share.id)?.upstream.hostHeader, 'localhost');
  const again = await one.agentApi.createShare({ ...app, name });
  assert.equal(again.upstream?.hostHeader, 'localhost');
  const listed = await one.agentApi.hostedShares();
  assert.deepEqual(
    listed.map(({ token, upstream }) => [token, upstream?.hostHeader]),
    [
      ['app', undefined],
      [name, 'localhost'],
    ],
  );
  const reset = await one.agentApi.createShare({ ...app, name, upstream: { hostHeader: 'preserve' } });
  assert.equal(reset.upstream, undefined);
  await assert.rejects(one.agentApi.createShare({ ...app, name, upstream: { hostHeader: 'a b' } }), {
    kind: 'invalid',
  });
  await one.agentApi.releaseShare(name);
});

test('an agent makes a share with its guards at once, and writes nothing when they are as wanted', async () => {
  const { db } = fixture.store;
  const frontdoorId = (
    await db.selectFrom('identity').select('frontdoor_id').where('id', '=', one.id).executeTakeFirstOrThrow()
  ).frontdoor_id!;
  const providerId = randomUUID();
  const columns = { type: 'API_KEY', enabled: 1, data: '{}', secrets_sealed: null } as const;
  await db
    .insertInto('auth_provider')
    .values({
      id: providerId,
      frontdoor_id: frontdoorId,
      name: 'keys',
      ...columns,
      version: 1,
      created_at: 1,
      updated_at: 1,
    })
    .execute();
  const guarded = {
    ...app,
    name: 'guarded',
    authProviders: ['keys'],
    policy: { ipAllow: ['10.0.0.0/8'], basicAuth: [{ name: 'ann', password: 'correct horse' }] },
  };
  const share = await one.agentApi.createShare(guarded);
  const service = fixture.catalog.get(share.id)!;
  assert.deepEqual([service.authProviderIds, service.rules?.ip.allow], [[providerId], ['10.0.0.0/8']]);
  assert.equal((await one.agentApi.createShare(guarded)).epoch, share.epoch);
  const password = [{ name: 'ann', password: 'another horse' }];
  const changed = { ...guarded, policy: { ...guarded.policy, basicAuth: password } };
  assert.equal((await one.agentApi.createShare(changed)).epoch, share.epoch + 1);
  assert.equal((await one.agentApi.createShare(changed)).epoch, share.epoch + 1);
  // A request without guards keeps them.
  await one.agentApi.createShare({ ...app, name: 'guarded' });
  assert.deepEqual(fixture.catalog.get(share.id)?.authProviderIds, [providerId]);
  await one.agentApi.createShare({ ...app, name: 'guarded', authProviders: [], policy: {} });
  const open = fixture.catalog.get(share.id)!;
  assert.deepEqual([open.authProviderIds, open.rules], [[], null]);
  await one.agentApi.releaseShare('guarded');
});

test('an agent makes a share with a shared policy, and one with rules of its own leaves it', async () => {
  const { db } = fixture.store;
  const frontdoorId = (
    await db.selectFrom('identity').select('frontdoor_id').where('id', '=', one.id).executeTakeFirstOrThrow()
  ).frontdoor_id!;
  const id = randomUUID();
  const data = JSON.stringify({ ipDeny: ['192.0.2.0/24'] });
  const times = { created_at: 1, updated_at: 1 };
  await db
    .insertInto('access_policy')
    .values({ id, frontdoor_id: frontdoorId, name: 'office', data, password_hashes: '{}', ...times })
    .execute();
  const wanted = { ...app, name: 'shared', sharedPolicy: 'office' };
  const share = await one.agentApi.createShare(wanted);
  const rules = () => fixture.catalog.get(share.id)?.rules?.ip;
  assert.deepEqual(rules(), { allow: [], deny: ['192.0.2.0/24'] });
  assert.equal((await one.agentApi.createShare(wanted)).epoch, share.epoch);
  // A request without guards keeps them.
  await one.agentApi.createShare({ ...app, name: 'shared' });
  assert.equal(fixture.catalog.get(share.id)?.accessPolicyId, id);
  await one.agentApi.createShare({ ...app, name: 'shared', policy: { ipAllow: ['10.0.0.0/8'] } });
  assert.equal(fixture.catalog.get(share.id)?.accessPolicyId, null);
  assert.deepEqual(rules(), { allow: ['10.0.0.0/8'], deny: [] });
  await one.agentApi.createShare(wanted);
  assert.deepEqual(rules(), { allow: [], deny: ['192.0.2.0/24'] });
  await assert.rejects(one.agentApi.createShare({ ...wanted, sharedPolicy: 'nowhere' }), {
    message: /Policy nowhere not found/,
  });
  await one.agentApi.releaseShare('shared');
});

test('a share whose guards are not valid is not made', async () => {
  const rows: [object, RegExp][] = [
    [{ authProviders: ['nobody'] }, /Auth provider nobody not found/],
    [{ policy: { emails: ['nobody'] } }, /policy\.emails\.0/],
    [{ policy: { email: [] } }, /policy\.email/],
    [{ policy: { emails: ['ann@example.com'] } }, /nobody would be admitted/],
  ];
  for (const [guards, message] of rows)
    await assert.rejects(one.agentApi.createShare({ ...app, name: 'refused', ...guards }), { message });
  const listed = await one.agentApi.hostedShares();
  assert.equal(
    listed.some(({ token }) => token === 'refused'),
    false,
  );
});

test('an agent adds domains, which it shows with the record that proves them; it takes none away', async () => {
  const name = 'shop';
  const domains = ['Shop.Example.org'];
  const share = await one.agentApi.createShare({ ...app, name, domains });
  const [domain] = share.domains!;
  assert.deepEqual([domain!.hostname, domain!.isServed], ['shop.example.org', false]);
  assert.match(domain!.record!, /^TXT _frontdoor-challenge\.shop\.example\.org frontdoor-organization=/);
  const again = await one.agentApi.createShare({
    ...app,
    name,
    domains: [...domains, 'www.shop.example.org'],
  });
  assert.equal(again.domains!.length, 2);
  assert.equal((await one.agentApi.createShare({ ...app, name })).domains!.length, 2);
  const listed = await one.agentApi.hostedShares();
  assert.deepEqual(
    listed.map(({ token, domains: all }) => [token, all?.map(({ hostname }) => hostname)]),
    [
      ['app', undefined],
      [name, ['shop.example.org', 'www.shop.example.org']],
    ],
  );
  for (const wrong of ['*.example.org', 'co.uk'])
    await assert.rejects(one.agentApi.createShare({ ...app, name, domains: [wrong] }), { kind: 'invalid' });
  await assert.rejects(one.agentApi.createShare({ ...app, domains }), { kind: 'conflict' });
  await one.agentApi.releaseShare(name);
});

test('a share without a name gets a random token; a private one is granted to environments of its frontdoor', async () => {
  const share = await one.agentApi.createShare({
    shareMode: 'private',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:3002',
    grants: [two.id],
  });
  assert.deepEqual([share.name, share.reserved, share.grants], [null, false, [two.id]]);
  assert.deepEqual(
    (await two.client.services()).map(({ id }) => id),
    [share.id],
  );
  const foreign = await fixture.enroll('elsewhere', 'environment', 1);
  const request = {
    shareMode: 'private',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:1',
    grants: [foreign.id],
  } as const;
  await assert.rejects(one.agentApi.createShare(request), { kind: 'notFound' });
});

test('a share whose target becomes one of TCP or UDP is taken back in that mode', async () => {
  const target = 'udp://127.0.0.1:53';
  const mine = {
    name: 'mine',
    shareMode: 'private',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:1',
  } as const;
  const share = await one.agentApi.createShare({ ...mine, grants: [two.id] });
  const again = await one.agentApi.createShare({
    ...mine,
    backendMode: 'udpTunnel',
    target,
    grants: [two.id],
  });
  assert.deepEqual([again.id, again.backendMode, again.target], [share.id, 'udpTunnel', target]);
  const listed = (await two.client.services()).find(({ id }) => id === share.id);
  assert.deepEqual(listed?.tags, { backendMode: 'udpTunnel' });
  await one.agentApi.releaseShare('mine');
});

test('an agent sees and releases its own shares alone', async () => {
  assert.deepEqual(await two.agentApi.hostedShares(), []);
  await assert.rejects(two.agentApi.releaseShare('app'), { kind: 'notFound' });
  await one.agentApi.releaseShare('app');
  assert.equal(
    (await one.agentApi.hostedShares()).some(({ token }) => token === 'app'),
    false,
  );
  await assert.rejects(one.agentApi.releaseShare('app'), { kind: 'notFound' });
});

test('an invalid share is refused with the reason', async () => {
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ ...app, shareMode: 'private', backendMode: 'tcpTunnel' }, /target must be of tcp:/],
    [{ ...app, backendMode: 'drive' }, /backendMode/],
    [{ ...app, backendMode: 'web' }, /target must be of file:/],
    [{ ...app, shareMode: 'open' }, /shareMode/],
    [{ ...app, target: 'http://127.0.0.1:3000/path?query' }, /target/],
    [{ ...app, target: 7 }, /target/],
    [{ ...app, name: 'WWW' }, /Value for name must be of share name \(1 to 63 of a-z, 0-9 and -/],
    [{ ...app, name: 'www' }, /Value for name must be of share name other than oauth, api, www/],
    [{ ...app, grants: [1] }, /grants/],
    [{ ...app, zone: 'x' }, /zone/],
  ];
  for (const [body, message] of wrong) {
    const answer = await rawRequest(fixture, {
      method: 'POST',
      path: '/agent/v1/shares',
      body: JSON.stringify(body),
      cert: one.identity.certPem,
      key: one.identity.keyPem,
    });
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.match((answer.json as { error: { message: string } }).error.message, message);
  }
});

test('environments are granted by ID or name, and unknown ones are refused by their name', async () => {
  const wanted = { ...app, shareMode: 'private', name: 'granted' } as const;
  const { name } = (await fixture.store.db
    .selectFrom('identity')
    .select('name')
    .where('id', '=', two.id)
    .executeTakeFirst())!;
  const made = await one.agentApi.createShare({ ...wanted, grants: [name] });
  assert.deepEqual(made.grants, [two.id]);
  await assert.rejects(one.agentApi.createShare({ ...wanted, grants: ['nowhere'] }), {
    kind: 'notFound',
    message: 'Environment nowhere not found',
  });
  await one.agentApi.releaseShare('granted');
});

test('an agent reports its version', async () => {
  await one.agentApi.reportVersion('0.1.0');
  const row = await fixture.store.db
    .selectFrom('identity')
    .selectAll()
    .where('id', '=', one.id)
    .executeTakeFirst();
  assert.equal(row?.agent_version, '0.1.0');
  await assert.rejects(one.agentApi.reportVersion('no version at all'), { kind: 'invalid' });
});

test('gateways and strangers have no business here', async () => {
  await assert.rejects(gateway.agentApi.hostedShares(), { kind: 'forbidden' });
  await assert.rejects(gateway.agentApi.createShare(app), { kind: 'forbidden' });
  for (const path of ['/agent/v1/shares', '/gateway/v1/shares']) {
    assert.equal((await rawRequest(fixture, { path })).status, 401);
  }
});
