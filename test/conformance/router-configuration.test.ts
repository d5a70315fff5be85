// What a router started from its configuration file does, seen from its controllers and from the network: what absent
// sections mean, and `ctrl`. Traffic over a whole mesh is in test/e2e/router-roles.test.ts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import * as tls from 'node:tls';
import { createWebSocketStream, WebSocket } from 'ws';
import {
  acceptHello,
  CHANNEL_HEADERS,
  contentType,
  encodeFrame,
  FrameDecoder,
  headerId,
  versionHeader,
} from '#wire';
import { decodeRouteResult, RouteErrorCode, type RouteResult } from '#wire/circuits';
import { ctrlMessages, encodeControllerHello, PeerState } from '#wire/ctrl';
import { until, within } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { keptLog, RouterStage, type Sections } from '../support/router-stage.ts';
import type { ScriptedController } from '../support/scripted-controller.ts';
import { closeOf } from '../support/socket-end.ts';

const LISTENER: Sections = {
  edge: { csr: { sans: { dns: ['localhost'] } } },
  listeners: [
    {
      binding: 'edge',
      address: 'tls:127.0.0.1:0',
      options: { advertise: 'edge.example:443', connectTimeout: '200ms' },
    },
  ],
};

/** Once the router answers this, it has processed all earlier messages. */
async function settled(controller: ScriptedController): Promise<void> {
  const channel = await controller.connected();
  await channel.request(ctrlMessages.inspectRequest.frame({ requestedValues: ['nothing'] }), 30_000);
}

async function routeBy(controller: ScriptedController, binding: string): Promise<RouteResult> {
  const egress = { binding, address: 'a', destination: 'tcp:127.0.0.1:80', peerData: [] };
  controller.send(
    ctrlMessages.route.frame({ circuitId: 'c1', egress, forwards: [], timeout: 1_000_000_000n }),
  );
  return decodeRouteResult(await controller.frame(contentType.routeResult));
}

test('with v, ctrl and identity alone a router connects, has no links and offers no listener', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const router = await stage.start([controller]);
  const links = await controller.next('routerLinks');
  assert.deepEqual([links.links.length, links.fullRefresh], [0, true]);
  assert.deepEqual([router.id, controller.routerIds], ['router-1', ['router-1']]);
  assert.equal(router.edgePort, 0);
  // Nothing of the edge: a controller's message to edge routers gets no answer, and the router subscribes to no data
  // model.
  controller.send(ctrlMessages.serverHello.frame({ version: 'v1.7.2' }));
  await settled(controller);
  const types = controller.frames.map((frame) => frame.contentType);
  for (const name of ['clientHello', 'subscribeToDataModel'] as const)
    assert.ok(!types.includes(ctrlMessages[name].contentType), name);
});

test('a router without link is inspected like one that has no links yet', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  await stage.start([controller]);
  const channel = await controller.connected();
  const request = ctrlMessages.inspectRequest.frame({ requestedValues: ['links'] });
  const { values } = ctrlMessages.inspectResponse.decode((await channel.request(request, 30_000)).body);
  assert.deepEqual(
    values.map(({ name, value }) => [name, JSON.parse(value)]),
    [['links', { links: [], destinations: [], errors: null }]],
  );
});

test('without dialers a route that the router would have to dial itself fails as misconfigured', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  await stage.start([controller]);
  const result = await routeBy((await controller.connected(), controller), 'transport');
  assert.deepEqual(
    [result.circuitId, result.isSuccess, result.errorCode],
    ['c1', false, RouteErrorCode.misconfiguredTerminator],
  );
  assert.match(result.error, /"transport".*\bdialers\b/);
});

test('dialers with the binding proxy or proxy_udp are valid and dial nothing, and a route to them gets that error', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  await stage.start([controller], { dialers: [{ binding: 'proxy' }, { binding: 'proxy_udp' }] });
  await controller.connected();
  for (const [index, binding] of ['proxy', 'proxy_udp'].entries()) {
    const result = await routeBy(controller, binding);
    assert.deepEqual([result.isSuccess, result.errorCode], [false, RouteErrorCode.misconfiguredTerminator]);
    assert.ok(result.error.includes(`dialers[${index}].binding`), result.error);
  }
});

test('without link a router dials no other router, and announces no listener', async (t) => {
  const peer = createServer(() => dials.push('dialed'));
  const dials: string[] = [];
  peer.listen(0, '127.0.0.1');
  await once(peer, 'listening');
  t.after(() => peer.close());
  const { port } = peer.address() as { port: number };
  const listeners = [{ address: `tls:127.0.0.1:${port}`, protocol: 'tls', groups: ['default'] }];
  const changes = [{ id: 'router-2', version: 'v1.7.2', state: PeerState.HEALTHY, listeners }];
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  await stage.start([controller]);
  await controller.connected();
  controller.send(ctrlMessages.peerStateChanges.frame({ changes }));
  await settled(controller);
  assert.deepEqual(dials, []);
  // The same message makes a router with dialers dial, so it is a valid message.
  const other = await stage.controller({ id: 'ctrl-2' });
  await stage.start([other], { link: { dialers: [{ binding: 'transport' }] } }, { id: 'router-3' });
  await other.connected();
  other.send(ctrlMessages.peerStateChanges.frame({ changes }));
  await until(
    'a dial by the router that has dialers',
    () => dials.length,
    (count) => count > 0,
  );
  assert.equal(controller.hellos[0]!.bytes(headerId.ctrlHello.listeners), undefined);
});

test('an edge section without an edge listener starts, logs that no SDK can connect, and announces no listener', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const { log, lines } = keptLog();
  const router = await stage.start([controller], { edge: {} }, { log });
  await controller.connected();
  assert.equal(router.edgePort, 0);
  controller.send(ctrlMessages.serverHello.frame({ version: 'v1.7.2' }));
  const hello = await controller.next('clientHello');
  assert.deepEqual([hello.listeners.length, hello.hostname], [0, '']);
  assert.ok(lines.some(({ fields }) => fields['key'] === 'edge'));
});

test('an edge listener listens at its address and announces its advertised address to controllers', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const router = await stage.start([controller], LISTENER);
  await controller.connected();
  controller.send(ctrlMessages.serverHello.frame({ version: 'v1.7.2' }));
  const hello = await controller.next('clientHello');
  assert.equal(hello.hostname, 'edge.example');
  assert.deepEqual(
    hello.listeners.map(({ advertise }) => [advertise?.hostname, advertise?.port]),
    [['edge.example', 443]],
  );
  const socket = tls.connect({
    host: '127.0.0.1',
    port: router.edgePort,
    ...(await stage.authority.issue('sdk')),
    ALPNProtocols: ['ziti-edge'],
  });
  socket.on('error', () => {});
  await within('the edge handshake', once(socket, 'secureConnect'));
  // No hello is sent: options.connectTimeout ends the wait.
  await within('the end of a connection without a hello', closeOf(socket.resume()));
});

test('edge listeners at tls and wss beside each other are announced, and both accept SDKs', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const port = await freePort();
  const options = { connectTimeoutMs: 30 };
  await stage.start([controller], {
    edge: {},
    listeners: [
      { binding: 'edge', address: 'tls:127.0.0.1:0', options: { ...options, advertise: 'edge.example:443' } },
      {
        binding: 'edge',
        address: `wss:127.0.0.1:${port}`,
        options: { ...options, advertise: 'web.example:444' },
      },
    ],
  });
  await controller.connected();
  controller.send(ctrlMessages.serverHello.frame({ version: 'v1.7.2' }));
  const hello = await controller.next('clientHello');
  assert.deepEqual(
    [hello.protocols, hello.protocolPorts],
    [
      ['tls', 'wss'],
      ['443', '444'],
    ],
  );
  assert.deepEqual(
    hello.listeners.map(({ address, advertise }) => [address?.protocol, advertise?.value]),
    [
      ['tls', 'edge.example:443'],
      ['wss', 'web.example:444'],
    ],
  );
  const webSocket = new WebSocket(`wss://127.0.0.1:${port}/ws`, { rejectUnauthorized: false });
  await within('the upgrade', once(webSocket, 'open'));
  const socket = tls.connect({
    socket: createWebSocketStream(webSocket),
    ...(await stage.authority.issue('sdk')),
  });
  socket.on('error', () => {});
  await within('the handshake inside', once(socket, 'secureConnect'));
  // No hello is sent: options.connectTimeout ends the wait.
  await within('the end of a connection without a hello', once(webSocket, 'close'));
});

test('bind is accepted for address, which wins; advertise stands beside options or inside, which wins', async (t) => {
  const stage = await RouterStage.open(t);
  const controller = await stage.controller();
  const taken = await stage.rawController(() => {});
  const nobody = `tls:127.0.0.1:${taken.port}`;
  const free = 'tls:127.0.0.1:0';
  const cases: readonly [Sections, string][] = [
    [{ bind: free, advertise: 'beside.example:1' }, 'beside.example'],
    [{ address: free, bind: nobody, options: { advertise: 'inside.example:2' } }, 'inside.example'],
    [{ bind: free, advertise: 'beside.example:3', options: { advertise: 'both.example:3' } }, 'both.example'],
  ];
  for (const [listener, expected] of cases) {
    const sections = { edge: {}, listeners: [{ binding: 'edge', ...listener }] };
    const id = `router-${expected}`;
    const router = await stage.start([controller], sections, { id });
    const index = cases.findIndex(([, name]) => name === expected);
    await controller.connected(index + 1);
    controller.send(ctrlMessages.serverHello.frame({ version: 'v1.7.2' }));
    assert.equal((await controller.next('clientHello')).hostname, expected);
    const socket = createConnection(router.edgePort, '127.0.0.1');
    await within('the edge port', once(socket, 'connect'));
    socket.destroy();
  }
});

test('a port that is taken stops the start with a clear error', async (t) => {
  const stage = await RouterStage.open(t);
  const taken = await stage.rawController(() => {});
  const place = `127.0.0.1:${taken.port}`;
  const edge = (key: string) => ({ binding: 'edge', [key]: `tls:${place}`, advertise: 'x:1' });
  const bindPoints = [{ interface: place, address: 'x:1' }];
  for (const [sections, key] of [
    [{ edge: {}, listeners: [edge('address')] }, 'listeners[0].address'],
    [{ edge: {}, listeners: [edge('bind')] }, 'listeners[0].bind'],
    [
      { web: [{ name: 'w', bindPoints, apis: [{ binding: 'health-checks' }] }] },
      'web[0].bindPoints[0].interface',
    ],
  ] as const)
    await assert.rejects(stage.start([taken], sections), (error: Error) => {
      const [, line, rest] = /:(\d+): (.*)$/.exec(error.message) ?? [];
      assert.equal(line, '1', error.message);
      return rest === `${key}: ${place} is taken`;
    });
});

test('every endpoint is dialed, from the address that bind names', async (t) => {
  const stage = await RouterStage.open(t);
  const [one, two] = [await stage.controller({ id: 'c1' }), await stage.controller({ id: 'c2' })];
  await stage.start([one, two], { ctrl: { bind: 'loop2' } });
  for (const channel of await Promise.all([one.connected(), two.connected()]))
    assert.match(channel.peer.address, /^(?:::ffff:)?127\.0\.0\.2\b/);
});

test('endpoint is dialed and endpoints beside it are not; a variable may name it', async (t) => {
  const stage = await RouterStage.open(t);
  const [one, two] = [await stage.controller({ id: 'c1' }), await stage.controller({ id: 'c2' })];
  await stage.start(
    [two],
    { ctrl: { endpoint: 'tls:${CTRL_HOST}:$CTRL_PORT' } },
    { environment: { CTRL_HOST: '127.0.0.1', CTRL_PORT: String(one.port) } },
  );
  await one.connected();
  await settled(one);
  assert.equal(two.channels.length, 0);
});

test('a controller that does not answer the hello is given up after connectTimeout and dialed again', async (t) => {
  const stage = await RouterStage.open(t);
  const { log, lines } = keptLog();
  let dials = 0;
  const controller = await stage.rawController(() => (dials += 1));
  await stage.start([controller], { ctrl: { options: { connectTimeout: '150ms' } } }, { log });
  await until(
    'a second dial',
    () => dials,
    (count) => count >= 2,
  );
  const first = lines.find(({ message }) => message.startsWith('cannot reach controller'));
  assert.match(String(first?.fields['err']), /within 150 ms/);
});

test('heartbeats go out, and the connection to a silent controller is closed and dialed again', async (t) => {
  const stage = await RouterStage.open(t);
  let dials = 0;
  let beats = 0;
  const controller = await stage.rawController((socket) => {
    dials += 1;
    const decoder = new FrameDecoder({ maxHeadersBytes: 65_536, maxBodyBytes: 65_536 });
    socket.on('data', (chunk: Buffer) => {
      decoder.push(chunk, (frame) => {
        if (frame.contentType === contentType.hello) {
          const extra = encodeControllerHello(versionHeader('linux', 'x64'), [1, 2, 3, 4]);
          socket.write(encodeFrame(acceptHello(frame, { connectionId: 'c', ownId: 'ctrl', extra })));
        } else if (frame.headers.has(CHANNEL_HEADERS.heartbeat)) beats += 1;
      });
    });
  });
  await stage.start([controller], {
    ctrl: { heartbeats: { sendInterval: '1s', closeUnresponsiveTimeout: '1500ms' } },
  });
  await until(
    'a heartbeat, and a second dial',
    () => [beats, dials],
    ([beat = 0, dial = 0]) => beat >= 1 && dial >= 2,
  );
});

test('a router starts although no controller is there, and connects when one comes', async (t) => {
  const stage = await RouterStage.open(t);
  const early = await stage.controller({ port: await freePort() });
  await early.close();
  const router = await stage.start([early], LISTENER);
  const socket = createConnection(router.edgePort, '127.0.0.1');
  await within('the edge port', once(socket, 'connect'));
  socket.destroy();
  assert.equal(router.isConnected, false);
  const late = await stage.controller({ port: early.port });
  await late.connected();
  await until(
    'the router connected',
    () => router.isConnected,
    (it) => it,
  );
});

test('the addresses that a controller announces are written to endpointsFile, and the next start dials them', async (t) => {
  const stage = await RouterStage.open(t);
  const [one, two] = [await stage.controller({ id: 'c1' }), await stage.controller({ id: 'c2' })];
  const endpointsFile = join(stage.folder, 'kept', 'controllers.yml');
  const first = await stage.start([one], { ctrl: { endpointsFile } });
  await one.connected();
  const controllers = [two].map(({ endpoint }) => ({
    id: 'c2',
    endpoints: [{ address: endpoint, groups: ['default'] }],
  }));
  one.send(ctrlMessages.updateCtrlAddresses.frame({ index: 1n, isLeader: true, controllers, addresses: [] }));
  await two.connected();
  await until(
    'the file',
    () => readFileSync(endpointsFile, 'utf8'),
    (text) => text.includes(two.endpoint),
  );
  assert.equal(statSync(endpointsFile).mode & 0o777, 0o600);
  await first.close();
  // No endpoint stands in this file: the endpoints file alone names the controller.
  await stage.start([], { ctrl: { endpointsFile } });
  await two.connected(2);
  assert.equal(one.channels.length, 1);
});
