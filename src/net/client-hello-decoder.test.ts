import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as net from 'node:net';
import { test } from 'node:test';
import * as tls from 'node:tls';
import { randomCuts } from '../../test/support/random-cuts.ts';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import { decodeClientHello, MAX_CLIENT_HELLO_BYTES } from './client-hello-decoder.ts';

/** What node's TLS client sends first. */
async function recordHello(options: tls.ConnectionOptions): Promise<Buffer> {
  const server = net.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const accepted = once(server, 'connection') as Promise<[net.Socket]>;
  const client = tls.connect({ host: '127.0.0.1', port, ...options });
  client.on('error', () => {});
  const [socket] = await accepted;
  let bytes = Buffer.alloc(0);
  while (decodeClientHello(bytes).kind === 'incomplete') {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    bytes = Buffer.concat([bytes, chunk]);
  }
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

const hello = await recordHello({ servername: 'a.example', ALPNProtocols: ['ziti-link', 'h2'] });

const outcomeOfHello = { kind: 'hello', protocols: ['ziti-link', 'h2'], serverName: 'a.example' };

test('the protocols of a client’s hello are read in its order, and none where it offers none', async () => {
  assert.deepEqual(decodeClientHello(hello), outcomeOfHello);
  const silent = await recordHello({ maxVersion: 'TLSv1.2' });
  assert.deepEqual(decodeClientHello(silent), {
    kind: 'hello',
    protocols: undefined,
    serverName: undefined,
  });
});

test('the server name is read as it was sent, in either version of TLS', async () => {
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const outcome = decodeClientHello(await recordHello({ servername: 'Share.EXAMPLE', maxVersion }));
    assert.equal(outcome.kind === 'hello' && outcome.serverName, 'Share.EXAMPLE');
  }
});

test('a hello is whole only with its last byte, in any cuts', () => {
  for (let length = 0; length < hello.length; length += 1) {
    assert.equal(decodeClientHello(hello.subarray(0, length)).kind, 'incomplete', `${length} bytes`);
  }
});

test('a hello that lies in several records is put together', () => {
  const seed = 7;
  const random = new SeededRandom(seed);
  const message = hello.subarray(5);
  for (let round = 0; round < 50; round += 1) {
    const records = [...randomCuts(message, random, 300)].map((piece) => {
      const head = Buffer.from([22, 3, 1, piece.length >> 8, piece.length & 0xff]);
      return Buffer.concat([head, piece]);
    });
    const outcome = decodeClientHello(Buffer.concat(records));
    assert.deepEqual(outcome, outcomeOfHello, `seed ${seed}`);
  }
});

test('bytes that are no client hello are refused at once', () => {
  assert.equal(decodeClientHello(Buffer.from('GET / HTTP/1.1\r\n')).kind, 'malformed');
  assert.equal(decodeClientHello(Buffer.from([3, 6, 9, 12])).kind, 'malformed');
  assert.equal(
    decodeClientHello(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])).kind,
    'malformed',
    'a server hello',
  );
  assert.equal(decodeClientHello(Buffer.from([22, 3, 1, 0, 0])).kind, 'malformed', 'an empty record');
  assert.equal(decodeClientHello(Buffer.from([22, 3, 1, 0xff, 0xff])).kind, 'malformed', 'too long a record');
});

test('a hello that claims more than any client sends is refused by its head', () => {
  assert.equal(decodeClientHello(Buffer.from([22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff])).kind, 'malformed');
  const records = Array.from({ length: MAX_CLIENT_HELLO_BYTES / 256 + 1 }, (_, index) => {
    const body = Buffer.alloc(256 - 5);
    if (index === 0) body.set([1, 0, 0x7f, 0xff]);
    return Buffer.concat([Buffer.from([22, 3, 1, 0, body.length]), body]);
  });
  assert.equal(decodeClientHello(Buffer.concat(records)).kind, 'malformed');
});

test('a hello whose lengths lie is malformed, whichever byte is changed', () => {
  const seed = 11;
  const random = new SeededRandom(seed);
  const kinds = new Set(['incomplete', 'malformed', 'hello']);
  for (let round = 0; round < 5_000; round += 1) {
    const bytes = Buffer.from(hello);
    bytes[random.int(bytes.length)] = random.int(256);
    assert.ok(kinds.has(decodeClientHello(bytes).kind), `seed ${seed}, round ${round}`);
  }
});
