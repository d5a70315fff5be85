// What a router started from its configuration file does, seen from its controllers and from the network.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import * as tls from 'node:tls';
import { FrontdoorError, silentLog, type Log } from '#base';
import { parseRouterConfig, Router } from '#router';
import {
  acceptHello,
  CHANNEL_HEADERS,
  contentType,
  decodeRouteResult,
  encodeFrame,
  FrameDecoder,
  RouteErrorCode,
} from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import { makeTestAuthority } from '../support/certificates.ts';
import { until, within } from '../support/deadline.ts';
import { openScriptedController, type ScriptedController } from '../support/scripted-controller.ts';

const authority = await makeTestAuthority();
const routerIdentity = await authority.issue('router-1');
const controllerIdentity = await authority.issue('ctrl');
const directory = mkdtempSync(join(tmpdir(), 'router-conformance-'));

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(directory, { recursive: true, force: true });
});

type Sections = Readonly<Record<string, unknown>>;

/** Starts a router from the text of a file; `ctrl` gets the controllers' addresses unless it names some. */
async function startRouter(
  controllers: readonly { readonly port: number }[],
  sections: Sections & { readonly ctrl?: Sections } = {},
  log: Log = silentLog,
): Promise<Router> {
  const { ctrl = {}, ...rest } = sections;
  const text = JSON.stringify({
    v: 3,
    ctrl: { endpoints: controllers.map(({ port }) => `tls:127.0.0.1:${port}`), ...ctrl },
    identity: {
      cert: `pem:${routerIdentity.cert}`,
      key: `pem:${routerIdentity.key}`,
      ca: `pem:${authority.ca}`,
    },
    ...rest,
  });
  const interfaces = { loop2: [{ address: '127.0.0.2' }] };
  const file = join(directory, 'router.yml');
  const { config, problems } = parseRouterConfig(text, file, { environment: {}, interfaces });
  assert.deepEqual(problems, []);
  const router = await Router.start({ config: config!, log });
  closers.push(() => router.close());
  return router;
}

async function openController(): Promise<ScriptedController> {
  const controller = await openScriptedController(controllerIdentity);
  closers.push(() => controller.close());
  return controller;
}

/** A server that shakes hands as a controller would, and does with its sockets what the test wants. */
async function openRawController(onSocket: (socket: tls.TLSSocket) => void): Promise<{ port: number }> {
  const server = tls.createServer(
    {
      ...controllerIdentity,
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: ['ziti-ctrl'],
    },
    (socket) => {
      socket.on('error', () => {});
      onSocket(socket);
    },
  );
  const sockets = new Set<NodeJS.WritableStream & { destroy(): void }>();
  server.on('connection', (socket: tls.TLSSocket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return server.address() as { port: number };
}

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

test('with v, ctrl and identity alone a router connects, has no links and offers no listener', async () => {
  const controller = await openController();
  const router = await startRouter([controller]);
  const links = await controller.next('routerLinks');
  assert.deepEqual([links.links.length, links.fullRefresh], [0, true]);
  assert.deepEqual([router.id, controller.routerIds], ['router-1', ['router-1']]);
  assert.equal(router.edgePort, 0);
  controller.send(ctrlMessages.serverHello.frame({ version: 'v1.7.2' }));
  const hello = await controller.next('clientHello');
  assert.deepEqual([hello.listeners.length, hello.protocols, hello.hostname], [0, [], '']);
});

test('without dialers a route that the router would have to dial itself fails as misconfigured', async () => {
  const controller = await openController();
  await startRouter([controller]);
  await controller.next('routerLinks');
  const egress = { binding: 'transport', address: 'a', destination: 'tcp:127.0.0.1:80', peerData: {} };
  controller.send(
    ctrlMessages.route.frame({ circuitId: 'c1', egress, forwards: [], timeout: 1_000_000_000n }),
  );
  const result = decodeRouteResult(await controller.frame(contentType.routeResult));
  assert.deepEqual(
    [result.circuitId, result.isSuccess, result.errorCode],
    ['c1', false, RouteErrorCode.misconfiguredTerminator],
  );
  assert.match(result.error, /"transport"/);
});

test('an edge listener listens at its address and tells controllers what it advertises', async () => {
  const controller = await openController();
  const router = await startRouter([controller], LISTENER);
  await controller.next('routerLinks');
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
    ...routerIdentity,
    ALPNProtocols: ['ziti-edge'],
  });
  socket.on('error', () => {});
  await within('the edge handshake', once(socket, 'secureConnect'));
  // No hello is sent: options.connectTimeout ends the wait.
  await within('the end of a connection without a hello', once(socket.resume(), 'close'), 5_000);
});

test('a port that is taken stops the start with a clear error', async () => {
  const taken = await openRawController(() => {});
  const listeners = [{ binding: 'edge', address: `tls:127.0.0.1:${taken.port}`, advertise: 'x:1' }];
  await assert.rejects(
    startRouter([taken], { edge: {}, listeners }),
    (error) => error instanceof FrontdoorError && error.message.includes(String(taken.port)),
  );
});

test('every endpoint is dialed, from the address that bind names', async () => {
  const [one, two] = [await openController(), await openController()];
  await startRouter([one, two], { ctrl: { bind: 'loop2' } });
  await Promise.all([one.next('routerLinks'), two.next('routerLinks')]);
  for (const { channels } of [one, two])
    assert.match(channels[0]!.peer.address, /^(?:::ffff:)?127\.0\.0\.2\b/);
});

test('a controller that does not answer the hello is given up after connectTimeout and dialed again', async () => {
  const warnings: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => void warnings.push(`${message}: ${String(fields['err'])}`),
  };
  let dials = 0;
  const controller = await openRawController(() => (dials += 1));
  await startRouter([controller], { ctrl: { options: { connectTimeout: '150ms' } } }, log);
  await until(
    'a second dial',
    () => dials,
    (count) => count >= 2,
  );
  const [first] = warnings.filter((text) => text.startsWith('cannot reach controller'));
  assert.match(first!, /within 150 ms/);
});

test('heartbeats go out, and a controller that falls silent is left and dialed again', async () => {
  let dials = 0;
  let beats = 0;
  const controller = await openRawController((socket) => {
    dials += 1;
    const decoder = new FrameDecoder({ maxHeadersBytes: 65_536, maxBodyBytes: 65_536 });
    socket.on('data', (chunk: Buffer) => {
      decoder.push(chunk, (frame) => {
        if (frame.contentType === contentType.hello) {
          socket.write(encodeFrame(acceptHello(frame, { connectionId: 'c', ownId: 'ctrl' })));
        } else if (frame.headers.has(CHANNEL_HEADERS.heartbeat)) beats += 1;
      });
    });
  });
  await startRouter([controller], {
    ctrl: { heartbeats: { sendInterval: '1s', closeUnresponsiveTimeout: '1500ms' } },
  });
  await until(
    'a second dial',
    () => dials,
    (count) => count >= 2,
  );
  assert.ok(beats >= 1, `${beats} heartbeats`);
});

test('a router starts although no controller is there, and connects when one comes', async () => {
  const { port, close } = await openScriptedController(controllerIdentity);
  await close();
  const router = await startRouter([{ port }], LISTENER);
  const socket = createConnection(router.edgePort, '127.0.0.1');
  await within('the edge port', once(socket, 'connect'));
  socket.destroy();
  assert.equal(router.isConnected, false);
  const late = await openScriptedController(controllerIdentity, port);
  closers.push(() => late.close());
  await late.next('routerLinks');
  assert.equal(router.isConnected, true);
});
