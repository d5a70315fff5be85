// The router's side of control channels, with controllers that the test simulates over TLS.
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, afterEach, before, mock, test } from 'node:test';
import { Secret, silentLog, type FrontdoorError } from '#base';
import type { TlsIdentity } from '#net/channel';
import { contentType, headerId, makeFrame } from '#wire';
import { ctrlMessages, encodeControllerHello, helloMessages, type AdvertisedListener } from '#wire/ctrl';
import {
  makeTestAuthority,
  type TestAuthority,
  type TestIdentity,
} from '../../../test/support/certificates.ts';
import { until } from '../../../test/support/deadline.ts';
import { freePort } from '../../../test/support/free-port.ts';
import {
  openScriptedController,
  type ScriptedController,
  type ScriptedControllerOptions,
} from '../../../test/support/scripted-controller.ts';
import type { CtrlConfig, HttpProxyConfig } from '../config/router-config.ts';
import { routerConfigFixture } from '../testing/router-config-fixture.ts';
import { ControllerSet, type FrameSink } from './controller-set.ts';

let authority: TestAuthority;
let router: TestIdentity;
let server: TestIdentity;
before(async () => {
  authority = await makeTestAuthority();
  [router, server] = await Promise.all([authority.issue('router-1'), authority.issue('controller')]);
});

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
after(() => assert.equal(closers.length, 0));

async function openController(
  id: string,
  options: ScriptedControllerOptions = {},
): Promise<ScriptedController> {
  const controller = await openScriptedController(server, { id, ...options });
  closers.push(() => controller.close());
  return controller;
}

interface SetOptions {
  readonly config?: Partial<CtrlConfig>;
  readonly heartbeat?: Partial<CtrlConfig['heartbeat']>;
  readonly channel?: Partial<CtrlConfig['channel']>;
  readonly proxy?: HttpProxyConfig;
  readonly tls?: TlsIdentity;
  readonly linkListeners?: readonly AdvertisedListener[];
  readonly sink?: FrameSink;
}

function openSet(endpoints: readonly string[], options: SetOptions = {}) {
  const base = routerConfigFixture('/nowhere').ctrl;
  const timeouts: FrontdoorError[] = [];
  const set = new ControllerSet({
    routerId: 'router-1',
    config: {
      ...base,
      ...options.config,
      channel: { ...base.channel, ...options.channel },
      heartbeat: { ...base.heartbeat, ...options.heartbeat },
    },
    proxy: options.proxy,
    tls: () => options.tls ?? router,
    linkListeners: () => options.linkListeners ?? [],
    log: silentLog,
    startup: { onTimeout: (error) => void timeouts.push(error) },
  });
  closers.push(() => set.close());
  const events: string[] = [];
  set.onConnected(({ id }) => void events.push(`+${id}`));
  set.onDisconnected(({ id }) => void events.push(`-${id}`));
  set.start(options.sink ?? { onFrame: () => {} });
  set.setEndpoints(endpoints);
  const ids = (): string[] => set.all().map(({ id }) => id);
  const connected = (...expected: string[]): Promise<unknown> =>
    until(
      `connected to ${expected.join(', ')}`,
      ids,
      (now) => now.toSorted().join() === expected.toSorted().join(),
    );
  return { set, events, timeouts, ids, connected };
}

test('the hello contains version, capabilities and listeners for controllers of 1.x and 2.x', async () => {
  const controller = await openController('c1');
  const advertise = { type: 'tls', host: 'router.example', port: 6262 };
  openSet([controller.endpoint], {
    linkListeners: [
      { address: 'tls:router.example:10080', protocol: 'tls', groups: ['default'], localBinding: 'eth0' },
    ],
    config: {
      listeners: [
        {
          path: 'ctrl.listeners[0]',
          bind: advertise,
          advertise,
          groups: ['blue'],
          channel: routerConfigFixture('/nowhere').ctrl.channel,
        },
      ],
    },
  });
  await controller.connected();
  const [hello] = controller.hellos;
  const { ctrlHello, channel } = headerId;
  assert.equal(hello!.text(channel.helloVersion)!.split('|').length, 5);
  for (const id of [ctrlHello.listeners, ctrlHello.legacyListeners]) {
    const [listener] = helloMessages.listeners.decode(hello!.bytes(id)!).listeners;
    assert.deepEqual(
      [listener!.address, listener!.protocol, listener!.groups, listener!.localBinding],
      ['tls:router.example:10080', 'tls', ['default'], 'eth0'],
    );
  }
  const { listeners } = helloMessages.ctrlListeners.decode(hello!.bytes(ctrlHello.ctrlListeners)!);
  assert.deepEqual([listeners[0]!.address, listeners[0]!.groups], ['tls:router.example:6262', ['blue']]);
  assert.deepEqual([...hello!.bytes(ctrlHello.capabilities)!], [2]);
  assert.ok(hello!.has(ctrlHello.legacyMetadata) && !hello!.has(channel.isGrouped));
  assert.deepEqual(controller.routerIds, ['router-1']);
});

test('every endpoint is dialed; frames go to the sink with the controller that sent them', async () => {
  const seen: string[] = [];
  const [first, second] = [await openController('c1'), await openController('c2')];
  const { set, events, connected } = openSet([first.endpoint, second.endpoint], {
    sink: { onFrame: (frame, from) => void seen.push(`${frame.contentType} ${from.id} ${from.version}`) },
  });
  await connected('c1', 'c2');
  assert.deepEqual(events.toSorted(), ['+c1', '+c2']);
  second.send(makeFrame(contentType.serverHello));
  await until(
    'the frame',
    () => seen,
    ({ length }) => length === 1,
  );
  assert.deepEqual(seen, [`${contentType.serverHello} c2 v1.7.2`]);
  assert.equal(set.broadcast(makeFrame(contentType.ping)), 2);
  await Promise.all([first.frame(contentType.ping), second.frame(contentType.ping)]);
});

test('a controller that ends its channel is dialed again, and requests go to another in the meantime', async () => {
  const [first, second] = [await openController('c1'), await openController('c2')];
  const { set, events, connected } = openSet([first.endpoint]);
  await connected('c1');
  set.setEndpoints([first.endpoint, second.endpoint]);
  await connected('c1', 'c2');
  assert.equal(set.best()!.id, 'c1');
  const lost = set.best()!;
  first.channels[0]!.close('restart');
  await until(
    'the loss',
    () => events,
    (now) => now.includes('-c1'),
  );
  assert.equal(set.best()!.id, 'c2');
  await connected('c1', 'c2');
  assert.notEqual(set.byId('c1'), lost);
});

test('a controller that is away is dialed until it is there', async () => {
  const port = await freePort();
  const { connected, ids } = openSet([`tls:127.0.0.1:${port}`]);
  assert.deepEqual(ids(), []);
  await openController('c1', { port });
  await connected('c1');
});

test('a second channel to the same controller is closed by the router, and taken when the first one goes', async () => {
  const [first, second] = [await openController('same'), await openController('same')];
  const { set, connected } = openSet([first.endpoint]);
  await connected('same');
  set.setEndpoints([first.endpoint, second.endpoint]);
  const refused = await second.connected();
  await until('the second channel is closed', () => refused.isClosed, Boolean);
  assert.deepEqual([first.open.length, set.all().length], [1, 1]);
  await first.close();
  await until(
    'the other endpoint takes over',
    () => set.byId('same')?.endpoint,
    (endpoint) => endpoint === second.endpoint,
  );
  assert.equal(second.open.length, 1);
});

test('a server whose certificate another authority signed is not believed to be a controller', async () => {
  const stranger = await (await makeTestAuthority('another CA')).issue('controller');
  const impostor = await openScriptedController({ ...stranger, ca: authority.ca }, { id: 'c1' });
  closers.push(() => impostor.close());
  const good = await openController('c2');
  const { events, connected } = openSet([impostor.endpoint, good.endpoint]);
  await connected('c2');
  assert.deepEqual([impostor.hellos.length, events], [0, ['+c2']]);
});

test('a server with a certificate for another host is not believed to be a controller', async () => {
  const elsewhere = await authority.issue('controller', { dns: ['elsewhere.example'] });
  const impostor = await openScriptedController(elsewhere, { id: 'c1' });
  closers.push(() => impostor.close());
  const good = await openController('c2');
  const { connected } = openSet([impostor.endpoint, good.endpoint]);
  await connected('c2');
  assert.equal(impostor.hellos.length, 0);
});

test('a controller that sends no version or id is refused', async () => {
  const silent = await openController('c1', { helloHeaders: makeFrame(0).headers });
  const nameless = await openController('');
  const { ids } = openSet([silent.endpoint, nameless.endpoint]);
  for (const controller of [silent, nameless]) {
    const channel = await controller.connected();
    await until('the router ends the channel', () => channel.isClosed, Boolean);
  }
  assert.deepEqual(ids(), []);
});

test('a hello result of a 2.x controller is taken', async () => {
  const controller = await openController('c1', {
    helloHeaders: encodeControllerHello('v2.1.0|abc|2026-01-01|linux|amd64', [1, 2, 3, 4, 6]),
  });
  const { set, connected } = openSet([controller.endpoint]);
  await connected('c1');
  assert.equal(set.best()!.version, 'v2.1.0');
});

test('ctrl.options.connectTimeout ends the wait for a server that sends nothing', async () => {
  const dials: number[] = [];
  const mute = await openTcpServer((socket) => {
    socket.on('close', () => void dials.push(performance.now() - startedMs));
  });
  const startedMs = performance.now();
  openSet([`tls:127.0.0.1:${mute}`], { channel: { connectTimeoutMs: 150 } });
  await until(
    'a dial that was given up',
    () => dials.length,
    (count) => count >= 1,
    // Without the option it would be 5 s.
    4_500,
  );
  assert.ok(dials[0]! >= 140, String(dials));
  await until(
    'another one',
    () => dials.length,
    (count) => count >= 2,
  );
});

test('ctrl.options.maxOutstandingConnects bounds dials at once, maxQueuedConnects those that wait', async () => {
  const standing = new Map<number, Socket>();
  const dialed = new Set<number>();
  let most = 0;
  const open = async (): Promise<number> => {
    const port = await openTcpServer((socket) => {
      standing.set(port, socket);
      dialed.add(port);
      most = Math.max(most, standing.size);
    });
    return port;
  };
  const ports = [await open(), await open(), await open(), await open()];
  openSet(
    ports.map((port) => `tls:127.0.0.1:${port}`),
    { channel: { connectTimeoutMs: 600_000, maxOutstandingConnects: 2, maxQueuedConnects: 1 } },
  );
  await until(
    'two dials',
    () => standing.size,
    (size) => size === 2,
  );
  assert.deepEqual(dialed, new Set(ports.slice(0, 2)));
  // Each dial that ends makes room for the waiting one, then for those that were refused by the full queue.
  await until(
    'all endpoints',
    () => dialed.size,
    (size) => {
      const [first] = standing;
      if (size < 4 && standing.size === 2 && first !== undefined) {
        standing.delete(first[0]);
        first[1].destroy();
      }
      return size === 4;
    },
  );
  assert.deepEqual([most, [...dialed][2]], [2, ports[2]]);
});

test('ctrl.bind is the address that controllers are dialed from', async () => {
  const controller = await openController('c1');
  openSet([controller.endpoint], { config: { bind: { name: 'lo', address: '127.0.0.2' } } });
  const channel = await controller.connected();
  assert.match(channel.peer.address, /127\.0\.0\.2:/);
});

test('controllers are dialed through the HTTP proxy when there is one', async () => {
  const heads: string[] = [];
  const proxyPort = await openTcpServer((socket) => {
    socket.once('data', (head) => {
      heads.push(head.toString());
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
  });
  const proxy = { host: '127.0.0.1', port: proxyPort, username: 'u', password: new Secret('p') };
  openSet(['tls:controller.example:6262'], { proxy });
  await until(
    'a request to the proxy',
    () => heads.length,
    (count) => count > 0,
  );
  assert.match(heads[0]!, /^CONNECT controller\.example:6262 HTTP\/1\.1\r\n/);
  assert.match(heads[0]!, /Proxy-Authorization: Basic dTpw\r\n/i);
});

test('heartbeats are sent every ctrl.heartbeats.sendInterval', async () => {
  const controller = await openController('c1');
  const { set, connected } = openSet([controller.endpoint], {
    heartbeat: { sendIntervalMs: 40, checkIntervalMs: 10 },
  });
  await connected('c1');
  await until(
    'an answered heartbeat',
    () => set.best()?.latencyNs ?? 0,
    (latency) => latency > 0,
  );
  const { controllers } = set.inspect('router-controllers') as {
    controllers: Record<string, { latency: string }>;
  };
  assert.match(controllers['c1']!.latency, /^[\d.]+ms$/);
  assert.notEqual(controllers['c1']!.latency, '0.000ms');
});

test('heartbeats are looked after every ctrl.heartbeats.checkInterval, not more often', async () => {
  const controller = await openController('c1');
  const startedMs = performance.now();
  const { set, connected } = openSet([controller.endpoint], {
    heartbeat: { sendIntervalMs: 20, checkIntervalMs: 400 },
  });
  await connected('c1');
  const latencyNs = (): number => set.best()?.latencyNs ?? 0;
  // The first one is sent when the channel opens.
  const { value: first } = await until('an answered heartbeat', latencyNs, (latency) => latency > 0);
  await until('another one', latencyNs, (latency) => latency !== first);
  assert.ok(performance.now() - startedMs >= 390);
});

test('a controller that does not answer within unresponsiveAfter comes after those that do, until it answers', async () => {
  const [slow, good] = [await openController('slow'), await openController('good')];
  const { set, connected } = openSet([slow.endpoint], {
    heartbeat: { sendIntervalMs: 40, checkIntervalMs: 10, unresponsiveAfterMs: 150 },
  });
  await connected('slow');
  set.setEndpoints([slow.endpoint, good.endpoint]);
  await connected('slow', 'good');
  set.setLeader('slow');
  await until(
    'the leader is first',
    () => set.best()!.id,
    (id) => id === 'slow',
  );
  slow.channels[0]!.pauseReading();
  await until(
    'the slow one is last',
    () => set.best()!.id,
    (id) => id === 'good',
  );
  assert.deepEqual([set.byId('slow')!.isResponsive, set.all().length], [false, 2]);
  slow.channels[0]!.resumeReading();
  await until(
    'the leader is first again',
    () => set.best()!.id,
    (id) => id === 'slow',
  );
});

test('a controller silent for closeUnresponsiveTimeout is dialed again', async () => {
  const controller = await openController('c1');
  const { events, connected } = openSet([controller.endpoint], {
    heartbeat: { sendIntervalMs: 40, checkIntervalMs: 10, closeUnresponsiveMs: 200 },
  });
  await connected('c1');
  controller.channels[0]!.pauseReading();
  await until(
    'the end of the channel',
    () => events,
    (now) => now.includes('-c1'),
  );
  await controller.connected(2);
});

test('a channel of which a write stands still for ctrl.options.writeTimeout is ended', async () => {
  const controller = await openController('c1');
  const { set, events, connected } = openSet([controller.endpoint], { channel: { writeTimeoutMs: 200 } });
  await connected('c1');
  controller.channels[0]!.pauseReading();
  fill(set);
  await until(
    'the end of the channel',
    () => events,
    (now) => now.includes('-c1'),
  );
});

test('a controller with more than ctrl.options.outQueueSize frames waiting comes after others', async () => {
  const [full, good] = [await openController('full'), await openController('good')];
  const { set, connected } = openSet([full.endpoint], { channel: { outQueueSize: 2 } });
  await connected('full');
  set.setEndpoints([full.endpoint, good.endpoint]);
  await connected('full', 'good');
  full.channels[0]!.pauseReading();
  fill(set);
  assert.equal(set.best()!.id, 'good');
});

test('without a controller within ctrl.startupTimeout the router is notified, once', async () => {
  const { timeouts } = openSet(['tls:127.0.0.1:1'], { config: { startupTimeoutMs: 60 } });
  await until(
    'the timeout',
    () => timeouts.length,
    (count) => count === 1,
  );
  assert.deepEqual([timeouts[0]!.kind, timeouts[0]!.code], ['unavailable', 'no-controller']);
});

test('a controller that was reached in time ends the wait of ctrl.startupTimeout', async (t) => {
  const controller = await openController('c1');
  // The dial may take some time.
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const { timeouts, connected } = openSet([controller.endpoint], { config: { startupTimeoutMs: 1_000 } });
  await connected('c1');
  mock.timers.tick(2_000);
  assert.deepEqual(timeouts, []);
});

test('an endpoint that is removed is left; a closed set dials nobody', async () => {
  const [first, second] = [await openController('c1'), await openController('c2')];
  const { set, ids, connected } = openSet([first.endpoint, second.endpoint]);
  await connected('c1', 'c2');
  assert.equal(set.setEndpoints([second.endpoint]), true);
  assert.deepEqual(ids(), ['c2']);
  assert.equal(set.setEndpoints([second.endpoint]), false);
  set.close();
  assert.deepEqual([ids(), set.setEndpoints([first.endpoint])], [[], false]);
  await until(
    'the controllers see it',
    () => first.open.length + second.open.length,
    (open) => open === 0,
  );
});

test('a listener that fails does not keep others from hearing of a controller', async () => {
  const controller = await openController('c1');
  const { set } = openSet([]);
  const connected: string[] = [];
  set.onConnected(() => {
    throw new Error('broken');
  });
  set.onConnected(({ id }) => void connected.push(id));
  set.setEndpoints([controller.endpoint]);
  await until(
    'the other listener',
    () => connected,
    ({ length }) => length === 1,
  );
});

/** More bytes than any connection accepts at once. */
function fill(set: ControllerSet): void {
  const controller = set.all()[0]!;
  const error = 'x'.repeat(1 << 20);
  for (let i = 0; i < 24; i += 1) {
    controller.channel.send(ctrlMessages.inspectResponse.frame({ errors: [error] }));
  }
}

async function openTcpServer(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<{ destroy(): void }>();
  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.resume();
    onSocket(socket);
  });
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    tcp.close();
  });
  const address = tcp.address();
  return typeof address === 'object' ? address!.port : 0;
}
