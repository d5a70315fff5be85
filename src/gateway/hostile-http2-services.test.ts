// Services of HTTP/2 that break its rules, or speak something else. Each fails its own requests, with a cause that names it.
import assert from 'node:assert/strict';
import type { ClientHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { GatewayWorld, get, shareOf, statusOf } from './testing/gateway-world.ts';
import { ask, openH2c, type Http2Answer } from './testing/http2-client.ts';

const SETTINGS = Buffer.from('000000040000000000', 'hex');
const GOAWAY = Buffer.from('0000080700000000000000000000000000', 'hex');
/** `maxConcurrentStreams` of 0. */
const NO_STREAMS = Buffer.from('000006040000000000000300000000', 'hex');
const SPEAKS = { upstream: { http2: 'http' } } as const;
const GRPC = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };

const [DATA, HEADERS, RST_STREAM, END_STREAM] = [0, 1, 3, 1];

/** The frames that follow the preface. */
function framesOf(bytes: Buffer): { readonly type: number; readonly flags: number }[] {
  const frames = [];
  for (let at = 24; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3))
    frames.push({ type: bytes[at + 3]!, flags: bytes[at + 4]! });
  return frames;
}

describe('services that break the rules of HTTP/2', () => {
  let world: GatewayWorld;
  const sessions: ClientHttp2Session[] = [];
  before(async () => {
    world = await GatewayWorld.start({
      plain: { host: '127.0.0.1', port: 0, speaksH2c: true },
      limits: { dialTimeoutMs: 300, absenceHoldMs: 0 },
    });
    await world.serveHttp2('good', (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('fine');
    });
  });
  after(() => world.close());
  afterEach(async () => {
    const opened = openH2c(world.port);
    sessions.push(opened);
    assert.equal((await ask(opened, 'good')).body, 'fine');
    for (const session of sessions.splice(0)) session.destroy();
    await world.eventually(() => world.gateway.stats().connections === 0, 'no connection is left');
  });

  /** Serves raw bytes, asks with HTTP/2, and returns the answer with the cause that the log has. */
  async function failing(
    name: string,
    onSocket: (socket: Socket) => void,
    headers = {},
  ): Promise<Http2Answer & { readonly cause: unknown }> {
    await world.serveRaw(name, onSocket, SPEAKS);
    const opened = openH2c(world.port);
    sessions.push(opened);
    const answer = await ask(opened, name, headers);
    const record = world.recordOf(String(answer.headers['frontdoor-error-id']));
    return { ...answer, cause: record['cause'] };
  }

  it('by another protocol', async () => {
    const bytes = (text: string | Buffer) => (socket: Socket) => socket.once('data', () => socket.end(text));
    const old = await failing('old', bytes('HTTP/1.1 400 Bad Request\r\n\r\n'));
    assert.equal(old.headers[':status'], 502);
    assert.match(
      String(old.cause),
      /speaks HTTP\/1\.1, so the target of the share must start with http:\/\//,
    );
    const tls = await failing('tls', bytes(Buffer.from('15030100020128', 'hex')));
    assert.match(String(tls.cause), /responded with TLS, so .* h2:\/\/ or grpcs:\/\//);
    const closed = await failing('closed', (socket) => socket.end());
    assert.match(String(closed.cause), /closed the connection instead of speaking HTTP\/2/);
    const silent = await failing('silent', () => {});
    assert.equal(silent.headers[':status'], 504);
    assert.match(String(silent.cause), /did not speak HTTP\/2/);
  });

  it('but not by a first frame in pieces, one of which begins like another protocol', async () => {
    const frame = Buffer.concat([Buffer.from('000048040000000000', 'hex'), Buffer.alloc(72)]);
    for (let at = 0; at < 12; at += 1) frame.writeUIntBE(0x0005_0000_4000, 9 + 6 * at, 6);
    const { cause } = await failing('pieces', (socket) => {
      socket.write(frame.subarray(0, 2));
      setTimeout(() => socket.write(frame.subarray(2)), 20);
      setTimeout(() => socket.end(), 100);
    });
    assert.match(String(cause), /^the HTTP\/2 connection to the service ended/);
  });

  it('by frames that no reader can take', async () => {
    const broken = await failing('frames', (socket) => {
      let received = Buffer.alloc(0);
      socket.write(SETTINGS);
      socket.on('data', (bytes: Buffer) => {
        received = Buffer.concat([received, bytes]);
        // Once a request is there, a frame of data for a stream that nobody opened.
        if (framesOf(received).some(({ type }) => type === HEADERS))
          socket.write(Buffer.from('00000100000000006300', 'hex'));
      });
    });
    assert.equal(broken.headers[':status'], 502);
    assert.match(String(broken.cause), /HTTP\/2 connection to the service ended/);
  });

  it('by leaving before each request, which ends after a second try', async () => {
    let connections = 0;
    const { headers, cause } = await failing('storm', (socket) => {
      connections += 1;
      socket.write(Buffer.concat([SETTINGS, GOAWAY]));
    });
    assert.equal(headers[':status'], 502);
    assert.ok(connections <= 3, `${connections} connections`);
    assert.match(String(cause), /HTTP\/2/);
  });

  it('by allowing no stream at all, which holds requests no longer than a dial may take', async () => {
    const { headers } = await failing('none', (socket) => socket.write(NO_STREAMS));
    assert.equal(headers[':status'], 504);
  });

  it('by ending a connection on which it allowed no stream, which is not dialed without end', async () => {
    let connections = 0;
    const { headers, cause } = await failing('unused', (socket) => {
      connections += 1;
      socket.write(NO_STREAMS);
      setTimeout(() => socket.end(), 5);
    });
    assert.equal(headers[':status'], 502);
    assert.ok(connections <= 16, `${connections} connections`);
    assert.match(String(cause), /before it allowed a stream/);
  });

  it('by headers without end, and by trailers that are none', async () => {
    await world.serveHttp2('headers', (stream) => {
      stream.respond({
        ':status': 200,
        ...Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`x-${at}`, 'v'.repeat(9_000)])),
      });
      stream.end();
    });
    const opened = openH2c(world.port);
    sessions.push(opened);
    const { headers } = await ask(opened, 'headers');
    assert.equal(headers[':status'], 502);
  });

  it('by a call of gRPC that ends without a status, or in the middle', async () => {
    await world.serveHttp2('cut', (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      stream.write('\0\0\0\0\u0009half', () => stream.destroy(new Error('broken off')));
    });
    const opened = openH2c(world.port);
    sessions.push(opened);
    const cut = await ask(opened, 'cut', GRPC, '');
    assert.deepEqual([cut.headers[':status'], cut.trailers['grpc-status'], cut.code], [200, '14', 0]);
    assert.match(String(cut.trailers['grpc-message']), /circuit-closed, error ID /);
    await world.serveHttp2('bare', (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      stream.end();
    });
    const bare = await ask(opened, 'bare', GRPC, '');
    assert.deepEqual([bare.headers[':status'], bare.trailers['grpc-status'], bare.code], [200, undefined, 0]);
  });

  it('and see that a request broke off', async () => {
    let received = Buffer.alloc(0);
    await world.serveRaw(
      'broken',
      (socket) => {
        socket.write(SETTINGS);
        socket.on('data', (bytes: Buffer) => (received = Buffer.concat([received, bytes])));
      },
      SPEAKS,
    );
    const client = await world.client();
    client.send(
      'POST / HTTP/1.1\r\nHost: broken.share.localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
    );
    await world.eventually(() => received.includes('abc'), 'a part of the body');
    client.close();
    await world.eventually(() => framesOf(received).some(({ type }) => type === RST_STREAM), 'a reset');
    assert.ok(framesOf(received).every(({ type, flags }) => type !== DATA || (flags & END_STREAM) === 0));
  });

  it('which clients of HTTP/1.1 see as the same failures', async () => {
    await world.serveRaw('again', (socket) => socket.end('HTTP/1.1 400 Bad\r\n\r\n'), SPEAKS);
    assert.equal(statusOf(await world.ask(get('again'))), 502);
    world.publish(shareOf('nobody', SPEAKS));
    assert.equal(statusOf(await world.ask(get('nobody'))), 503);
  });
});
