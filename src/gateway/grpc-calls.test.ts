// Calls of gRPC through the gateway, with grpc-js on both sides.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { within } from '../../test/support/deadline.ts';
import {
  CallClient,
  CALLS,
  Metadata,
  startCalls,
  status,
  type CallService,
} from '../../test/support/grpc-calls.ts';
import { GatewayWorld, shareOf } from './testing/gateway-world.ts';

const pass = (bytes: Buffer): Buffer => bytes;

describe('calls of gRPC', () => {
  let world: GatewayWorld;
  let service: CallService;
  let client: CallClient;
  before(async () => {
    world = await GatewayWorld.start({ plain: { host: '127.0.0.1', port: 0, speaksH2c: true } });
    service = await startCalls();
    world.publish(shareOf('calls', { upstream: { http2: 'http' } }), service.port);
    client = new CallClient(world.port, 'calls.share.localhost');
  });
  after(async () => {
    client.close();
    service.stop();
    await world.close();
  });

  it('pass one message each way with metadata in front and behind', async () => {
    const answer = await client.unary(CALLS.unary, Buffer.from('hello'), { headers: { 'x-sent': 'abc' } });
    assert.deepEqual([answer.error, answer.message?.toString()], [null, 'hello']);
    assert.deepEqual(answer.trailers?.get('x-seen'), ['abc']);
    assert.deepEqual(answer.trailers?.get('x-api-version'), ['2']);
    assert.deepEqual(answer.trailers?.get('x-bytes-bin'), [Buffer.from([0, 255])]);
  });

  it('pass messages of several megabytes', async () => {
    const large = Buffer.alloc(8_000_000, 'z');
    const { error, message } = await client.unary(CALLS.unary, large);
    assert.deepEqual([error, message?.equals(large)], [null, true]);
  });

  it('pass streams in each direction, and in both at once', async () => {
    const download = client.client.makeServerStreamRequest(
      CALLS.download.path,
      pass,
      pass,
      Buffer.from('1000'),
    );
    let count = 0;
    for await (const message of download) {
      assert.equal(String(message), `message ${count}`);
      count += 1;
    }
    assert.equal(count, 1_000);

    const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>();
    const upload = client.client.makeClientStreamRequest(CALLS.upload.path, pass, pass, (error, answer) =>
      error === null ? resolve(answer) : reject(error),
    );
    for (let at = 0; at < 100; at += 1) upload.write(Buffer.alloc(10_000));
    upload.end();
    assert.equal((await within('the sum', promise))?.toString(), '1000000');

    const chat = client.client.makeBidiStreamRequest(CALLS.chat.path, pass, pass);
    const received: string[] = [];
    chat.on('data', (message: Buffer) => received.push(message.toString()));
    for (const word of ['one', 'two', 'three']) {
      const before = received.length;
      chat.write(Buffer.from(word));
      await world.eventually(() => received.length > before, `the echo of ${word}`);
    }
    chat.end();
    const ended = await within('the status', new Promise((resolved) => chat.on('status', resolved)));
    assert.deepEqual(
      [received, (ended as { code: number }).code],
      [['echo one', 'echo two', 'echo three'], status.OK],
    );
  });

  it('report errors of the service with their details', async () => {
    const { error } = await client.unary(CALLS.fail, Buffer.alloc(0));
    assert.deepEqual([error?.code, error?.details], [status.FAILED_PRECONDITION, 'nicht möglich']);
    assert.deepEqual(error?.metadata.get('grpc-status-details-bin'), [Buffer.from('details')]);
  });

  it('end at the service when the client cancels or its deadline passes', async () => {
    const late = service.nextCancelled();
    const { error } = await client.unary(CALLS.wait, Buffer.alloc(0), { deadlineMs: 100 });
    assert.equal(error?.code, status.DEADLINE_EXCEEDED);
    await late;
    const cancelled = service.nextCancelled();
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const call = client.client.makeUnaryRequest(
      CALLS.wait.path,
      pass,
      pass,
      Buffer.alloc(0),
      new Metadata(),
      (failed) => resolve(failed?.code),
    );
    setImmediate(() => call.cancel());
    assert.equal(await within('the end of the call', promise), status.CANCELLED);
    await cancelled;
  });

  it('fail with a status that names the failure when the service is away', async () => {
    world.publish(shareOf('away', { upstream: { http2: 'http' } }));
    const other = new CallClient(world.port, 'away.share.localhost');
    const { error } = await other.unary(CALLS.unary, Buffer.from('x'));
    other.close();
    assert.equal(error?.code, status.UNAVAILABLE);
    assert.match(error?.details ?? '', /not connected.*\(no-terminator, error ID \w+\)/);
  });
});
