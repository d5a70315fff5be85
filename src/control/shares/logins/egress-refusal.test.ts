import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { within } from '../../../../test/support/deadline.ts';
import { startHostileProvider, type HostileProvider } from '../../../../test/support/hostile-provider.ts';
import { closerOf } from '../../../../test/support/server-sockets.ts';
import { loginStart, logIn, openLoginFixture, type LoginFixture } from './login-fixture.ts';

/** Ways to write an address that is not the public internet; `PORT` is where something listens. */
const INSIDE = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '0x7f.0x0.0x0.0x1',
  '127.0.0.1.',
  '0',
  '0.0.0.0',
  '0x0',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd12:3456:789a::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[2001::1]',
  '[100::1]',
  '10.0.0.1',
  '10.255.255.255',
  '0x0a000001',
  '167772161',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '192.168.1',
  '3232235521',
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '100.64.0.1',
  '100.127.255.254',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '168.63.129.16',
  '%31%32%37.0.0.1',
  '①②⑦.0.0.1',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'inside.example',
  'both.example',
];

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'inside.example': ['10.0.0.1'],
  'both.example': ['8.8.8.8', '127.0.0.1'],
};

describe('addresses inside that a provider names', () => {
  let world: LoginFixture;
  let issuer: HostileProvider;
  let canary: Server;
  let hits = 0;
  let port = 0;
  let count = 0;
  before(async () => {
    canary = createServer((_request, response) => {
      hits += 1;
      response.end('{}');
    });
    canary.on('connection', () => (hits += 1));
    canary.listen(0, '127.0.0.1');
    await once(canary, 'listening');
    ({ port } = canary.address() as AddressInfo);
    issuer = await startHostileProvider();
    world = await openLoginFixture({
      // The issuer alone is open: what it names must be as well.
      allowEgress: [`127.0.0.1:${issuer.port}`],
      egress: {
        timeoutMs: 30_000,
        lookup: async (host) => {
          const addresses = NAMES[host] ?? ['127.0.0.1'];
          return addresses.map((address) => ({ address, family: 4 }));
        },
      },
    });
  });
  after(async () => {
    await world.close();
    await issuer.close();
    canary.close();
    canary.closeAllConnections();
  });

  async function outcome(data: Record<string, unknown>, type: 'OIDC' | 'GOOGLE' | 'GITHUB' = 'OIDC') {
    const { id } = await world.addProvider(type, { client_id: 'a', client_secret: 'b', ...data });
    count += 1;
    const share = await world.addShare(`place-${count}`, [id]);
    const { logins } = world.parts;
    const started = await logins.start(loginStart(share, id));
    if (started.type === 'refused' || type !== 'GITHUB') return started;
    const parameters = { code: 'x', state: new URL(started.url).searchParams.get('state')! };
    return logins.finish({ host: 'oauth.share.localhost', providerId: id, parameters, address: '192.0.2.1' });
  }
  const failed = { type: 'refused', reason: 'provider-failed' };

  it(`are connected to in none of ${INSIDE.length} spellings, as issuer, discovery or GitHub`, async () => {
    for (const host of INSIDE) {
      for (const scheme of ['http', 'https']) {
        const address = `${scheme}://${host}:${port}`;
        assert.deepEqual(await outcome({ issuer: address }), failed, address);
        assert.deepEqual(
          await outcome({ issuer: 'https://issuer.example', discovery_url: `${address}/metadata` }),
          failed,
          address,
        );
        assert.deepEqual(await outcome({ issuer: address }, 'GOOGLE'), failed, address);
        assert.deepEqual(await outcome({ base_url: address }, 'GITHUB'), failed, address);
      }
    }
    assert.equal(hits, 0);
  });

  it('are connected to for no endpoint that metadata name', async () => {
    const endpoints = ['jwks_uri', 'token_endpoint', 'userinfo_endpoint'];
    for (const [index, host] of INSIDE.entries()) {
      const address = `http://${host}:${port}`;
      // All spellings go through the same check: the first host is named for every endpoint, each of the others for one.
      const named = index === 0 ? endpoints : [endpoints[index % endpoints.length]!];
      for (const endpoint of named) {
        issuer.attack = { metadata: (metadata) => ({ ...metadata, [endpoint]: `${address}/x` }) };
        const { id } = await world.addProvider('OIDC', {
          issuer: issuer.issuer,
          client_id: 'frontdoor',
          client_secret: 'b',
        });
        count += 1;
        const share = await world.addShare(`place-${count}`, [id]);
        const result = await logIn(world.parts, loginStart(share, id));
        const isUnreadable = endpoint === 'userinfo_endpoint' && !URL.canParse(`${address}/x`);
        assert.equal(result.type, isUnreadable ? 'session' : 'refused', `${endpoint} ${address}`);
      }
    }
    issuer.attack = {};
    assert.equal(hits, 0);
  });

  it('are not reached by a redirect of the issuer, nor waited for', async () => {
    const elsewhere = createServer((_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${port}/` });
      response.end();
    });
    const mute = createTcpServer((socket) => socket.on('error', () => {}));
    const closeMute = closerOf(mute);
    const large = createServer((_request, response) => response.end(`"${'x'.repeat(1_200_000)}"`));
    for (const server of [elsewhere, mute, large]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    const ports = [elsewhere, mute, large].map((server) => (server.address() as AddressInfo).port);
    await using open = await openLoginFixture({
      allowEgress: ports.map((each) => `127.0.0.1:${each}`),
      egress: { timeoutMs: 300, lookup: async () => [{ address: '127.0.0.1', family: 4 }] },
    });
    for (const each of ports) {
      const issuerUrl = `http://issuer.example:${each}`;
      const { id } = await open.addProvider('OIDC', { issuer: issuerUrl, client_id: 'a' });
      const share = await open.addShare(`port-${each}`, [id]);
      const refused = within('a refusal', open.parts.logins.start(loginStart(share, id)), 5_000);
      assert.deepEqual(await refused, failed);
    }
    assert.equal(hits, 0);
    for (const server of [elsewhere, large]) server.closeAllConnections();
    for (const server of [elsewhere, large]) server.close();
    closeMute();
  });
});
