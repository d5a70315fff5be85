import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import * as tls from 'node:tls';
import { createWebSocketStream, WebSocket, type ClientOptions } from 'ws';
import { silentLog } from '#base';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { within } from '../../../test/support/deadline.ts';
import { closeOf } from '../../../test/support/socket-end.ts';
import { leafOf } from '../channel/peer-certificate.ts';
import { TlsPorts } from '../tls-ports.ts';
import type { WebSocketPort, WebSocketTimes } from './web-socket-port.ts';

const HOST = '127.0.0.1';
const TIMES: WebSocketTimes = {
  handshakeTimeoutMs: 60_000,
  readTimeoutMs: 60_000,
  pingIntervalMs: 60_000,
  pongTimeoutMs: 60_000,
};
const SHORT_MS = 50;
const BODY = Buffer.alloc(300_000, 'body');
const authority = await makeTestAuthority();
const server = await authority.issue('router');
const client = await authority.issue('client');

interface Opened {
  readonly ports: TlsPorts;
  readonly port: WebSocketPort;
}

async function openPort(
  t: TestContext,
  times: Partial<WebSocketTimes> = {},
  protocol: 'ws' | 'wss' = 'wss',
): Promise<Opened> {
  const ports = new TlsPorts({ log: silentLog });
  t.after(() => ports.close());
  const tlsOf = { default: server, alternates: [] };
  const options = { protocol, host: HOST, port: 0, tls: tlsOf, times: { ...TIMES, ...times } };
  return { ports, port: await ports.openWebSocket(options) };
}

function openWebSocket(
  t: TestContext,
  port: WebSocketPort,
  scheme = 'wss',
  path = '/ws',
  autoPong = true,
): WebSocket {
  const url = `${scheme}://localhost:${port.port}${path}`;
  // Its types lack `autoPong`.
  const options: ClientOptions & { autoPong: boolean } = { ca: authority.ca, autoPong };
  const webSocket = new WebSocket(url, options);
  webSocket.on('error', () => {});
  t.after(() => webSocket.terminate());
  return webSocket;
}

/** The TLS connection of a client inside a new WebSocket. */
async function openInside(t: TestContext, port: WebSocketPort, scheme = 'wss'): Promise<tls.TLSSocket> {
  const webSocket = openWebSocket(t, port, scheme);
  await within('the upgrade', once(webSocket, 'open'));
  const socket = tls.connect({
    socket: createWebSocketStream(webSocket),
    ca: authority.ca,
    servername: 'localhost',
    cert: client.cert,
    key: client.key,
  });
  socket.on('error', () => {});
  return socket;
}

/** Returns everything, and then ends. */
function echo(port: WebSocketPort): Promise<tls.TLSSocket> {
  const { promise, resolve } = Promise.withResolvers<tls.TLSSocket>();
  port.handle(['ziti-edge', ''], (socket) => {
    resolve(socket);
    socket.on('error', () => {}).pipe(socket);
  });
  return promise;
}

async function checkInside(t: TestContext, scheme: 'ws' | 'wss'): Promise<void> {
  const { port } = await openPort(t, {}, scheme);
  const accepted = echo(port);
  const socket = await openInside(t, port, scheme);
  const chunks: Buffer[] = [];
  let received = 0;
  const all = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if ((received += chunk.length) === BODY.length) resolve();
    });
  });
  socket.write(BODY);
  const peer = await within('a connection', accepted);
  assert.equal(leafOf(peer)?.fingerprint256, new X509Certificate(client.cert).fingerprint256);
  assert.equal(peer.remoteAddress, HOST);
  assert.ok((peer.remotePort ?? 0) > 0);
  await within('the echo', all);
  assert.ok(Buffer.concat(chunks).equals(BODY));
  const closed = closeOf(peer);
  socket.destroy();
  await within('the end', closed);
}

test('wss: a client proves its certificate inside, and bytes are whole both ways', (t) =>
  checkInside(t, 'wss'));

test('ws: a client proves its certificate inside, and bytes are whole both ways', (t) =>
  checkInside(t, 'ws'));

test('the server asks browsers for no certificate outside, and offers no compression', async (t) => {
  const { port } = await openPort(t);
  void echo(port);
  const webSocket = openWebSocket(t, port);
  const [response] = (await once(webSocket, 'upgrade')) as [
    { headers: Record<string, string>; socket: tls.TLSSocket },
  ];
  assert.equal(response.headers['sec-websocket-extensions'], undefined);
  assert.deepEqual(response.socket.getCertificate(), {});
});

test('another path, and a request that is no upgrade, are not found', async (t) => {
  const { port } = await openPort(t);
  void echo(port);
  const [, response] = (await once(openWebSocket(t, port, 'wss', '/other'), 'unexpected-response')) as [
    unknown,
    { statusCode: number },
  ];
  assert.equal(response.statusCode, 404);
  const socket = tls.connect({ host: HOST, port: port.port, ca: authority.ca, servername: 'localhost' });
  socket.write('GET /ws HTTP/1.1\r\nhost: a\r\n\r\n');
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  assert.match(String(chunk), /^HTTP\/1\.1 404 .*\r\nconnection: close\r\n/is);
  await within('the end', closeOf(socket));
});

test('a client without a request, and one without a handshake inside, are closed in time', async (t) => {
  const { port } = await openPort(t, { readTimeoutMs: SHORT_MS, handshakeTimeoutMs: 4 * SHORT_MS }, 'ws');
  void echo(port);
  const silent = connect({ host: HOST, port: port.port });
  silent.on('error', () => {}).resume();
  await within('the end of the silent one', closeOf(silent));
  const webSocket = openWebSocket(t, port, 'ws');
  await once(webSocket, 'open');
  await within('the end of the other', once(webSocket, 'close'));
});

test('bytes inside that are no TLS end the WebSocket', async (t) => {
  const { port } = await openPort(t);
  void echo(port);
  const webSocket = openWebSocket(t, port);
  await once(webSocket, 'open');
  webSocket.send('GET / HTTP/1.1\r\n\r\n');
  await within('the end', once(webSocket, 'close'));
});

test('a client that no longer responds to pings is closed; one that responds stays', async (t) => {
  const { port } = await openPort(t, { pingIntervalMs: SHORT_MS, pongTimeoutMs: 2 * SHORT_MS });
  void echo(port);
  const alive = await openInside(t, port);
  const dead = openWebSocket(t, port, 'wss', '/ws', false);
  await once(dead, 'open');
  await within('the end', once(dead, 'close'));
  assert.equal(alive.destroyed, false);
});

test('renewed certificates hold for new connections', async (t) => {
  const { ports, port } = await openPort(t);
  void echo(port);
  const renewed = await authority.issue('renewed');
  await ports.setTls({ default: renewed, alternates: [] });
  const socket = await openInside(t, port);
  await within('the handshake', once(socket, 'secureConnect'));
  assert.equal(
    new X509Certificate(socket.getPeerCertificate().raw).fingerprint256,
    new X509Certificate(renewed.cert).fingerprint256,
  );
});
