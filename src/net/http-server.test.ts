import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:https';
import { connect as connectTcp, type AddressInfo, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { after, before, test } from 'node:test';
import { silentLog } from '#base';
import { until, within } from '../../test/support/deadline.ts';
import { closeOf } from '../../test/support/socket-end.ts';
import { createApiServer } from './http-server.ts';

/** Honest callers need a moment too, on a busy machine. */
const DEADLINE_MS = 2_000;
let server: Server;
let port: number;

before(async () => {
  const made = [
    'req',
    '-x509',
    '-nodes',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-keyout',
    '-',
  ];
  // Key and certificate in one text; each is found by its label.
  const pem = execFileSync('openssl', [...made, '-subj', '/CN=x'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  }).toString();
  const [keyPem, certPem] = [pem, pem];
  const limits = { headTimeoutMs: DEADLINE_MS, maxSocketsPerAddress: 20 };
  server = createApiServer(
    { keyPem, certPem },
    (_request, response) => response.end('here'),
    silentLog,
    limits,
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

async function tls(): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}

async function answers(): Promise<boolean> {
  const socket = await tls();
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return bytes.toString().startsWith('HTTP/1.1 200 ');
}

test('who says nothing, before or after the handshake, or never ends a head, is cut off; others are served', async () => {
  const silent: Socket[] = [];
  for (let n = 0; n < 5; n += 1) {
    silent.push(connectTcp({ host: '127.0.0.1', port }), await tls(), await tls());
    silent.at(-1)!.write('GET / HTTP/1.1\r\nhost: x\r\n');
  }
  const closed = silent.map((socket) => {
    socket.on('error', () => {});
    socket.resume();
    return closeOf(socket);
  });
  assert.ok(await answers());
  await within('the end of those sockets', Promise.all(closed));
  assert.ok(await answers());
});

test('one address holds so many sockets and no more; those that go make room', async () => {
  const held = await Promise.all(Array.from({ length: 20 }, () => tls()));
  const [refused] = await Promise.allSettled([tls()]);
  assert.equal(refused.status, 'rejected');
  const gone = closeOf(held[0]!);
  held[0]!.destroy();
  await gone;
  // The server hears of it a moment later.
  await until('an answer', answers, Boolean);
  for (const socket of held) socket.destroy();
});
