// A gateway behind each proxy of the guide "Behind a proxy", as real programs with the guide's configuration: plain requests,
// headers that clients forge, WebSockets, a sign-in at a real OpenID provider, and rules about the client's address.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { until, within } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { GATEWAY_PROXIES, gatewayProxySkip, startGatewayProxy } from '../support/gateway-proxies.ts';
import {
  ACCESS_LOG,
  startIdentityWorld,
  ZONE,
  type IdentityWorld,
  type SecureReady,
} from '../support/identity-world.ts';
import { Visitor, type Entrance } from '../support/visitor.ts';

/** Inside the allow list of the share with address rules. */
const FORGED = '192.0.2.66';
const FORGERY = {
  'x-forwarded-for': FORGED,
  'x-forwarded-proto': 'http',
  'x-forwarded-host': `other.${ZONE}`,
  'x-real-ip': FORGED,
  forwarded: `for=${FORGED};proto=http;host=other.${ZONE}`,
};

describe('a gateway', () => {
  let world: IdentityWorld;
  let entrance: Entrance;
  let port: number;
  const hosts = { open: '', inner: '', signed: '', other: '' };
  before(async () => {
    port = await freePort();
    const options = [
      '--trusted-proxies',
      '127.0.0.1',
      '--proxy-protocol',
      'https',
      '--public-https-port',
      String(port),
    ];
    world = await startIdentityWorld({ gatewayArgs: options });
    entrance = { ca: world.authority.ca, plainPort: world.plainPort, securePort: port };
    hosts.open = await world.share('open', []);
    hosts.other = await world.share('other', []);
    hosts.signed = await world.share('signed', [await world.addProvider('OIDC', 'staff')]);
    hosts.inner = await world.share('inner', []);
  });
  after(() => world?.close());

  for (const name of GATEWAY_PROXIES) {
    describe(`behind ${name}`, { skip: gatewayProxySkip(name) }, () => {
      let proxy: { close(): Promise<void> } | undefined;
      let ann: Visitor;
      before(async () => {
        ann = new Visitor(entrance);
        proxy = await startGatewayProxy({
          name,
          port,
          gatewayPlainPort: world.plainPort,
          gatewaySecurePort: (world.parts.gateway.ready as SecureReady).securePort,
          zone: ZONE,
          tls: await world.authority.issue(ZONE, { dns: [`*.${ZONE}`] }),
        });
      });
      after(() => proxy?.close());

      it('forwards the address, scheme and host of the client, and none that a client forges', async () => {
        for (const headers of [{}, FORGERY]) {
          const { status, text } = await ann.ask(hosts.open, '/page', { headers });
          assert.equal(status, 200, text);
          const seen = world.origin.last(hosts.open).headers;
          assert.equal(seen['x-forwarded-for'], ann.address);
          assert.equal(seen['x-forwarded-proto'], 'https');
          assert.equal(seen['x-forwarded-host'], `${hosts.open}:${port}`);
          assert.equal(seen['host'], `${hosts.open}:${port}`);
          assert.deepEqual([seen['x-real-ip'], seen['forwarded']], [undefined, undefined]);
        }
      });

      it('carries WebSockets', async () => {
        const socket = new WebSocket(`wss://127.0.0.1:${port}/socket`, {
          agent: new Agent({ ca: world.authority.ca, localAddress: ann.address, servername: hosts.open }),
          headers: { host: `${hosts.open}:${port}` },
        });
        await within('an open WebSocket', once(socket, 'open'));
        socket.send('hello');
        const [data] = (await within('an echo', once(socket, 'message'))) as [Buffer];
        assert.equal(data.toString(), 'hello');
        assert.equal(world.origin.last(hosts.open).headers['x-forwarded-for'], ann.address);
        socket.terminate();
      });

      it('lets a person sign in, who then reaches the page that was asked for', async () => {
        const { status, location } = await ann.logIn(hosts.signed, '/deep?x=1', 'ann');
        assert.deepEqual([status, location], [303, '/deep?x=1']);
        const page = await ann.ask(hosts.signed, location);
        assert.equal(page.status, 200);
        assert.equal(world.origin.last(hosts.signed).headers['zrok-auth-email'], 'ann@example.com');
      });

      it('is judged by rules about the address of the client', async () => {
        await world.call('PUT', '/shares/inner/policy', { ipAllow: [ann.address, FORGED] });
        const bob = new Visitor(entrance);
        const statusOf = async (visitor: Visitor) =>
          (await visitor.ask(hosts.inner, '/', { headers: FORGERY })).status;
        await until(
          'the rule is in effect',
          () => statusOf(bob),
          (status) => status === 403,
          30_000,
        );
        assert.equal(await statusOf(ann), 200);
      });

      it('has the client in the access log', async () => {
        const clients = (): readonly string[] => {
          const lines = readFileSync(join(world.parts.folder, ACCESS_LOG), 'utf8').trim().split('\n');
          return lines.map((line) => (JSON.parse(line) as { client: string }).client);
        };
        const found = await until(
          'the client in the access log',
          clients,
          (all) => all.includes(ann.address),
          30_000,
        );
        assert.ok(!found.value.includes(FORGED));
      });
    });
  }
});
