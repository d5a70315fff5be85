// A TLS port that passes connections of other servers on, before TLS begins.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as net from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import * as tls from 'node:tls';
import { silentLog } from '#base';
import { makeTestAuthority } from '../../test/support/certificates.ts';
import { within } from '../../test/support/deadline.ts';
import { closeOf } from '../../test/support/socket-end.ts';
import type { ClientHello } from './client-hello-decoder.ts';
import { TlsPort } from './tls-port.ts';

const authority = await makeTestAuthority();
const own = await authority.issue('router');
const other = await authority.issue('other', { dns: ['other.example'] });

/** A port whose handler says `router`; connections to `other.example` belong to a server that says `other`. */
async function open(t: TestContext, handshakeTimeoutMs = 60_000) {
  const passed: (ClientHello | undefined)[] = [];
  const server = tls.createServer({ cert: other.cert, key: other.key }, (socket) => socket.end('other'));
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  const port = await TlsPort.open({
    host: '127.0.0.1',
    port: 0,
    tls: { default: own, alternates: [] },
    handshakeTimeoutMs,
    log: silentLog,
    others: (hello, socket) => {
      passed.push(hello);
      if (hello?.serverName === 'refused.example') return false;
      server.emit('connection', socket);
      return true;
    },
  });
  t.after(() => port.close());
  port.handle(['ziti-edge', ''], (socket) => socket.on('error', () => {}).end('router'));
  return { port: port.port, passed };
}

async function said(socket: tls.TLSSocket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await within('the end', once(socket, 'end'));
  return Buffer.concat(chunks).toString();
}

const ask = (port: number, servername: string, ALPNProtocols?: string[]) =>
  tls.connect({ host: '127.0.0.1', port, servername, ca: authority.ca, ALPNProtocols });

/** The bytes with which a client begins. */
async function helloBytes(servername: string): Promise<Buffer> {
  const catcher = net.createServer();
  catcher.listen(0, '127.0.0.1');
  await once(catcher, 'listening');
  const client = tls.connect({
    host: '127.0.0.1',
    port: (catcher.address() as net.AddressInfo).port,
    servername,
  });
  client.on('error', () => {});
  const [socket] = (await once(catcher, 'connection')) as [net.Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  catcher.close();
  return bytes;
}

describe('a TLS port with other servers behind it', () => {
  test('serves its own protocols, and passes on what offers others or none, with all its bytes', async (t) => {
    const { port, passed } = await open(t);
    assert.equal(await said(ask(port, 'localhost', ['ziti-edge'])), 'router');
    assert.equal(await said(ask(port, 'other.example', ['http/1.1'])), 'other');
    assert.equal(await said(ask(port, 'other.example')), 'other');
    assert.deepEqual(
      passed.map((hello) => hello?.serverName),
      ['other.example', 'other.example'],
    );
  });

  test('waits for a hello that comes byte by byte', async (t) => {
    const { port, passed } = await open(t);
    const bytes = await helloBytes('other.example');
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    for (const byte of bytes)
      await new Promise<void>((done) => void socket.write(Uint8Array.of(byte), () => done()));
    // The server's own hello.
    const [answer] = (await within('an answer', once(socket, 'data'))) as [Buffer];
    assert.equal(answer[0], 22);
    assert.equal(passed.length, 1);
    socket.destroy();
  });

  test('passes on bytes that are no hello at once, without a name', async (t) => {
    const { port, passed } = await open(t);
    const socket = net.connect(port, '127.0.0.1').on('error', () => {});
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await within('the end', closeOf(socket.resume()));
    assert.deepEqual(passed, [undefined]);
  });

  test('closes connections whose hello does not come in time, or never ends', async (t) => {
    const { port, passed } = await open(t, 100);
    const bytes = await helloBytes('other.example');
    for (const sent of [Buffer.alloc(0), bytes.subarray(0, 5), bytes.subarray(0, -1)]) {
      const socket = net.connect(port, '127.0.0.1').on('error', () => {});
      if (sent.length > 0) socket.write(sent);
      await within('the deadline', closeOf(socket.resume()));
    }
    assert.deepEqual(passed, []);
  });

  test('answers a name that no server takes with an alert', async (t) => {
    const { port } = await open(t);
    const [error] = (await within('a failure', once(ask(port, 'refused.example'), 'error'))) as [
      { code: string },
    ];
    assert.equal(error.code, 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL');
  });
});
