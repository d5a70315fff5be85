import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ShareAnswer } from '#contract/schemas';
import type { SharePortRange } from '#domain/gateway-shapes';
import { makeTestAuthority } from '../../../../test/support/certificates.ts';
import { createFabricNode } from '../../overlay/records/mod.ts';
import { offeredPorts, takePortRange } from '../records/ingress-port-store.ts';
import { openApiWorld, type ApiWorld, type CallAnswer } from './api-fixture.ts';

describe('public shares that do not speak HTTP', () => {
  let world: ApiWorld;
  let shares: string;
  let environmentId: string;
  let gatewayId: string;

  before(async () => {
    world = await openApiWorld();
    shares = `/frontdoor/${world.first.frontdoorId}/shares`;
    environmentId = await world.addEnvironment('e');
    const gateway = await world.store.transaction((trx, touch) =>
      createFabricNode(trx, touch, { kind: 'gateway', name: 'g', nowMs: 1 }),
    );
    gatewayId = gateway.id;
  });
  after(() => world.close());

  const offer = (range: SharePortRange | null, protocol: 'tcp' | 'udp' = 'tcp') =>
    takePortRange(world.store, gatewayId, protocol, range);
  const create = (name: string, more: object = {}, frontdoor: Partial<Place> = {}): Promise<CallAnswer> => {
    const { path = shares, environment = environmentId, authorization } = frontdoor;
    const body = {
      name,
      environmentId: environment,
      shareMode: 'public',
      backendMode: 'tcpTunnel',
      target: 'tcp://127.0.0.1:5432',
      ...more,
    };
    return world.call('POST', path, { body, authorization });
  };
  interface Place {
    readonly path: string;
    readonly environment: string;
    readonly authorization: string;
  }
  const made = async (name: string, more: object = {}): Promise<ShareAnswer> => {
    const answer = await create(name, more);
    assert.equal(answer.status, 201, answer.text);
    return answer.body as ShareAnswer;
  };
  const change = (token: string, body: object) => world.call('PATCH', `${shares}/${token}`, { body });
  const remove = async (token: string): Promise<void> => {
    assert.equal((await world.call('DELETE', `${shares}/${token}`)).status, 204);
  };
  const messageOf = ({ body }: CallAnswer): string => (body as { message: string }).message;

  it('are refused with the remedy while no gateway opens ports', async () => {
    const answer = await create('early');
    assert.deepEqual(
      [answer.status, messageOf(answer)],
      [
        409,
        'No gateway opens ports for TCP: start gateways with --tcp-ports, such as --tcp-ports 20000-20099',
      ],
    );
  });

  it('get a free port, keep it through changes, and lose it with their mode', async () => {
    await offer({ first: 20_000, last: 20_002 });
    const { ingressPort, frontendEndpoints } = await made('kept');
    assert.ok(ingressPort !== null && ingressPort >= 20_000 && ingressPort <= 20_002);
    assert.deepEqual(frontendEndpoints, [`tcp://kept.share.localhost:${ingressPort}`]);
    const changed = await change('kept', { target: 'tcp://127.0.0.1:6379' });
    assert.equal((changed.body as ShareAnswer).ingressPort, ingressPort);
    const again = await world.call('GET', `${shares}/kept`);
    assert.equal(
      (await change('kept', again.body as object)).status,
      200,
      'it can be sent back as it was read',
    );
    const closed = await change('kept', { shareMode: 'private' });
    assert.deepEqual(
      [(closed.body as ShareAnswer).ingressPort, (closed.body as ShareAnswer).frontendEndpoints],
      [null, []],
    );
    await remove('kept');
  });

  it('get the port that they name, unless another share has it or no gateway opens it', async () => {
    await offer({ first: 20_000, last: 20_002 });
    assert.equal((await made('named', { ingressPort: 20_001 })).ingressPort, 20_001);
    const taken = await create('second', { ingressPort: 20_001 });
    assert.deepEqual(
      [taken.status, messageOf(taken).startsWith('Port 20001 belongs to another share')],
      [409, true],
    );
    const outside = await create('second', { ingressPort: 20_003 });
    assert.deepEqual(
      [outside.status, messageOf(outside)],
      [400, 'Value for ingressPort must be of a port that gateways open: 20000-20002'],
    );
    const moved = await change('named', { ingressPort: 20_002 });
    assert.equal((moved.body as ShareAnswer).ingressPort, 20_002);
    await remove('named');
  });

  it('are refused when every port has its share', async () => {
    await offer({ first: 20_010, last: 20_010 });
    await made('last');
    const full = await create('more');
    assert.equal(full.status, 409);
    assert.match(messageOf(full), /^All ports that gateways open for TCP \(20010\) belong to shares/);
    await remove('last');
  });

  it('leave a port that rests to their organization as long as another is free', async () => {
    await offer({ first: 20_020, last: 20_021 });
    const { ingressPort } = await made('gone', { ingressPort: 20_020 });
    await remove('gone');
    const place = {
      path: `/frontdoor/${world.other.frontdoorId}/shares`,
      environment: await world.addEnvironment('o', world.other.frontdoorId),
      authorization: world.other.authorization,
    };
    assert.equal((await create('stranger', { ingressPort }, place)).status, 409);
    const other = await create('stranger', {}, place);
    assert.equal((other.body as ShareAnswer).ingressPort, 20_021);
    assert.equal((await made('back', { ingressPort })).ingressPort, ingressPort);
    await remove('back');
    const second = await create('late', {}, place);
    assert.equal((second.body as ShareAnswer).ingressPort, 20_020, 'no other port is free');
    await offer(null);
  });

  it('leave half of the ports to other organizations', async () => {
    await offer({ first: 20_100, last: 20_129 });
    for (let count = 1; count <= 15; count += 1) await made(`part-${count}`, { ingressPort: 20_099 + count });
    const more = await create('part-16');
    assert.equal(more.status, 409);
    assert.match(
      messageOf(more),
      /^The organization has 15 ports for TCP, which is the most for one of several/,
    );
    assert.equal((await change('part-1', { ingressPort: 20_129 })).status, 200, 'it had one');
    const place = {
      path: `/frontdoor/${world.other.frontdoorId}/shares`,
      environment: await world.addEnvironment('p', world.other.frontdoorId),
      authorization: world.other.authorization,
    };
    const other = await create('neighbour', {}, place);
    assert.equal(other.status, 201, other.text);
    for (let count = 1; count <= 15; count += 1) await remove(`part-${count}`);
    await offer(null);
  });

  it('have no port where they speak HTTP or are private', async () => {
    await offer({ first: 20_030, last: 20_039 });
    const http = { backendMode: 'proxy', target: 'http://127.0.0.1:1', ingressPort: 20_030 };
    for (const more of [http, { shareMode: 'private', ingressPort: 20_030 }]) {
      const answer = await create('portless', more);
      assert.deepEqual(
        [answer.status, messageOf(answer)],
        [
          400,
          'Value for ingressPort must be of null: it is for a public share with a tcp:// or udp:// target',
        ],
      );
    }
  });

  it('refuse guards that need callers who show who they are, whichever comes first', async () => {
    await offer({ first: 20_040, last: 20_049 });
    const providers = `/frontdoor/${world.first.frontdoorId}/auth-providers`;
    const body = { name: 'keys', type: 'API_KEY', data: { placement: 'bearer', keys: [{ name: 'a' }] } };
    const { id } = (await world.call('POST', providers, { body })).body as { id: string };
    const refused = await create('guarded', { authProviderIds: [id] });
    assert.equal(refused.status, 409);
    assert.match(messageOf(refused), /nobody can sign in there, so it cannot have auth providers/);
    await made('guarded');
    assert.equal((await change('guarded', { authProviderIds: [id] })).status, 409);
    const policy = `${shares}/guarded/policy`;
    const users = { basicAuth: [{ name: 'ann', password: 'long enough for this' }] };
    for (const rule of [users, { emails: ['*@example.com'] }])
      assert.equal((await world.call('PUT', policy, { body: rule })).status, 409, JSON.stringify(rule));
    const rules = { ipAllow: ['192.0.2.0/24'], rateLimit: { requests: 5, per: 'PT1S' } };
    assert.equal((await world.call('PUT', policy, { body: rules })).status, 200);
    assert.equal((await world.call('PUT', `${shares}/hidden/policy`, { body: users })).status, 404);
    await made('hidden', { shareMode: 'private' });
    assert.equal((await world.call('PUT', `${shares}/hidden/policy`, { body: users })).status, 200);
    const opened = await change('hidden', { shareMode: 'public' });
    assert.equal(opened.status, 409);
    assert.match(messageOf(opened), /cannot have basicAuth/);
  });

  it('refuse such guards of a shared policy, too', async () => {
    const policies = `/frontdoor/${world.first.frontdoorId}/policies`;
    const open = await world.call('POST', policies, { body: { name: 'networks', ipDeny: ['192.0.2.1'] } });
    const { id } = open.body as { id: string };
    await made('shared', { policyId: id });
    const users = { name: 'networks', basicAuth: [{ name: 'ann', password: 'long enough for this' }] };
    const answer = await world.call('PUT', `${policies}/${id}`, { body: users });
    assert.deepEqual([answer.status, messageOf(answer).startsWith('Share shared is public')], [409, true]);
    const guarded = await world.call('POST', policies, { body: { ...users, name: 'users' } });
    assert.equal((await create('other', { policyId: (guarded.body as { id: string }).id })).status, 409);
  });

  it('refuse settings for heads, and take those for connections', async () => {
    await made('plain');
    const upstream = `${shares}/plain/upstream`;
    const headers = { requestHeaders: [{ action: 'set', name: 'X-A', value: 'b' }] };
    const refused = await world.call('PATCH', upstream, { body: headers });
    assert.deepEqual(
      [refused.status, messageOf(refused)],
      [
        400,
        'Value for requestHeaders must be of setting of a share that speaks HTTP (gateways do not read what others send)',
      ],
    );
    const settings = { proxyProtocol: 'v2', idleTimeoutSeconds: 60, maintenance: true };
    assert.equal((await world.call('PATCH', upstream, { body: settings })).status, 200);
  });

  it('need no port where TLS names them, and may ask for certificates where it ends at the gateway', async () => {
    await offer(null);
    const { ingressPort, ingress, frontendEndpoints } = await made('ended', { ingress: 'tls' });
    assert.deepEqual(
      [ingress, ingressPort, frontendEndpoints],
      ['tls', null, ['tls://ended.share.localhost:443']],
    );
    const certificates = { clientCertificate: { authorities: [(await makeTestAuthority()).ca] } };
    const policy = `${shares}/ended/policy`;
    assert.equal((await world.call('PUT', policy, { body: certificates })).status, 200);
    const passed = await change('ended', { ingress: 'tls-passthrough' });
    assert.deepEqual([passed.status, /cannot have clientCertificate/.test(messageOf(passed))], [409, true]);
    assert.equal((await world.call('PUT', policy, { body: {} })).status, 200);
    assert.equal((await change('ended', { ingress: 'tls-passthrough' })).status, 200);
    const both = await change('ended', { ingressPort: 20_000 });
    assert.deepEqual(
      [both.status, messageOf(both)],
      [
        400,
        'Value for ingressPort must be of null: a share with the ingress tls-passthrough has no port of its own',
      ],
    );
    assert.equal((await change('ended', { ingress: 'port' })).status, 409, 'no gateway opens ports');
  });

  it('of datagrams have ports of UDP, which may be those of TCP, and nothing else', async () => {
    const udp = { backendMode: 'udpTunnel', target: 'udp://127.0.0.1:53' };
    await offer(null);
    const early = await create('names', udp);
    assert.deepEqual([early.status, /start gateways with --udp-ports/.test(messageOf(early))], [409, true]);
    await offer({ first: 20_060, last: 20_060 });
    await offer({ first: 20_060, last: 20_060 }, 'udp');
    const stream = await made('stream');
    const names = await made('names', udp);
    assert.deepEqual([stream.ingressPort, names.ingressPort], [20_060, 20_060]);
    assert.deepEqual(names.frontendEndpoints, ['udp://names.share.localhost:20060']);
    const named = await change('names', { ingress: 'tls' });
    assert.deepEqual(
      [named.status, messageOf(named)],
      [400, 'Value for ingress must be of port (backendMode udpTunnel)'],
    );
    await remove('stream');
    const turned = await change('names', { backendMode: 'tcpTunnel', target: 'tcp://127.0.0.1:53' });
    assert.deepEqual((turned.body as ShareAnswer).frontendEndpoints, ['tcp://names.share.localhost:20060']);
    await remove('names');
  });

  it('may have the ports of every gateway', async () => {
    const second = await world.store.transaction((trx, touch) =>
      createFabricNode(trx, touch, { kind: 'gateway', name: 'h', nowMs: 1 }),
    );
    await offer({ first: 20_000, last: 20_005 });
    await takePortRange(world.store, second.id, 'tcp', { first: 20_004, last: 20_009 });
    assert.deepEqual(await offeredPorts(world.store.db, 'tcp'), [{ first: 20_000, last: 20_009 }]);
    await takePortRange(world.store, second.id, 'tcp', null);
    assert.deepEqual(await offeredPorts(world.store.db, 'tcp'), [{ first: 20_000, last: 20_005 }]);
  });
});
