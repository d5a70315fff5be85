// Controllers that dial the router over TLS, and other peers that pose as controllers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, before, test } from 'node:test';
import * as tls from 'node:tls';
import { silentLog, systemClock, type Log } from '#base';
import { TlsPorts } from '#net';
import { dialChannel, type Channel, type ConnectionPlan } from '#net/channel';
import { contentType, encodeFrame, headerId, makeFrame, makeHello, versionHeader } from '#wire';
import { encodeControllerHello, helloMessages } from '#wire/ctrl';
import {
  makeTestAuthority,
  type TestAuthority,
  type TestIdentity,
} from '../../../test/support/certificates.ts';
import { until, within } from '../../../test/support/deadline.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { closeOf } from '../../../test/support/socket-end.ts';
import { routerConfigFixture } from '../testing/router-config-fixture.ts';
import { ControllerSet } from './controller-set.ts';
import { CtrlListeners } from './ctrl-listeners.ts';

const ROLE = 'spiffe://test.example/controller/c1';
const HELLO = encodeControllerHello(versionHeader('linux', 'x64'), [1, 2, 3, 4, 5, 6]);

let authority: TestAuthority;
let router: TestIdentity;
let controller: TestIdentity;
before(async () => {
  authority = await makeTestAuthority();
  [router, controller] = await Promise.all([
    authority.issue('router-1'),
    authority.issue('c1', { uris: [ROLE], purposes: ['client'] }),
  ]);
});

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface ListenerOptions {
  readonly port?: number;
  readonly members?: readonly string[];
  readonly connectTimeoutMs?: number;
  readonly log?: Log;
}

async function openListeners({
  port = 0,
  members = [],
  connectTimeoutMs = 600_000,
  log = silentLog,
}: ListenerOptions = {}) {
  const base = routerConfigFixture('/nowhere').ctrl;
  const bind = { type: 'tls', host: '127.0.0.1', port };
  const advertise = { type: 'tls', host: 'router.example', port: 6262 };
  const channel = { ...base.channel, connectTimeoutMs };
  const config = {
    ...base,
    listeners: [{ path: 'ctrl.listeners[0]', bind, advertise, groups: ['default'], channel }],
  };
  const seen: string[] = [];
  const set = new ControllerSet({
    routerId: 'router-1',
    config,
    proxy: undefined,
    tls: () => router,
    linkListeners: () => [{ address: 'tls:router.example:10080', protocol: 'tls', groups: ['default'] }],
    log: silentLog,
  });
  set.start({ onFrame: (frame, from) => void seen.push(`${frame.contentType} ${from.id}`) });
  const ports = new TlsPorts({ log: silentLog });
  closers.push(async () => {
    set.close();
    await ports.close();
  });
  const listeners = await CtrlListeners.open({
    routerId: 'router-1',
    config: {
      ctrl: config,
      handshakeTimeoutMs: 600_000,
      placeOf: (path, key) => `router.yml:7: ${path}.${key}`,
    },
    ports,
    tls: () => ({ default: router, alternates: [] }),
    controllers: set,
    isMember: (id) => members.includes(id),
    clock: systemClock,
    log,
  });
  closers.push(() => listeners.close());
  const dial = async (identity: TestIdentity, id = 'c1', connections?: ConnectionPlan): Promise<Channel> => {
    const dialed = await dialChannel({
      host: '127.0.0.1',
      port: listeners.ports[0]!,
      tls: identity,
      alpn: 'ziti-ctrl',
      helloId: id,
      helloHeaders: HELLO,
      timeoutMs: 30_000,
      connections,
      log: silentLog,
    });
    closers.push(() => dialed.close('test is over'));
    return dialed;
  };
  const ids = (): string[] => set.all().map(({ id }) => id);
  return { set, seen, port: listeners.ports[0]!, dial, ids };
}

test('a controller that dials the router is one of its controllers, and receives the reports of the router', async () => {
  const { seen, dial, ids, set } = await openListeners();
  const channel = await dial(controller);
  await until('the controller', ids, (now) => now.join() === 'c1');
  const { ctrlHello, channel: channelHeaders } = headerId;
  const { hello, id } = channel.peer;
  assert.equal(id, 'router-1');
  assert.equal(hello.text(channelHeaders.helloVersion)!.split('|').length, 5);
  const [listener] = helloMessages.listeners.decode(hello.bytes(ctrlHello.listeners)!).listeners;
  assert.equal(listener!.address, 'tls:router.example:10080');
  const { listeners } = helloMessages.ctrlListeners.decode(hello.bytes(ctrlHello.ctrlListeners)!);
  assert.equal(listeners[0]!.address, 'tls:router.example:6262');
  channel.send(makeFrame(contentType.serverHello));
  await until(
    'the frame',
    () => seen,
    ({ length }) => length === 1,
  );
  assert.deepEqual(seen, [`${contentType.serverHello} c1`]);
  const received = Promise.withResolvers<number>();
  channel.handle({ onFrame: (frame) => received.resolve(frame.contentType) });
  set.broadcast(makeFrame(contentType.requestClusterMembers));
  assert.equal(await within('a frame of the router', received.promise), contentType.requestClusterMembers);
});

test('a controller of 2.x that asks for a group gets its secret where a group has it', async () => {
  const { dial, ids } = await openListeners();
  const connections: ConnectionPlan = {
    kind: 'group',
    types: [{ type: 'ctrl.default', desired: 1, min: 1 }],
    startupDelayMs: 0,
  };
  const channel = await dial(controller, 'c1', connections);
  await until('the controller', ids, (now) => now.join() === 'c1');
  assert.equal(channel.peer.hello.bytes(headerId.channel.groupSecret)!.length, 16);
  assert.equal(channel.peer.hello.has(headerId.ctrlHello.legacyMetadata), false);
});

test('a certificate without a role is believed when it names a controller of the network’s list', async () => {
  const plain = await authority.issue('c2', { purposes: ['client'] });
  const { dial, ids } = await openListeners({ members: ['c2'] });
  await dial(plain, 'c2');
  await until('the controller', ids, (now) => now.join() === 'c2');
});

/** A foreign certificate, followed by those of the controller and of the network's authority. */
async function filled(stranger: TestAuthority): Promise<TestIdentity> {
  const own = await stranger.issue('c1', { uris: [ROLE] });
  return { ...own, cert: [own.cert, controller.cert, authority.ca].join('\n'), ca: authority.ca };
}

test('a port that is taken is named with its line and key', async (t) => {
  const port = await freePort();
  const other = createServer().listen(port, '127.0.0.1');
  t.after(() => void other.close());
  await once(other, 'listening');
  await assert.rejects(openListeners({ port }), {
    code: 'port-taken',
    message: `router.yml:7: ctrl.listeners[0].bind: 127.0.0.1:${port} is taken`,
  });
});

test('a peer without a certificate is refused', async () => {
  const { port, ids } = await openListeners();
  const socket = tls.connect({ host: '127.0.0.1', port, ca: authority.ca, ALPNProtocols: ['ziti-ctrl'] });
  socket.on('error', () => {});
  socket.write(encodeFrame(makeHello('c1', HELLO)));
  socket.resume();
  await within('the end of the connection', closeOf(socket));
  assert.deepEqual(ids(), []);
});

test('a peer that is no controller of this network is refused', async () => {
  const stranger = await makeTestAuthority('another CA');
  const impostors: readonly (readonly [what: string, identity: TestIdentity, id: string])[] = [
    ['another authority', { ...(await stranger.issue('c1', { uris: [ROLE] })), ca: authority.ca }, 'c1'],
    ['an expired certificate', await authority.issue('c1', { uris: [ROLE], days: -0.5 }), 'c1'],
    ['one that is not valid yet', await authority.issue('c1', { uris: [ROLE], startsInDays: 1 }), 'c1'],
    ['one with a controller’s behind it', await filled(stranger), 'c1'],
    ['a router', await authority.issue('c2', { uris: ['spiffe://test.example/router/c2'] }), 'c2'],
    [
      'a router under a controller’s name',
      await authority.issue('r1', { uris: ['spiffe://x/router/c1'] }),
      'c1',
    ],
    ['another controller', controller, 'c2'],
    ['an unknown name', await authority.issue('c3'), 'c3'],
    ['a member’s name with another certificate', await authority.issue('somebody'), 'c2'],
    ['no name', await authority.issue('c3', { uris: ['spiffe://x/controller/'] }), ''],
  ];
  const reasons: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (fields) => void reasons.push(String((fields as { reason?: unknown }).reason)),
  };
  const { dial, ids } = await openListeners({ members: ['c2'], log });
  for (const [what, identity, id] of impostors) await assert.rejects(dial(identity, id), Error, what);
  assert.deepEqual([reasons.length, ids()], [impostors.length, []]);
});

test('a controller that is connected already is refused', async () => {
  const { dial, ids, set } = await openListeners();
  await dial(controller);
  await until('the controller', ids, (now) => now.join() === 'c1');
  const first = set.best();
  await assert.rejects(dial(controller), /connected already/);
  assert.equal(set.best(), first);
});

test('options.connectTimeout of a listener ends the wait for a hello', async () => {
  const { port } = await openListeners({ connectTimeoutMs: 100 });
  const socket = tls.connect({ host: '127.0.0.1', port, ...controller, ALPNProtocols: ['ziti-ctrl'] });
  socket.on('error', () => {});
  await within('the handshake', once(socket, 'secureConnect'));
  // Without the option it would be 5 s.
  await within('the end of a connection without a hello', closeOf(socket.resume()), 4_500);
});
