import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  connect,
  constants,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { createSecureContext } from 'node:tls';
import { promisify } from 'node:util';
import { WebSocketServer } from 'ws';
import { makeTestAuthority } from '../../test/support/certificates.ts';
import { within } from '../../test/support/deadline.ts';
import { GatewayWorld, once, shareOf } from './testing/gateway-world.ts';
import { answerOf, type Http2Answer } from './testing/http2-client.ts';

const run = promisify(execFile);

describe('HTTP/2 at the TLS port', () => {
  let world: GatewayWorld;
  const sessions: ClientHttp2Session[] = [];

  before(async () => {
    const authority = await makeTestAuthority('clients');
    const { cert, key } = await authority.issue('shares', { dns: ['*.share.localhost'] });
    const tls = {
      defaultCertificate: { cert, key },
      certificateFor: () => createSecureContext({ cert, key }),
    };
    world = await GatewayWorld.start({ secure: { host: '127.0.0.1', port: 0, tls } });
    await world.serve('app', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, url, headers, rawTrailers } = request;
        const length = Buffer.concat(chunks).length;
        response.setHeader('set-cookie', ['a=1', 'b=2']);
        response.setHeader('keep-alive', 'timeout=5');
        response.end(JSON.stringify({ method, url, headers, rawTrailers, length }));
      });
    });
    await world.serve('stream', (_request, response) => {
      response.writeHead(200, { trailer: 'grpc-status' });
      response.write('one,');
      response.write('two');
      response.addTrailers({ 'grpc-status': '0' });
      response.end();
    });
    await world.serve('large', (_request, response) => {
      response.setHeader('content-length', 5_000_000);
      response.end(Buffer.alloc(5_000_000, 'x'));
    });
    await world.serve('status', (request, response) => {
      response.statusCode = Number(request.url!.slice(1));
      response.end();
    });
  });
  after(() => world.close());
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.destroy();
    await world.eventually(() => world.gateway.stats().connections === 0, 'no connection is left');
  });

  function session(name: string): ClientHttp2Session {
    const port = world.gateway.securePort!;
    const opened = connect(`https://${name}.share.localhost:${port}`, {
      host: '127.0.0.1',
      servername: `${name}.share.localhost`,
      rejectUnauthorized: false,
      lookup: (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    opened.on('error', () => {});
    sessions.push(opened);
    return opened;
  }

  const ask = (opened: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string | Buffer) => {
    const stream = opened.request(headers, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return answerOf(stream);
  };

  it('carries a request to an HTTP/1.1 service, and its response back', async () => {
    const opened = session('app');
    const { headers, body } = await ask(opened, { ':path': '/a?b=c', cookie: ['x=1', 'y=2'], 'x-a': 'é' });
    assert.equal(headers[':status'], 200);
    assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2']);
    assert.equal(headers['keep-alive'], undefined);
    assert.equal(headers['connection'], undefined);
    const seen = JSON.parse(body) as { method: string; url: string; headers: Record<string, string> };
    assert.deepEqual([seen.method, seen.url, seen.headers['cookie']], ['GET', '/a?b=c', 'x=1; y=2']);
    assert.equal(seen.headers['x-forwarded-proto'], 'https');
    assert.equal(seen.headers['host'], `app.share.localhost:${world.gateway.securePort!}`);
  });

  it('carries 300 requests at once over one connection', async () => {
    const opened = session('app');
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, at) => ask(opened, { ':path': `/${at}` })),
    );
    const urls = answers.map(({ body }) => (JSON.parse(body) as { url: string }).url);
    assert.deepEqual(
      urls,
      urls.map((_, at) => `/${at}`),
    );
    await world.eventually(() => world.gateway.stats().connections === 1, 'only the connection is left');
  });

  it('carries bodies with and without a length, and trailers both ways', async () => {
    const app = session('app');
    const body = Buffer.alloc(300_000, 'y');
    const known = await ask(app, { ':method': 'POST', 'content-length': body.length }, body);
    assert.match(known.body, /"content-length":"300000".*"length":300000/);
    const unknown = app.request({ ':method': 'POST' }, { waitForTrailers: true });
    unknown.on('wantTrailers', () => unknown.sendTrailers({ 'x-sum': 'abc' }));
    unknown.end(body);
    assert.match(
      (await answerOf(unknown)).body,
      /"transfer-encoding":"chunked".*"x-sum","abc".*"length":300000/,
    );
    const opened = session('stream');
    const { body: text, trailers } = await ask(opened, { te: 'trailers' });
    assert.deepEqual([text, trailers['grpc-status']], ['one,two', '0']);
    assert.deepEqual((await ask(opened, {})).trailers['grpc-status'], undefined);
  });

  it('ends a response without a body with its head', async () => {
    const opened = session('status');
    for (const status of [204, 304]) {
      const { headers, body } = await ask(opened, { ':path': `/${status}` });
      assert.deepEqual([headers[':status'], body], [status, '']);
    }
    const { headers, body } = await ask(session('large'), { ':method': 'HEAD' });
    assert.deepEqual([headers['content-length'], body], ['5000000', '']);
  });

  it('waits for a client that reads slowly', async () => {
    const opened = session('large');
    const stream = opened.request({});
    stream.pause();
    await within('the head', once(stream, 'response'));
    let length = 0;
    stream.on('data', (chunk: Buffer) => (length += chunk.length));
    stream.resume();
    await within('the body', once(stream, 'close'));
    assert.equal(length, 5_000_000);
  });

  it('refuses what HTTP/1.1 refuses, with a page', async () => {
    const opened = session('app');
    const statusOf = async (headers: OutgoingHttpHeaders) => (await ask(opened, headers)).headers[':status'];
    assert.equal(await statusOf({ ':method': 'TRACE' }), 405);
    assert.equal(await statusOf({ ':authority': 'stream.share.localhost' }), 421);
    assert.equal(await statusOf({ ':authority': 'nobody.share.localhost' }), 404);
    assert.equal(await statusOf({ ':path': '//a' }), 400);
    assert.equal(await statusOf({ ':authority': 'app.share.localhost', host: 'other.share.localhost' }), 400);
    assert.equal(await statusOf({ content_length: '5' }), 400);
    const page = await ask(opened, { ':path': '//a', accept: 'application/json' });
    assert.match(page.body, /"errorId"|"error"/);
    assert.equal(typeof page.headers['frontdoor-error-id'], 'string');
  });

  it('opens a WebSocket by extended CONNECT', async (test) => {
    const server = createServer();
    const echo = new WebSocketServer({ server });
    echo.on('connection', (socket) =>
      socket.on('message', (data) => socket.send(`echo ${(data as Buffer).toString()}`)),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    test.after(() => {
      echo.close();
      server.close();
      server.closeAllConnections();
    });
    world.publish(shareOf('ws'), (server.address() as AddressInfo).port);
    const opened = session('ws');
    await within('the settings', once(opened, 'remoteSettings'));
    assert.equal(opened.remoteSettings.enableConnectProtocol, true);
    const stream = opened.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':path': '/',
      'sec-websocket-version': '13',
    });
    stream.on('error', () => {});
    const headers = (await within('the tunnel', once(stream, 'response'))) as IncomingHttpHeaders;
    assert.deepEqual([headers[':status'], headers['upgrade']], [200, undefined]);
    // "hi", masked with zeros.
    stream.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
    const bytes = (await within('an echo', once(stream, 'data'))) as Buffer;
    assert.equal(bytes.subarray(2).toString(), 'echo hi');
    stream.end(Buffer.from([0x88, 0x80, 0, 0, 0, 0]));
    await within('the end', once(stream, 'close'));
    await world.eventually(
      () => world.gateway.stats().openCircuits === world.gateway.stats().idleCircuits,
      'the circuit ends',
    );
  });

  it('ends a request whose client resets its stream, and no longer counts it', async () => {
    const arrived = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    await world.serve('slow', (request) => {
      arrived.resolve();
      request.on('close', () => gone.resolve());
    });
    const opened = session('slow');
    const stream = opened.request({});
    stream.on('error', () => {});
    await within('the request', arrived.promise);
    stream.close(constants.NGHTTP2_CANCEL);
    await within('its end', gone.promise);
    await world.eventually(() => world.gateway.stats().connections === 1, 'the stream is no longer counted');
  });

  async function rawAnswer(
    name: string,
    text: string,
    headers: OutgoingHttpHeaders = {},
  ): Promise<Http2Answer> {
    await world.serveRaw(name, (socket) => socket.on('data', () => socket.write(text)));
    return ask(session(name), headers);
  }

  it('sends one of each header of which HTTP/2 has one, whatever the service repeats', async () => {
    const lines =
      'X-Content-Type-Options: nosniff\r\nx-content-type-options: nosniff\r\nETag: "a"\r\nETag: "b"\r\n' +
      'Content-Encoding: a\r\nContent-Encoding: b\r\nRetry-After: 1\r\nRetry-After: 2\r\n' +
      '__proto__: x\r\nConstructor: y\r\nX-Many: 1\r\nX-Many: 2\r\n';
    const { headers, body } = await rawAnswer(
      'twice',
      `HTTP/1.1 200 OK\r\n${lines}Content-Length: 2\r\n\r\nok`,
    );
    assert.deepEqual(
      ['x-content-type-options', 'etag', 'content-encoding', 'retry-after', 'x-many'].map(
        (name) => headers[name],
      ),
      ['nosniff', '"a"', 'a, b', '1', '1, 2'],
    );
    assert.deepEqual([Object.hasOwn(headers, '__proto__'), headers['constructor'], body], [true, 'y', 'ok']);
  });

  it('sends each value of a repeated trailer', async () => {
    const text =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx-a: 1\r\nx-a: 2\r\nconstructor: y\r\n\r\n';
    const { trailers } = await rawAnswer('trailers', text, { te: 'trailers' });
    assert.deepEqual([trailers['x-a'], trailers['constructor']], ['1, 2', 'y']);
  });

  it('answers with a status of the same class where HTTP/2 has none, and without a body after 205', async () => {
    const unknown = await rawAnswer('unknown', 'HTTP/1.1 999 No\r\nContent-Length: 2\r\n\r\nno');
    assert.deepEqual([unknown.headers[':status'], unknown.body], [500, 'no']);
    const reset = await rawAnswer('reset', 'HTTP/1.1 205 Reset\r\nContent-Length: 2\r\n\r\nno');
    assert.deepEqual([reset.headers[':status'], reset.body, reset.code], [205, '', 0]);
  });

  it('takes one request of a stream', async () => {
    const urls: string[] = [];
    await world.serve('single', (request, response) => {
      urls.push(request.url!);
      response.end();
    });
    const opened = session('single');
    await within('the settings', once(opened, 'remoteSettings'));
    // The protocol is not one that is passed on, so that its data has no length.
    const stream = opened.request({ ':method': 'CONNECT', ':protocol': 'h2c', ':path': '/first' });
    stream.end('GET /second HTTP/1.1\r\nHost: single.share.localhost\r\n\r\n');
    assert.equal((await answerOf(stream)).headers[':status'], 200);
    assert.equal((await ask(opened, { ':path': '/third' })).headers[':status'], 200);
    assert.deepEqual(urls, ['/first', '/third']);
  });

  it('resets a response that breaks off', async () => {
    await world.serveRaw('broken', (socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc');
        setImmediate(() => socket.destroy());
      }),
    );
    const { code, headers } = await ask(session('broken'), {});
    assert.deepEqual([headers[':status'], code], [200, constants.NGHTTP2_INTERNAL_ERROR]);
  });

  it('serves curl over HTTP/2', async () => {
    const port = world.gateway.securePort!;
    const { stdout } = await run('curl', [
      '-sk',
      '--http2',
      '--resolve',
      `app.share.localhost:${port}:127.0.0.1`,
      '-w',
      ' %{http_version} %{http_code}',
      '-d',
      'some data',
      `https://app.share.localhost:${port}/x`,
    ]);
    assert.match(stdout, /"length":9\} 2 200$/);
  });
});
