// Connections that are passed on: TLS is made by the destination, every byte and end arrives, and all is bounded.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as net from 'node:net';
import { test, type TestContext } from 'node:test';
import * as tls from 'node:tls';
import { silentLog } from '#base';
import { makeTestAuthority } from '../../test/support/certificates.ts';
import { until, within } from '../../test/support/deadline.ts';
import { closeOf } from '../../test/support/socket-end.ts';
import { TlsPasser, type TlsPasserLimits } from './tls-passer.ts';
import { TlsPort } from './tls-port.ts';

const authority = await makeTestAuthority();
const inner = await authority.issue('inner', { dns: ['inner.example'] });

function portOf(server: net.Server): number {
  return (server.address() as net.AddressInfo).port;
}

/** A port that passes everything on to a server that sends back what it gets. */
async function open(t: TestContext, limits: Partial<TlsPasserLimits> = {}, destination?: number) {
  const server = tls.createServer({ cert: inner.cert, key: inner.key }, (socket) => {
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const passer = new TlsPasser({ limits, log: silentLog });
  const port = await TlsPort.open({
    host: '127.0.0.1',
    port: 0,
    handshakeTimeoutMs: 60_000,
    log: silentLog,
    others: (_hello, socket) => {
      passer.pass(socket, { host: '127.0.0.1', port: destination ?? portOf(server) });
      return true;
    },
  });
  t.after(async () => {
    passer.close();
    await port.close();
    server.close();
  });
  return { passer, ask: () => connect(port.port) };
}

function connect(port: number): tls.TLSSocket {
  const socket = tls.connect({ host: '127.0.0.1', port, servername: 'inner.example', ca: authority.ca });
  socket.on('error', () => {});
  return socket;
}

test('the destination makes TLS, and a megabyte comes back with the end', async (t) => {
  const { passer, ask } = await open(t);
  const client = ask();
  await within('TLS', once(client, 'secureConnect'));
  assert.equal(client.authorized, true);
  const sent = Buffer.alloc(1 << 20, 'x');
  const chunks: Buffer[] = [];
  client.on('data', (chunk: Buffer) => chunks.push(chunk));
  client.end(sent);
  await within('the end', once(client, 'end'));
  assert.ok(Buffer.concat(chunks).equals(sent), `${Buffer.concat(chunks).length} bytes came back`);
  await until(
    'nothing is left',
    () => passer.count,
    (count) => count === 0,
  );
});

test('one address has a limit, and the others are refused', async (t) => {
  const { passer, ask } = await open(t, { maxPerAddress: 1 });
  const first = ask();
  await within('TLS', once(first, 'secureConnect'));
  await within('the refusal', closeOf(ask()));
  assert.equal(passer.count, 1);
  first.destroy();
  await until(
    'room',
    () => passer.count,
    (count) => count === 0,
  );
  await within('TLS again', once(ask(), 'secureConnect'));
});

test('a destination that is away ends the connection, and so does the stop', async (t) => {
  const closed = net.createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const away = portOf(closed);
  closed.close();
  await within('the end', closeOf((await open(t, {}, away)).ask()));
  const { passer, ask } = await open(t);
  const client = ask();
  await within('TLS', once(client, 'secureConnect'));
  passer.close();
  await within('the end at the stop', closeOf(client));
  await within('a refusal after it', closeOf(ask()));
});
