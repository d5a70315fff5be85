import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { FrontdoorError } from '#base';
import { until } from '../../../test/support/deadline.ts';
import { BodyIntake, BodyRefusal, continueWhenRead, type BodyLimits } from './body-intake.ts';
import { createHttpServer } from './node-http.ts';

const KIB = 1_024;
const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

interface World {
  readonly port: number;
  readonly intake: BodyIntake;
  /** Lets answers go out, when they wait. */
  answer: () => void;
}

/** Answers with the length of the body; callers that send `Peer: x` are proven. */
async function open(limits: BodyLimits, maxBytes = 64 * KIB, waits = false): Promise<World> {
  const intake = new BodyIntake(limits);
  const go = Promise.withResolvers<void>();
  const server = createHttpServer((request, response) => {
    const peer = request.headers['peer'] as string | undefined;
    const answer = (status: number, text: string): void => {
      response.statusCode = status;
      intake.endIfUnread(request, response, peer !== undefined);
      response.setHeader('content-length', text.length);
      response.end(text);
    };
    intake.read(request, response, { peer, maxBytes }).then(
      (body) => void (waits ? go.promise : Promise.resolve()).then(() => answer(200, String(body.length))),
      (error: unknown) => {
        const isOurs = error instanceof BodyRefusal;
        if (isOurs && error.retryAfterS !== undefined) response.setHeader('retry-after', error.retryAfterS);
        answer(error instanceof FrontdoorError ? error.status : 500, '');
      },
    );
  });
  continueWhenRead(server);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, intake, answer: go.resolve };
}

interface Caller {
  readonly socket: Socket;
  readonly received: { text: string; isClosed: boolean };
}

function call(port: number, headers: string, body = '', localAddress = '127.0.0.1'): Caller {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  const received = { text: '', isClosed: false };
  socket.on('data', (bytes: Buffer) => (received.text += bytes.toString('latin1')));
  socket.on('close', () => (received.isClosed = true)).on('error', () => {});
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`);
  return { socket, received };
}

const answered = ({ received }: Caller, pattern: RegExp) =>
  until(
    String(pattern),
    () => received.text,
    (text) => pattern.test(text),
  );
const ended = ({ received }: Caller) => until('the end of the connection', () => received.isClosed, Boolean);

test('a body is read whole, byte by byte and in chunks, and the connection continues', async () => {
  const { port, intake } = await open({});
  const whole = call(port, 'Content-Length: 5', 'hello');
  await answered(whole, /^HTTP\/1\.1 200 [^]*\r\n\r\n5$/);
  whole.socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  for (let i = 0; i < 100; i += 1) whole.socket.write('1\r\nx\r\n');
  whole.socket.write('0\r\n\r\n');
  await answered(whole, /\r\n\r\n100$/);
  assert.equal(intake.heldBytes, 0);
  whole.socket.destroy();
});

test('a length over the cap is refused from the head, an unstated one when it passes; both callers get the answer', async () => {
  const { port } = await open({}, 16 * KIB);
  const stated = call(port, 'Content-Length: 20000');
  await answered(stated, /^HTTP\/1\.1 413 [^]*connection: close/i);
  const unstated = call(port, 'Transfer-Encoding: chunked', `10000\r\n${'x'.repeat(65_536)}\r\n`);
  await answered(unstated, /^HTTP\/1\.1 413 [^]*connection: close/i);
  await Promise.all([ended(stated), ended(unstated)]);
});

test('a body that does not come, comes too slowly, or takes too long is answered with 408, and its connection ends', async () => {
  const { port } = await open({ graceMs: 500, leastBytesPerSecond: 1_000, unprovenDeadlineMs: 3_000 });
  const silent = call(port, 'Content-Length: 5000');
  const slow = call(port, 'Content-Length: 60000', 'x'.repeat(100));
  const long = call(port, 'Content-Length: 60000', 'x'.repeat(50_000));
  const startedMs = performance.now();
  await Promise.all([answered(silent, /^HTTP\/1\.1 408 /), answered(slow, /^HTTP\/1\.1 408 /)]);
  assert.equal(long.received.text, '');
  await answered(long, /^HTTP\/1\.1 408 /);
  assert.ok(performance.now() - startedMs >= 2_900);
  await Promise.all([silent, slow, long].map(ended));
});

test('when the budget is used up, the oldest body of the address that holds most goes with 503, and others get in', async () => {
  const { port, intake } = await open({ maxUnprovenBytes: 256 * KIB });
  const heavy = Array.from({ length: 4 }, () =>
    call(port, 'Content-Length: 65536', 'x'.repeat(65_535), '127.0.0.2'),
  );
  await until(
    'the budget',
    () => intake.heldBytes,
    (bytes) => bytes === 256 * KIB,
  );
  const other = call(port, 'Content-Length: 5', 'hello', '127.0.0.3');
  await answered(other, /^HTTP\/1\.1 200 /);
  const { value: gone } = await until(
    'one that went',
    () => heavy.filter(({ received }) => received.text !== ''),
    (some) => some.length > 0,
  );
  assert.equal(gone.length, 1);
  assert.match(gone[0]!.received.text, /^HTTP\/1\.1 503 [^]*retry-after: 2/i);
  for (const one of heavy.filter((each) => each !== gone[0])) {
    one.socket.write('x');
    await answered(one, /^HTTP\/1\.1 200 /);
  }
  await until(
    'nothing held',
    () => intake.heldBytes,
    (bytes) => bytes === 0,
  );
});

test('an address has so many unproven bodies, and those that are being answered keep theirs', async () => {
  const world = await open({ maxUnprovenPerAddress: 2 }, 64 * KIB, true);
  const { port, intake } = world;
  const first = [1, 2].map(() => call(port, 'Content-Length: 5', 'hello', '127.0.0.2'));
  await until(
    'two bodies',
    () => intake.heldBytes,
    (bytes) => bytes > 4_096,
  );
  await answered(call(port, 'Content-Length: 5', 'hello', '127.0.0.2'), /^HTTP\/1\.1 503 /);
  const proven = call(port, 'Peer: p1\r\nContent-Length: 5', 'hello', '127.0.0.2');
  world.answer();
  await Promise.all([...first, proven].map((each) => answered(each, /^HTTP\/1\.1 200 /)));
  assert.equal(intake.heldBytes, 0);
});

test('a sender that waits for 100 gets it when its body is read, and never when it is refused', async () => {
  const { port } = await open({}, 16 * KIB);
  const good = call(port, 'Expect: 100-continue\r\nContent-Length: 5');
  await answered(good, /^HTTP\/1\.1 100 /);
  good.socket.write('hello');
  await answered(good, /\r\n\r\n5$/);
  const large = call(port, 'Peer: p1\r\nExpect: 100-continue\r\nContent-Length: 20000');
  await answered(large, /^HTTP\/1\.1 413 /);
  await ended(large);
  good.socket.destroy();
});
