// Sockets that are read without Node's queue behave like those that are read with it.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { makeTestAuthority } from '../../test/support/certificates.ts';
import { until, within } from '../../test/support/deadline.ts';
import { readDirectly } from './direct-reading.ts';

interface Pair {
  readonly client: Socket;
  readonly served: Socket;
}

const servers: Server[] = [];
let pairOf: Readonly<Record<'TCP' | 'TLS', () => Promise<Pair>>>;

async function pair(server: Server, event: string, open: (port: number) => Socket): Promise<Pair> {
  const served = once(server, event) as Promise<[Socket]>;
  const client = open((server.address() as AddressInfo).port);
  client.on('error', () => {});
  const [socket] = await within('a connection', served);
  return { client, served: socket };
}

before(async () => {
  const { ca, cert, key } = await (await makeTestAuthority()).issue('localhost');
  const plain = createServer({ allowHalfOpen: true });
  const secure = createTlsServer({ cert, key, allowHalfOpen: true });
  for (const server of [plain, secure]) {
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
  }
  pairOf = {
    TCP: () => pair(plain, 'connection', (port) => connect(port, '127.0.0.1')),
    TLS: () =>
      pair(secure, 'secureConnection', (port) =>
        connectTls({ port, host: '127.0.0.1', ca, servername: 'localhost' }),
      ),
  };
});
after(() => {
  for (const server of servers) server.close();
});

for (const kind of ['TCP', 'TLS'] as const) {
  describe(`a ${kind} socket that is read directly`, () => {
    test('delivers all bytes in order and then its end, however often it is paused', async (t) => {
      const { client, served } = await pairOf[kind]();
      t.after(() => client.destroy());
      const sent = randomBytes(8 << 20);
      const got = createHash('sha256');
      let bytes = 0;
      let chunks = 0;
      readDirectly(served, (chunk) => {
        assert.equal(served.isPaused(), false, 'delivered while paused');
        bytes += chunk.length;
        got.update(chunk);
        chunks += 1;
        if (chunks % 3 !== 0) return;
        served.pause();
        setImmediate(() => served.resume());
      });
      const ended = once(served, 'end');
      client.end(sent);
      await within('the end', ended);
      assert.equal(bytes, sent.length);
      assert.equal(got.digest('hex'), createHash('sha256').update(sent).digest('hex'));
      served.destroy();
    });

    test('does not use the queue while it flows', async (t) => {
      const { client, served } = await pairOf[kind]();
      t.after(() => client.destroy());
      let text = '';
      readDirectly(served, (chunk) => (text += chunk.toString()));
      for (const piece of ['one ', 'two ', 'three']) {
        client.write(piece);
        await until(
          piece,
          () => text,
          (got) => got.endsWith(piece),
        );
      }
      assert.equal(text, 'one two three');
      // Node notes here that its queue has delivered something.
      assert.equal(served.readableDidRead, false);
      served.destroy();
    });

    test('reads a bounded number of bytes while it is paused', async (t) => {
      const { client, served } = await pairOf[kind]();
      t.after(() => client.destroy());
      readDirectly(served, () => {});
      served.pause();
      client.write(Buffer.alloc(64 << 20));
      const { value } = await until(
        'a full queue',
        () => served.readableLength,
        (length) => length >= served.readableHighWaterMark,
      );
      assert.ok(value <= served.readableHighWaterMark + (1 << 20), String(value));
      served.destroy();
    });
  });
}
