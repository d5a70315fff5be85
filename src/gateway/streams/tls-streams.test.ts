import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { connect, TLSSocket, type ConnectionOptions } from 'node:tls';
import type { GatewayShare } from '#domain/gateway-shapes';
import { makeTestAuthority, type TestIdentity } from '../../../test/support/certificates.ts';
import { within } from '../../../test/support/deadline.ts';
import type { RequestObserver } from '../exchange/request-record.ts';
import { AccessWorld, rulesOf } from '../testing/access-world.ts';
import { shareOf } from '../testing/gateway-world.ts';
import { ManualTime } from '../testing/manual-time.ts';
import { RawClient } from '../testing/raw-client.ts';

const NAME = 'db.share.localhost';
const authority = await makeTestAuthority();

interface Opened {
  readonly world: AccessWorld;
  readonly time: ManualTime;
  /** Codes of connections that were refused or broke. */
  readonly failures: string[];
  /** The certificate of the service. */
  readonly service: TestIdentity;
}

type Kind = NonNullable<GatewayShare['ingress']>['kind'];

/** A gateway, and an echo, which has TLS of its own where the kind is `tls-passthrough`. */
async function openWorld(test: TestContext, kind: Kind, more: Partial<GatewayShare> = {}): Promise<Opened> {
  const time = new ManualTime();
  const failures: string[] = [];
  const observer: RequestObserver = {
    ...{ began() {}, refused() {}, served() {}, gone() {}, flush() {} },
    failed: (_record, { code }) => void failures.push(code),
  };
  const opened: { world?: AccessWorld } = {};
  const table = () => opened.world!.world.gateway.table;
  const tls = {
    clientAuthorities: (name: string) => table().clientAuthorities(name),
    hasClientAuthorities: () => table().hasClientAuthorities,
  };
  const world = await AccessWorld.start({}, tls, time, { observer });
  opened.world = world;
  test.after(() => world.close());
  const service = await authority.issue('service', { dns: [NAME] });
  await world.world.serveRaw(
    'db',
    (socket) => {
      const stream =
        kind === 'tls-passthrough'
          ? new TLSSocket(socket, {
              isServer: true,
              key: service.key,
              cert: service.cert,
              ALPNProtocols: ['own'],
            })
          : socket;
      stream.on('error', () => {});
      stream.pipe(stream);
    },
    { hosts: [], ingress: { kind, hosts: [NAME] }, ...more },
  );
  return { world, time, failures, service };
}

/** Resolves when TLS is established, or with the code of the failure. */
async function dial({ world }: Opened, options: ConnectionOptions = {}): Promise<TLSSocket | string> {
  const socket = connect({
    port: world.securePort,
    host: '127.0.0.1',
    servername: NAME,
    ca: authority.ca,
    rejectUnauthorized: false,
    ...options,
  });
  const { promise, resolve } = Promise.withResolvers<TLSSocket | string>();
  socket.once('secureConnect', () => resolve(socket));
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  socket.once('close', () => resolve('closed'));
  const outcome = await within('the handshake', promise);
  if (typeof outcome !== 'string') world.world.own(new RawClient(outcome));
  return outcome;
}

async function echoed(socket: TLSSocket | string, text: string): Promise<void> {
  assert.ok(typeof socket !== 'string', 'TLS was established');
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  socket.once('data', (bytes: Buffer) => resolve(bytes.toString()));
  socket.once('close', () => reject(new Error('closed before the echo')));
  socket.write(text);
  assert.equal(await within('the echo', promise), text);
}

function commonName(socket: TLSSocket | string): string {
  assert.ok(typeof socket !== 'string', 'TLS was established');
  return String(socket.getPeerCertificate().subject.CN);
}

describe('TLS that is passed through by its server name', () => {
  it('reaches the service with its own certificate and protocol', async (test) => {
    const opened = await openWorld(test, 'tls-passthrough');
    const socket = await dial(opened, { ALPNProtocols: ['own'] });
    assert.equal(commonName(socket), 'service');
    assert.equal((socket as TLSSocket).alpnProtocol, 'own');
    await echoed(socket, 'through');
  });

  it('is read from a hello that comes in pieces', async (test) => {
    const opened = await openWorld(test, 'tls-passthrough');
    const client = opened.world.world.own(await RawClient.connect(opened.world.securePort));
    const hello = await clientHello();
    for (const byte of hello) {
      client.socket.write(Uint8Array.of(byte));
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    // A handshake record of the service.
    await client.until((text) => text.charCodeAt(0) === 22);
  });

  it('dials nothing for a hello that is not complete', async (test) => {
    const opened = await openWorld(test, 'tls-passthrough');
    const { world } = opened;
    assert.equal(world.world.gateway.table.streams.hasNames, true);
    const stats = () => world.world.gateway.stats();
    const client = world.world.own(await RawClient.connect(world.securePort));
    client.socket.write((await clientHello()).subarray(0, 60));
    await world.world.eventually(() => stats().connections === 1, 'the connection');
    assert.equal(stats().streamConnections, 0, 'nothing is dialed for it');
    assert.equal(world.world.dialer.dials, 0);
  });

  it('serves no other name, and no client without one', async (test) => {
    const opened = await openWorld(test, 'tls-passthrough');
    for (const servername of ['other.share.localhost', ''])
      assert.notEqual(commonName(await dial(opened, { servername })), 'service', servername);
    assert.equal(opened.world.world.dialer.dials, 0);
  });

  it('is for networks that the rules allow, and is cut when they change', async (test) => {
    const opened = await openWorld(test, 'tls-passthrough');
    const { world, time, failures } = opened;
    const socket = await dial(opened);
    await echoed(socket, 'x');
    const closed = new Promise((resolve) => {
      (socket as TLSSocket).once('close', resolve);
    });
    const rules = rulesOf({ ip: { allow: ['192.0.2.0/24'], deny: [] } });
    const ingress = { kind: 'tls-passthrough', hosts: [NAME] } as const;
    world.publish('db', { hosts: [], ingress, rules, updatedAtMs: 2 });
    time.advance(2_000);
    await within('the cut', closed);
    assert.ok(typeof (await dial(opened)) === 'string');
    await world.world.eventually(() => failures.length === 2, 'both records');
    assert.deepEqual(failures, ['address-not-allowed', 'address-not-allowed']);
  });

  it('leaves shares of HTTP as they are', async (test) => {
    const opened = await openWorld(test, 'tls-passthrough');
    await opened.world.serve('app');
    assert.equal((await opened.world.ask('app')).body, 'origin of app');
    assert.equal((await opened.world.ask('db', { isPlain: true })).status, 404);
  });
});

describe('TLS of a share that ends at the gateway', () => {
  it('shows the certificate of the gateway, and passes on what is inside', async (test) => {
    const opened = await openWorld(test, 'tls');
    const socket = await dial(opened, { ALPNProtocols: ['postgresql'] });
    assert.equal(commonName(socket), 'gateway');
    assert.equal((socket as TLSSocket).alpnProtocol, 'postgresql');
    await echoed(socket, 'inside');
  });

  it('asks for certificates of the authorities of the rules', async (test) => {
    const rules = rulesOf({ clientCertificate: { authorities: [authority.ca], names: ['ann'] } });
    const opened = await openWorld(test, 'tls', { rules });
    const [ann, bob] = [await authority.issue('ann'), await authority.issue('bob')];
    await echoed(await dial(opened, { key: ann.key, cert: ann.cert }), 'ann');
    for (const options of [{}, { key: bob.key, cert: bob.cert }]) {
      const socket = await dial(opened, options);
      if (typeof socket !== 'string')
        await within(
          'the refusal',
          new Promise((resolve) => {
            socket.once('close', resolve);
          }),
        );
    }
    assert.deepEqual(opened.failures, ['certificate-missing', 'certificate-not-allowed']);
    assert.equal(opened.world.world.dialer.dials, 1);
  });

  it('ends with the share', async (test) => {
    const opened = await openWorld(test, 'tls');
    const socket = await dial(opened);
    await echoed(socket, 'x');
    const closed = new Promise((resolve) => {
      (socket as TLSSocket).once('close', resolve);
    });
    opened.world.world.gateway.table.change([], [shareOf('db').id]);
    await within('the cut', closed);
    assert.deepEqual(opened.failures, ['withdrawn']);
  });
});

/** The first bytes of a client that asks for the name. */
async function clientHello(): Promise<Buffer> {
  const { createServer } = await import('node:net');
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  server.on('connection', (socket) => {
    socket.once('data', (bytes: Buffer) => {
      resolve(bytes);
      socket.destroy();
    });
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  const { port } = server.address() as { port: number };
  const client = connect({ port, host: '127.0.0.1', servername: NAME });
  client.on('error', () => {});
  const hello = await within('the hello', promise);
  server.close();
  return hello;
}
