// Accepting links: real TLS, a simulated controller, and peers with a false identity.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { after, before, describe, test } from 'node:test';
import { FrontdoorError, ManualClock, silentLog, type Log, type LogFields } from '#base';
import { dialChannel, type Channel } from '#net/channel';
import { encodeFrame, makeHello } from '#wire';
import { PayloadFrame } from '#wire/xgress';
import { makeTestAuthority, type TestIdentity } from '../../../test/support/certificates.ts';
import { until, within } from '../../../test/support/deadline.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { encodeLinkHello, type LinkHello } from './link-hello-codec.ts';
import {
  linkDialerFixture,
  linkListenerFixture,
  LinkMesh,
  type LinkingRouter,
  type MeshRouterOptions,
  type AnnouncedPeer,
} from './testing/link-mesh.ts';

const ACCEPTS: MeshRouterOptions = { link: { dialers: [] } };

let mesh: LinkMesh;
let listener: LinkingRouter;
let honest: LinkingRouter;
const warnings: LogFields[] = [];

const log: Log = { ...silentLog, warn: (fields) => void warnings.push(fields), child: () => log };

before(async () => {
  mesh = await LinkMesh.make();
  listener = await mesh.add('listener', { ...ACCEPTS, log });
  honest = await mesh.add('honest', { link: { listeners: [] } });
});
after(() => mesh.close());

const HELLO: LinkHello = {
  linkId: 'link1',
  connectionId: '7b1c0f6e-0000-4000-8000-000000000001',
  routerId: 'honest',
  routerVersion: 'v1.7.2',
  binding: '',
  iteration: 1,
  dialedRouterId: 'listener',
};

function dial(identity: TestIdentity, hello: LinkHello = HELLO, to = listener): Promise<Channel> {
  return dialChannel({
    host: '127.0.0.1',
    port: to.port,
    tls: identity,
    alpn: 'ziti-link',
    helloId: hello.linkId,
    helloHeaders: encodeLinkHello(hello),
    timeoutMs: 30_000,
    log: silentLog,
  });
}

/** Asserts a refusal at the hello, or a close before any frame was read. */
async function refused(dialing: Promise<Channel>): Promise<void> {
  const before = listener.forwarding.frames.length;
  try {
    const channel = await dialing;
    channel.sendData(new PayloadFrame('c1', 0, 0, Buffer.from('x')));
    await closed(channel);
  } catch (error) {
    assert.ok(error instanceof FrontdoorError, String(error));
  }
  assert.equal(listener.forwarding.frames.length, before, 'a frame was read');
  assert.deepEqual(listener.links.links(), []);
}

function closed(channel: Channel): Promise<void> {
  return within(
    'the channel to be closed',
    new Promise((resolve) => channel.handle({ onFrame: () => {}, onClose: () => resolve() })),
  );
}

describe('a link is refused', () => {
  test('without a certificate', async () => {
    const socket = tls.connect({
      host: '127.0.0.1',
      port: listener.port,
      ca: mesh.authority.ca,
      ALPNProtocols: ['ziti-link'],
    });
    socket.on('error', () => {});
    socket.write(encodeFrame(makeHello(HELLO.linkId, encodeLinkHello(HELLO))));
    socket.resume();
    // Without the option it would be 5 s.
    await within('the connection to be closed', new Promise((resolve) => socket.on('close', resolve)), 4_500);
    assert.deepEqual(listener.links.links(), []);
  });

  test('with a certificate of another authority', async () => {
    const other = await makeTestAuthority('another CA');
    const identity = await other.issue('honest');
    await refused(dial({ ...identity, ca: mesh.authority.ca }));
    assert.ok(
      warnings.some(({ reason }) => String(reason).includes('does not chain to a trusted authority')),
    );
  });

  test('with a certificate that has expired, or is not valid yet', async () => {
    await refused(dial(await mesh.authority.issue('honest', { days: -0.5 })));
    assert.ok(warnings.some(({ reason }) => String(reason).includes('expired')));
    await refused(dial(await mesh.authority.issue('honest', { startsInDays: 1 })));
    assert.ok(warnings.some(({ reason }) => String(reason).includes('not valid yet')));
  });

  test('with a good certificate of another router', async () => {
    await refused(dial(await mesh.authority.issue('honest')));
    assert.ok(warnings.some(({ reason }) => String(reason).startsWith('controller ctrl: no')));
  });

  test('with a stranger’s certificate before that of the router in its chain', async () => {
    const stranger = await mesh.authority.issue('stranger');
    await refused(dial({ ...stranger, cert: `${stranger.cert}\n${honest.identity.cert}` }));
    assert.ok(mesh.controller.verified.every(({ fingerprints }) => fingerprints.length === 1));
  });

  test('when it is meant for another router, or comes from one of our own id, or is no hello of a link', async () => {
    await refused(dial(honest.identity, { ...HELLO, dialedRouterId: 'somebody' }));
    await refused(dial(listener.identity, { ...HELLO, routerId: 'listener' }));
    await refused(dial(honest.identity, { ...HELLO, routerId: '' }));
  });

  test('when no controller is connected, or the only one goes away before it answered', async () => {
    const alone = await mesh.add('alone', ACCEPTS);
    const hello = { ...HELLO, dialedRouterId: 'alone' };
    const asked = Promise.withResolvers<void>();
    mesh.controller.judge = () => {
      asked.resolve();
      return undefined;
    };
    const dialing = dial(honest.identity, hello, alone);
    await within('the question', asked.promise);
    mesh.controller.disconnect(alone.controllers, alone.controller);
    await closed(await dialing);
    await assert.rejects(dial(honest.identity, hello, alone), { code: 'channel-refused' });
    assert.deepEqual(alone.links.links(), []);
  });
});

describe('a link is taken in', () => {
  test('from the router that a controller vouches for, whose first frames wait for that', async () => {
    const router = await mesh.add('patient', ACCEPTS);
    let isAsked = false;
    mesh.controller.judge = () => {
      isAsked = true;
      return undefined;
    };
    const channel = await dial(honest.identity, { ...HELLO, dialedRouterId: 'patient' }, router);
    for (let sequence = 0; sequence < 1_000; sequence += 1) {
      channel.sendData(new PayloadFrame('c1', sequence, 0, Buffer.from('x')));
    }
    await until('the question', () => isAsked, Boolean);
    assert.equal(router.forwarding.frames.length, 0);
    // The controller disconnects without an answer, so the next one is asked.
    mesh.controller.judge = () => true;
    mesh.controller.connect(router.controllers);
    mesh.controller.disconnect(router.controllers, router.controller);
    await until(
      'the frames',
      () => router.forwarding.frames.length,
      (count) => count === 1_000,
    );
    const sequences = router.forwarding.frames.map(
      ({ frame }) => frame instanceof PayloadFrame && frame.sequence,
    );
    assert.deepEqual(
      sequences,
      Array.from({ length: 1_000 }, (_, index) => index),
    );
    channel.close('done');
  });

  test('once from a router whose key was copied: the copy’s link and the own one are of one key', async () => {
    const clock = new ManualClock(Date.now());
    const router = await mesh.add('careful', { ...ACCEPTS, clock });
    mesh.controller.judge = () => true;
    const hello = { ...HELLO, dialedRouterId: 'careful', iteration: 2 };
    const own = await dial(honest.identity, hello, router);
    await router.linked();
    const copy = await dial(
      honest.identity,
      { ...hello, linkId: 'link9', connectionId: '7b1c0f6e-0000-4000-8000-000000000009' },
      router,
    );
    const ended = closed(copy);
    // Duplicates are closed later, because the other end may have selected this one.
    await until(
      'the end of the copy’s link',
      () => {
        clock.advance(10_000);
        router.links.tick();
        return copy.isClosed;
      },
      Boolean,
    );
    await ended;
    assert.deepEqual(
      router.links.links().map(({ linkId }) => linkId),
      ['link1'],
    );
    own.close('done');
  });

  test('from a router before 1.7, which does not name the router that it dials', async () => {
    const router = await mesh.add('modern', ACCEPTS);
    mesh.controller.judge = () => true;
    const channel = await dial(honest.identity, { ...HELLO, dialedRouterId: undefined }, router);
    await router.linked();
    channel.close('done');
  });
});

describe('a dialer closes', () => {
  test('of a server of another authority, of another name, or with another router’s id', async () => {
    const other = await makeTestAuthority('another CA');
    const issued = await other.issue('impostor');
    const impostors = [
      await mesh.add('impostor', { ...ACCEPTS, identity: { ...issued, ca: mesh.authority.ca } }),
      await mesh.add('named', {
        ...ACCEPTS,
        identity: await mesh.authority.issue('named', { dns: ['elsewhere.example'] }),
      }),
      await mesh.add('wrong', ACCEPTS),
    ];
    mesh.controller.judge = () => true;
    const dialer = await mesh.add('dialer', { link: { listeners: [] } });
    for (const impostor of impostors) {
      dialer.meet(impostor, { id: impostor.id === 'wrong' ? 'right' : impostor.id });
    }
    await until(
      'all dials to fail',
      () => dialer.statuses(),
      (statuses) => statuses.length === 3 && statuses.every((status) => status === 'dialFailed'),
    );
    assert.deepEqual(dialer.links.links(), []);
    assert.equal(dialer.forwarding.links.size, 0);
  });

  test('of a dial after the connect timeout', async () => {
    const silent = await silentServer();
    const channel = { ...linkDialerFixture().channel, connectTimeoutMs: 150 };
    const dialer = await mesh.add('hasty', {
      link: { listeners: [], dialers: [linkDialerFixture({ channel })] },
    });
    const fromMs = performance.now();
    dialer.meet(listener, { listeners: listenersAt(silent.port) });
    await until(
      'the dial to fail',
      () => dialer.statuses()[0],
      (status) => status === 'dialFailed',
      // Without the option it would be 5 s.
      4_500,
    );
    assert.ok(performance.now() - fromMs >= 140);
    await silent.close();
  });

  test('of dials that the pool has no room for: so many at once, so many waiting', async () => {
    const silent = await silentServer();
    const channel = { ...linkDialerFixture().channel, connectTimeoutMs: 600_000 };
    const dialer = await mesh.add('narrow', {
      link: { listeners: [], dialers: [linkDialerFixture({ channel })] },
      forwarder: { linkDialQueueLength: 1, linkDialWorkerCount: 2 },
    });
    for (const id of ['a', 'b', 'c', 'd']) {
      dialer.meet(listener, { id, listeners: listenersAt(silent.port) });
    }
    assert.deepEqual(dialer.statuses(), ['dialing', 'dialing', 'dialing', 'queueFailed']);
    await until(
      'two to be dialed',
      () => silent.count(),
      (count) => count === 2,
    );
    assert.equal(dialer.links.dialPool.queueSize, 1);
    await dialer.close();
    await silent.close();
  });
});

describe('link listeners', () => {
  test('of one address cannot both take links: the error names the second', async () => {
    const bind = { type: 'tls', host: '127.0.0.1', port: await freePort() };
    const listeners = [
      linkListenerFixture({ bind, advertise: bind }),
      linkListenerFixture({ bind, advertise: bind, path: 'link.listeners[1]' }),
    ];
    await assert.rejects(mesh.add('twice', { link: { listeners } }), /router\.yml:7: link\.listeners\[1\]/);
  });

  test('whose port is taken are named with their line and key', async (t) => {
    const bind = { type: 'tls', host: '127.0.0.1', port: await freePort() };
    const other = net.createServer().listen(bind.port, bind.host);
    t.after(() => void other.close());
    await once(other, 'listening');
    const listeners = [linkListenerFixture({ bind, advertise: bind })];
    await assert.rejects(mesh.add('taken', { link: { listeners } }), {
      code: 'port-taken',
      message: `router.yml:7: link.listeners[0].bind: 127.0.0.1:${bind.port} is taken`,
    });
  });

  test('are advertised with protocol, groups and the interface that they listen on', async () => {
    const router = await mesh.add('advertiser', {
      link: {
        listeners: [
          linkListenerFixture({
            advertise: { type: 'tls', host: 'router.example', port: 6_000 },
            groups: ['blue', 'red'],
            localBinding: 'eth0',
          }),
        ],
      },
    });
    assert.deepEqual(router.links.advertised(), [
      { address: 'tls:router.example:6000', protocol: 'tls', groups: ['blue', 'red'], localBinding: 'eth0' },
    ]);
  });

  test('accept a number of unfinished hellos at once, queue a number, and close the oldest for one more', async () => {
    const channel = {
      ...linkListenerFixture().channel,
      maxOutstandingConnects: 2,
      maxQueuedConnects: 1,
      connectTimeoutMs: 600_000,
    };
    const router = await mesh.add('crowded', {
      link: { listeners: [linkListenerFixture({ channel })], dialers: [] },
    });
    const sockets: tls.TLSSocket[] = [];
    const isClosed: boolean[] = [];
    for (let index = 0; index < 4; index += 1) {
      const socket = tls.connect({
        ...honest.identity,
        host: '127.0.0.1',
        port: router.port,
        ALPNProtocols: ['ziti-link'],
      });
      sockets.push(socket.on('error', () => {}).resume());
      isClosed[index] = false;
      socket.on('close', () => (isClosed[index] = true));
      await within('the handshake', new Promise((resolve) => socket.on('secureConnect', resolve)));
    }
    await until(
      'the first to be closed',
      () => isClosed,
      ([first]) => first === true,
    );
    assert.deepEqual(isClosed, [true, false, false, false]);
    for (const socket of sockets) socket.destroy();
  });

  test('close a peer that sends no hello within the connect timeout', async () => {
    const channel = { ...linkListenerFixture().channel, connectTimeoutMs: 150 };
    const router = await mesh.add('strict', {
      link: { listeners: [linkListenerFixture({ channel })], dialers: [] },
    });
    const socket = tls.connect({
      ...honest.identity,
      host: '127.0.0.1',
      port: router.port,
      ALPNProtocols: ['ziti-link'],
    });
    socket.on('error', () => {});
    socket.resume();
    const fromMs = performance.now();
    // Without the option it would be 5 s.
    await within('the connection to be closed', new Promise((resolve) => socket.on('close', resolve)), 4_500);
    assert.ok(performance.now() - fromMs >= 140);
  });
});

/** Accepts connections and sends nothing. */
async function silentServer(): Promise<{ port: number; count(): number; close(): Promise<void> }> {
  const sockets: net.Socket[] = [];
  const server = net.createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    count: () => sockets.length,
    close: async () => {
      const closing = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closing;
    },
  };
}

function listenersAt(port: number): AnnouncedPeer['listeners'] {
  return [{ address: `tls:127.0.0.1:${port}`, protocol: 'tls', groups: ['default'] }];
}
