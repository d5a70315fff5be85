// Requests to services that speak HTTP/2, of clients that speak either. Node's server of HTTP/2 is the real counterpart.
import assert from 'node:assert/strict';
import { constants, type ClientHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '../../test/support/deadline.ts';
import { GatewayWorld, get, once, shareOf, statusOf } from './testing/gateway-world.ts';
import { answerOf, ask, begin, openH2c } from './testing/http2-client.ts';

describe('services that speak HTTP/2', () => {
  let world: GatewayWorld;
  const sessions: ClientHttp2Session[] = [];

  before(async () => {
    world = await GatewayWorld.start({ plain: { host: '127.0.0.1', port: 0, speaksH2c: true } });
    await world.serveHttp2('echo', (stream, headers) => {
      const chunks: Buffer[] = [];
      let trailers = {};
      stream.on('trailers', (received) => (trailers = received));
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        stream.respond(
          { ':status': 200, 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] },
          { waitForTrailers: true },
        );
        stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'abc' }));
        stream.end(JSON.stringify({ headers, trailers, length: Buffer.concat(chunks).length }));
      });
    });
    await world.serveHttp2('large', (stream) => {
      stream.respond({ ':status': 200, 'content-length': 5_000_000 });
      stream.end(Buffer.alloc(5_000_000, 'x'));
    });
  });
  after(() => world.close());
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.destroy();
    await world.eventually(() => world.gateway.stats().connections === 0, 'no connection is left');
  });

  function session(): ClientHttp2Session {
    const opened = openH2c(world.port);
    sessions.push(opened);
    return opened;
  }

  interface Seen {
    readonly headers: Record<string, string>;
    readonly trailers: Record<string, string>;
    readonly length: number;
  }

  it('carry requests of both versions, with trailers for those who accept them', async () => {
    const headers = { ':method': 'POST', ':path': '/a?b=c', te: 'trailers', cookie: ['x=1', 'y=2'] };
    const { body, trailers, headers: answered } = await ask(session(), 'echo', headers, 'hello');
    const seen = JSON.parse(body) as Seen;
    assert.deepEqual(
      [':method', ':scheme', ':path', ':authority', 'te', 'cookie'].map((name) => seen.headers[name]),
      ['POST', 'http', '/a?b=c', 'echo.share.localhost', 'trailers', 'x=1; y=2'],
    );
    assert.deepEqual([seen.length, trailers['x-sum'], answered['set-cookie']], [5, 'abc', ['a=1', 'b=2']]);
    assert.equal(seen.headers['x-forwarded-for'], '127.0.0.1');
    assert.equal(typeof seen.headers['frontdoor-request-id'], 'string');
    for (const name of ['connection', 'transfer-encoding', 'host'])
      assert.equal(seen.headers[name], undefined);

    const text = await world.ask(get('echo', '/old', 'TE: trailers\r\nConnection: TE, close\r\n'));
    assert.match(
      text,
      /^HTTP\/1\.1 200 \r\n[^]*transfer-encoding: chunked[^]*\/old[^]*\r\n0\r\nx-sum: abc\r\n\r\n$/i,
    );
  });

  it('answer requests whose share changes while their session is dialed', async () => {
    await world.serveHttp2('changed', (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('fine');
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    world.dialer.gate = promise;
    const { dials } = world.dialer;
    const client = await world.client();
    client.send(get('changed'));
    await world.eventually(() => world.dialer.dials > dials, 'the session is dialed');
    world.publish(shareOf('changed', { upstream: { http2: 'http' }, updatedAtMs: 2 }));
    // Longer than the gateway needs until it looks at its sessions.
    await pause(600);
    world.dialer.gate = undefined;
    resolve();
    assert.equal(statusOf(await client.ended()), 200);
    client.close();
  });

  it('get trailers of requests', async () => {
    const stream = begin(session(), 'echo', { ':method': 'POST' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-check': '7' }));
    stream.end('abc');
    const seen = JSON.parse((await answerOf(stream)).body) as Seen;
    assert.deepEqual([seen.trailers['x-check'], seen.length], ['7', 3]);
  });

  it('serve many requests at once over one circuit', async () => {
    const before = world.gateway.stats().dials;
    const opened = session();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) => ask(opened, 'echo', { ':path': `/${at}` })),
    );
    const paths = answers.map(({ body }) => (JSON.parse(body) as Seen).headers[':path']);
    assert.deepEqual(
      paths,
      paths.map((_, at) => `/${at}`),
    );
    assert.ok(world.gateway.stats().dials - before <= 1);
    assert.equal(world.gateway.stats().failures, 0);
  });

  it('may answer before they have read the request, and reset what is left of it', async () => {
    await world.serveHttp2('hasty', (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('early', () => stream.close(constants.NGHTTP2_NO_ERROR));
    });
    const stream = begin(session(), 'hasty', { ':method': 'POST' }, { endStream: false });
    stream.write('a part');
    const { headers, body } = await answerOf(stream);
    assert.deepEqual([headers[':status'], body], [200, 'early']);
  });

  it('are paused by a client that reads slowly, while others continue', async () => {
    const opened = session();
    const slow = begin(opened, 'large');
    slow.pause();
    await within('the head', once(slow, 'response'));
    const { body } = await ask(opened, 'large');
    assert.equal(body.length, 5_000_000);
    let length = 0;
    slow.on('data', (chunk: Buffer) => (length += chunk.length));
    slow.resume();
    await within('the body', once(slow, 'close'));
    assert.equal(length, 5_000_000);
  });

  it('send in both directions at once, and first', async () => {
    await world.serveHttp2('chat', (stream) => {
      stream.respond({ ':status': 200 });
      stream.write('first,');
      stream.on('data', (chunk: Buffer) => stream.write(`${chunk.toString()} back,`));
      stream.on('end', () => stream.end('last'));
    });
    const stream = begin(session(), 'chat', { ':method': 'POST' }, { endStream: false });
    let text = '';
    stream.setEncoding('utf8').on('data', (more: string) => (text += more));
    await world.eventually(() => text === 'first,', 'the first message');
    stream.write('one');
    await world.eventually(() => text === 'first,one back,', 'an answer');
    stream.end('two');
    await within('the end', once(stream, 'close'));
    assert.match(text, /two back,last$/);
  });

  it('learn that a client has left, and clients that a service has', async () => {
    const arrived = Promise.withResolvers<ServerHttp2Stream>();
    await world.serveHttp2('leave', (stream) => {
      stream.respond({ ':status': 200 });
      stream.write('begun');
      arrived.resolve(stream);
    });
    const opened = session();
    const stream = begin(opened, 'leave', { ':method': 'POST' }, { endStream: false });
    stream.on('error', () => {});
    await within('the head', once(stream, 'response'));
    const served = await arrived.promise;
    const gone = once(served, 'close');
    stream.close(constants.NGHTTP2_CANCEL);
    await within('the end of the stream', gone);
    assert.equal(served.rstCode, constants.NGHTTP2_CANCEL);

    await world.serveHttp2('reset', (other) => {
      other.respond({ ':status': 200 });
      other.write('begun', () => other.destroy(new Error('broken off')));
    });
    assert.equal((await ask(opened, 'reset')).code, constants.NGHTTP2_INTERNAL_ERROR);
    assert.match(JSON.stringify(world.records.at(-1)), /ended the HTTP\/2 stream [^"]*INTERNAL_ERROR/);
  });

  it('answer with interim responses, and continue a body that waits for one', async () => {
    await world.serveHttp2('early', (stream) => {
      stream.additionalHeaders({ ':status': 103, link: '</a.css>' });
      stream.respond({ ':status': 200 });
      stream.end('late');
    });
    const { interim, body } = await ask(session(), 'early');
    assert.deepEqual([interim, body], [[103], 'late']);
    const server = await world.serveHttp2('expect', () => {});
    server.removeAllListeners('stream');
    server.on('request', (request, response) => {
      request.resume();
      request.on('end', () => response.end('done'));
    });
    const client = await world.client();
    client.send(
      'POST / HTTP/1.1\r\nHost: expect.share.localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n',
    );
    await client.until((text) => text.includes('HTTP/1.1 100'));
    client.send('ok');
    await client.until((text) => text.includes('done'));
    client.close();
  });

  it('have requests wait while they allow no further stream, and each gets its turn', async () => {
    const waiting: ServerHttp2Stream[] = [];
    await world.serveHttp2(
      'few',
      (stream) => {
        waiting.push(stream);
      },
      { settings: { maxConcurrentStreams: 1 } },
    );
    const opened = session();
    const answers = Array.from({ length: 20 }, (_, at) => ask(opened, 'few', { ':path': `/${at}` }));
    let served = 0;
    // 16 sessions at most, with one stream each.
    await world.eventually(() => waiting.length === 16, 'every session is busy');
    while (served < 20) {
      await world.eventually(() => waiting.length > 0, 'a request');
      served += 1;
      const stream = waiting.shift()!;
      stream.respond({ ':status': 200 });
      stream.end();
    }
    for (const { headers } of await Promise.all(answers)) assert.equal(headers[':status'], 200);
  });

  it('are not asked twice for a request unless they refused it', async () => {
    let count = 0;
    await world.serveHttp2('refuse', (stream) => {
      count += 1;
      if (count === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else {
        let body = '';
        stream.setEncoding('utf8').on('data', (text: string) => (body += text));
        stream.on('end', () => {
          stream.respond({ ':status': 200 });
          stream.end(body);
        });
      }
    });
    const again = await ask(session(), 'refuse', { ':method': 'POST' }, 'a small body');
    assert.deepEqual([again.headers[':status'], again.body, count], [200, 'a small body', 2]);
    let seen = 0;
    await world.serveHttp2('cancel', (stream) => {
      seen += 1;
      stream.close(constants.NGHTTP2_CANCEL);
    });
    const { headers } = await ask(session(), 'cancel', { ':method': 'POST' }, 'x');
    assert.deepEqual([headers[':status'], seen], [502, 1]);
  });

  it('are left when they say that they go, and running requests end', async () => {
    const streams: ServerHttp2Stream[] = [];
    await world.serveHttp2('going', (stream) => void streams.push(stream));
    const opened = session();
    const first = ask(opened, 'going', { ':path': '/1' });
    await world.eventually(() => streams.length === 1, 'the first request');
    streams[0]!.session!.goaway(constants.NGHTTP2_NO_ERROR);
    await new Promise((resolve) => {
      streams[0]!.session!.ping(() => resolve(undefined));
    });
    const second = ask(opened, 'going', { ':path': '/2' });
    await world.eventually(() => streams.length === 2, 'the second request');
    assert.notEqual(streams[0]!.session, streams[1]!.session);
    for (const stream of streams) {
      stream.respond({ ':status': 200 });
      stream.end();
    }
    for (const { headers } of await Promise.all([first, second])) assert.equal(headers[':status'], 200);
  });

  it('open WebSockets by extended CONNECT, and refuse by name where they have none', async () => {
    await world.serveHttp2(
      'socket',
      (stream, headers) => {
        stream.respond({
          ':status': headers[':protocol'] === 'websocket' ? 200 : 400,
          'sec-websocket-protocol': 'chat',
        });
        stream.pipe(stream);
      },
      { settings: { enableConnectProtocol: true } },
    );
    const client = await world.client();
    const upgrade = (name: string): string =>
      get(
        name,
        '/',
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
      );
    client.send(upgrade('socket'));
    await client.until((text) => text.includes('\r\n\r\n'));
    assert.match(client.received, /^HTTP\/1\.1 101 [^]*sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/i);
    client.send('echo me');
    await client.until((text) => text.includes('echo me'));
    client.close();
    const refused = await world.ask(upgrade('large'));
    assert.equal(statusOf(refused), 502);
    assert.match(JSON.stringify(world.records.at(-1)), /without WebSockets/);
  });
});
