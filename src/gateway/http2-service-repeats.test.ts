// Requests that a service of HTTP/2 refused before it began with them, and that are sent again over another session.
import assert from 'node:assert/strict';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { GatewayWorld, statusOf } from './testing/gateway-world.ts';

const FORGED = 'GET /forged HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 9.9.9.9\r\n\r\n';

describe('a request that is sent again', () => {
  let world: GatewayWorld;
  before(async () => (world = await GatewayWorld.start()));
  after(() => world.close());

  it('keeps the order of its bytes while it waits for another session', async () => {
    const paths: (string | undefined)[] = [];
    let received = 0;
    const answer = (stream: ServerHttp2Stream): void => {
      stream.on('data', (chunk: Buffer) => (received += chunk.length));
      stream.on('end', () => {
        stream.respond({ ':status': 200 });
        stream.end();
      });
    };
    await world.serveHttp2('again', (stream, headers) => {
      paths.push(headers[':path']);
      if (paths.length > 1) return answer(stream);
      stream.session?.goaway(constants.NGHTTP2_NO_ERROR, 0);
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      stream.session?.close();
    });
    const length = 100_000 + FORGED.length;
    const client = await world.client();
    client.send(
      `POST /asked HTTP/1.1\r\nHost: again.share.localhost\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`,
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    await world.eventually(() => world.dialer.dials === 1, 'the first session is dialed');
    world.dialer.gate = promise;
    await world.eventually(() => world.gateway.stats().retries === 1, 'the request is sent again');
    client.send('x'.repeat(100_000));
    await world.eventually(() => world.dialer.dials === 2, 'another session is dialed');
    // A part of the body has arrived while there is no circuit.
    await pause(100);
    resolve();
    await pause(100);
    client.send(FORGED);
    const text = await client.ended();
    assert.deepEqual(paths, ['/asked', '/asked']);
    assert.equal(statusOf(text), 200);
    assert.equal(received, length);
  });
});
