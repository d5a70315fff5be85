import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:https';
import { connect as connectTcp, type AddressInfo, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { after, before, test } from 'node:test';
import { silentLog } from '#base';
import { until, within } from '../../../test/support/deadline.ts';
import { closeOf } from '../../../test/support/socket-end.ts';
import { createApiServer, type ApiServerLimits } from './http-server.ts';

/** Honest callers need a moment too, on a busy machine. */
const DEADLINE_MS = 2_000;
const servers: Server[] = [];
let server: Server;
/** Cuts nobody off while a test continues. */
let patient: Server;

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
  const open = async (limits: ApiServerLimits): Promise<Server> => {
    const opened = createApiServer(
      { keyPem, certPem },
      (_request, response) => response.end('here'),
      silentLog,
      limits,
    );
    servers.push(opened);
    opened.listen(0, '127.0.0.1');
    await once(opened, 'listening');
    return opened;
  };
  server = await open({ headTimeoutMs: DEADLINE_MS });
  patient = await open({ headTimeoutMs: 600_000, requestTimeoutMs: 600_000, maxSocketsPerAddress: 20 });
});
after(() => {
  for (const each of servers) {
    each.closeAllConnections();
    each.close();
  }
});

/** Rejects where the server ends it before its handshake is done. */
async function tls(of = server): Promise<TLSSocket> {
  const { port } = of.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  const gone = closeOf(socket).then(() => {
    throw new Error('cut off in the handshake');
  });
  await Promise.race([once(socket, 'secureConnect'), gone]);
  return socket;
}

async function answers(of = server): Promise<boolean> {
  const socket = await tls(of);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  let answer = '';
  socket.on('data', (bytes: Buffer) => (answer += bytes.toString()));
  await closeOf(socket);
  return answer.startsWith('HTTP/1.1 200 ');
}

test('a client that sends nothing, before or after the handshake, or never ends a head, is cut off; others are served', async () => {
  const { port } = server.address() as AddressInfo;
  // The deadline is for honest callers, too, where this process is kept from continuing.
  const handshake = async (): Promise<TLSSocket> => (await until('a handshake', () => tls(), Boolean)).value;
  const silent: Socket[] = [];
  for (let n = 0; n < 5; n += 1) {
    silent.push(connectTcp({ host: '127.0.0.1', port }), await handshake(), await handshake());
    silent.at(-1)!.write('GET / HTTP/1.1\r\nhost: x\r\n');
  }
  const closed = silent.map((socket) => {
    socket.on('error', () => {});
    socket.resume();
    return closeOf(socket);
  });
  await until('an answer', () => answers(), Boolean);
  await within('the end of those sockets', Promise.all(closed));
  await until('an answer', () => answers(), Boolean);
});

test('one address holds so many sockets and no more; those that go make room', async () => {
  const held = await Promise.all(Array.from({ length: 20 }, () => tls(patient)));
  const [refused] = await Promise.allSettled([tls(patient)]);
  assert.equal(refused.status, 'rejected');
  const gone = closeOf(held[0]!);
  held[0]!.destroy();
  await gone;
  // The server receives it a moment later.
  await until('an answer', () => answers(patient), Boolean);
  for (const socket of held) socket.destroy();
});
