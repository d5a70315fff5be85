// Circuits of SDKs at this router that lead over a link: both kinds of ends, the listener's options, traceroutes.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  contentType,
  FrameHeaders,
  HeaderWriter,
  headerId,
  makeFrame,
  textOfBody,
  versionHeader,
  type Frame,
} from '#wire';
import { RouteErrorCode } from '#wire/circuits';
import { PAYLOAD_FLAGS, PAYLOAD_TYPE, PayloadFrame, Xgress, XGRESS_DEFAULTS } from '#wire/xgress';
import { DestType } from '#wire/ctrl';
import { until } from '../../../test/support/deadline.ts';
import { FIN, makeEdgeWorld, textAt } from './testing/edge-world.ts';

const { edge } = headerId;

test('a dial without a service session (ConnectV2) is refused with the reason, and the channel remains', async (t) => {
  const { sdk } = makeEdgeWorld(t);
  const headers = new HeaderWriter().u32(edge.connId, 5).text(edge.serviceId, 'service');
  const answer = await sdk.channel.request(makeFrame(contentType.connectV2, { headers }), 10_000);
  assert.equal(answer.contentType, contentType.stateClosed);
  assert.equal(answer.headers.u32(edge.connId), 5);
  assert.match(textOfBody(answer), /does not offer ConnectV2/);
  assert.equal((await sdk.connect(5)).contentType, contentType.stateConnected);
});

test('an SDK that exchanges Data frames reaches a service at another router, both ways', async (t) => {
  const { sdk, far } = makeEdgeWorld(t);
  assert.equal((await sdk.connect(1)).contentType, contentType.stateConnected);
  const got = textAt(far, 'c1');
  sdk.send(1, Buffer.from('question'), true);
  assert.equal(String(await got), 'question');
  far.services.get('c1')!.end('answer');
  await until(
    'answer and end',
    () => sdk.received(),
    (frames) => frames.length === 2,
  );
  const [answer, end] = sdk.received();
  assert.deepEqual([textOfBody(answer!), end!.headers.u32(edge.flags)], ['answer', FIN]);
});

test('the bytes that an SDK sent before it closed its connection arrive whole, over a link that loses frames', async (t) => {
  const { sdk, far, near } = makeEdgeWorld(t, {}, { faultsPerMille: 200, seed: 3 });
  await sdk.connect(1);
  const got = textAt(far, 'c1');
  const all = randomBytes(300_000);
  for (let at = 0; at < all.length; at += 10_000) sdk.send(1, all.subarray(at, at + 10_000));
  sdk.send(1, Buffer.alloc(0), true);
  sdk.closed(1);
  assert.ok(all.equals(await got));
  const { subject, id } = await near.controller.next('fault');
  assert.deepEqual([subject, id], [0, 'c1']);
});

test('mtu cuts an SDK’s messages into chunks of the circuit, which the far end gets whole', async (t) => {
  const { sdk, far, payloads } = makeEdgeWorld(t, { mtu: 500 });
  await sdk.connect(1);
  const got = textAt(far, 'c1');
  const message = randomBytes(4_000);
  sdk.send(1, message);
  sdk.send(1, Buffer.alloc(0), true);
  assert.ok(message.equals(await got));
  assert.ok(payloads.every(({ data }) => data.length <= 500));
  // Excludes retransmissions, which can occur while the machine is paused.
  const once = payloads.filter(({ flags }) => (flags & PAYLOAD_FLAGS.retransmit) === 0);
  assert.equal(once.filter(({ flags }) => (flags & PAYLOAD_FLAGS.chunk) !== 0).length, 9);
});

const MIB = 1024 * 1024;
const KEY = new Uint8Array(32);
const PART_BYTES = 16 * 1024;

test('a message longer than any frame arrives as it is sent, as one message only where it is encrypted', async (t) => {
  const message = randomBytes(20 * MIB);
  for (const isEncrypted of [false, true]) {
    const hostData = new Map(isEncrypted ? [[edge.publicKey, KEY]] : []);
    const { sdk, far, payloads, sendParts } = makeEdgeWorld(t, {}, {}, FrameHeaders.empty, hostData);
    await sdk.connect(1, false, isEncrypted ? KEY : undefined);
    const got = textAt(far, 'c1');
    sendParts(1, message, PART_BYTES);
    sdk.send(1, Buffer.alloc(0), true);
    assert.ok(message.equals(await got));
    const chunks = payloads.filter(({ flags }) => (flags & PAYLOAD_FLAGS.chunk) !== 0);
    assert.equal(chunks.length > 0, isEncrypted);
    assert.ok(payloads.every(({ data }) => data.length <= PART_BYTES + 5));
  }
});

test('parts of a message for no connection are refused once, and those of a closed one are dropped', async (t) => {
  const { sdk, sendParts } = makeEdgeWorld(t);
  sendParts(5, randomBytes(MIB), PART_BYTES);
  await sdk.connect(1);
  const refused = sdk.frames.filter((frame) => frame.contentType === contentType.stateClosed);
  assert.deepEqual(
    refused.map((frame) => frame.headers.u32(edge.connId)),
    [5],
  );
});

test('an SDK gets bodies of at most 32 KiB, unless they are encrypted', async (t) => {
  for (const isEncrypted of [false, true]) {
    const hostData = new Map(isEncrypted ? [[edge.publicKey, KEY]] : []);
    const { sdk, near } = makeEdgeWorld(t, {}, {}, FrameHeaders.empty, hostData);
    await sdk.connect(1, false, isEncrypted ? KEY : undefined);
    const sent = randomBytes(64 * 1024);
    near.forwarder.end('c1-in')!.deliver(new PayloadFrame('c1', 0, PAYLOAD_FLAGS.originator, sent));
    const received = (): Buffer => Buffer.concat(sdk.received().map(({ body }) => body));
    await until('the bytes', received, (bytes) => bytes.length === sent.length);
    assert.ok(sent.equals(received()));
    const longest = Math.max(...sdk.received().map(({ body }) => body.length));
    assert.equal(longest, isEncrypted ? sent.length : 32 * 1024);
  }
});

test('a router that stops notifies only SDKs of Frontdoor, and refuses no client that has no other path', async (t) => {
  const ours = new HeaderWriter().text(headerId.channel.helloVersion, versionHeader('linux', 'x64')).build();
  for (const [hello, count] of [
    [ours, 1],
    [FrameHeaders.empty, 0],
  ] as const) {
    const { sdk, drain } = makeEdgeWorld(t, {}, {}, hello);
    drain();
    assert.equal((await sdk.connect(1)).contentType, contentType.stateConnected);
    assert.equal(sdk.frames.filter((frame) => frame.contentType === contentType.stopping).length, count);
  }
  const { sdk, far, drain } = makeEdgeWorld(t);
  await sdk.connect(1);
  drain();
  const got = textAt(far, 'c1');
  sdk.send(1, Buffer.from('still here'), true);
  assert.equal(String(await got), 'still here');
});

test('getCircuitTimeout ends a dial for which the controller takes too long', async (t) => {
  const { sdk, near } = makeEdgeWorld(t, { getCircuitTimeoutMs: 40 });
  near.controller.answers.set(contentType.createCircuitV2, () => {});
  const answer = await sdk.connect(1);
  assert.equal(answer.contentType, contentType.stateClosed);
  assert.match(textOfBody(answer), /within 40 ms/);
});

test('randomDrops and the flow control’s options are those of the listener', async (t) => {
  const { sdk, far, near } = makeEdgeWorld(t, {
    randomDrops: true,
    drop1InN: 2,
    txPortalStartSize: 2_000,
    txPortalMaxSize: 2_000,
  });
  await sdk.connect(1);
  const got = textAt(far, 'c1');
  for (let times = 0; times < 10; times += 1) sdk.send(1, randomBytes(1_000));
  sdk.send(1, Buffer.alloc(0), true);
  await until(
    'the window to fill',
    () => near.ends.counters.localWindowBlocks,
    (blocks) => blocks > 0,
  );
  assert.equal((await got).length, 10_000);
  const service = far.services.get('c1')!;
  for (let times = 0; times < 20; times += 1) service.write(randomBytes(10));
  await until(
    'drops',
    () => near.ends.counters.droppedPayloads,
    (dropped) => dropped > 0,
  );
});

test('maxCloseWaitMs is how long a closed connection’s last bytes are kept for a far end that does not answer', async (t) => {
  const { sdk, near, link } = makeEdgeWorld(t, { maxCloseWaitMs: 150 });
  await sdk.connect(1);
  link.stop();
  sdk.send(1, Buffer.from('never acknowledged'));
  sdk.closed(1);
  const startedMs = performance.now();
  await near.controller.next('fault');
  assert.ok(performance.now() - startedMs >= 100);
  assert.equal(near.forwarder.end('c1-in'), undefined);
});

test('a full link holds an SDK’s messages back instead of losing them', async (t) => {
  // So long that a pause of the machine causes no retransmission.
  const patient = { retxStartMs: 600_000, retxMaxMs: 0 };
  const { sdk, far, link } = makeEdgeWorld(t, patient, { capacity: 8, framesPerTurn: 1 });
  await sdk.connect(1);
  const got = textAt(far, 'c1');
  for (let times = 0; times < 200; times += 1) sdk.send(1, randomBytes(1_000));
  sdk.send(1, Buffer.alloc(0), true);
  assert.equal((await got).length, 200_000);
  assert.equal(link.droppedCount, 0);
});

test('frames of an SDK that speaks xgress itself pass through, with its connection id at its channel only', async (t) => {
  const { sdk, far, payloads } = makeEdgeWorld(t);
  const connected = await sdk.connect(1, true);
  const circuitId = connected.headers.text(edge.circuitId)!;
  assert.equal(connected.headers.text(edge.xgressAddress), `${circuitId}-in`);
  const service = far.services.get(circuitId)!;
  const sent: Buffer[] = [];
  service.on('data', (chunk: Buffer) => void sent.push(chunk));
  const received: Uint8Array[] = [];
  const own = new Xgress(circuitId, false, XGRESS_DEFAULTS, {
    canSend: () => true,
    sendPayload: (frame) => {
      frame.connId = 1;
      sdk.channel.sendData(frame);
    },
    sendAcknowledgement: (frame) => {
      frame.connId = 1;
      sdk.channel.sendData(frame);
    },
    acknowledgementDue: () => {},
    deliver: (data) => void received.push(data),
    deliverEnd: () => {},
    drained: () => {},
  });
  own.resume();
  own.start(Date.now());
  own.write(Buffer.from('question'), Date.now());
  await until(
    'the question',
    () => Buffer.concat(sent).toString(),
    (text) => text === 'question',
  );
  assert.ok(payloads.every(({ connId }) => connId === undefined));
  service.write('answer');
  await until(
    'the answer',
    () => sdk.data.filter((frame) => frame.contentType === PAYLOAD_TYPE),
    (frames) => frames.length === 1,
  );
  assert.ok(sdk.data.every(({ connId }) => connId === 1));
});

test('an SDK that speaks xgress itself is not notified of an end once it ended and got the last payload', async (t) => {
  const { sdk, near, payloads } = makeEdgeWorld(t);
  for (const connId of [1, 2]) {
    const { headers } = await sdk.connect(connId, true);
    const circuitId = headers.text(edge.circuitId)!;
    const last = (flags: number): PayloadFrame => new PayloadFrame(circuitId, 1, flags, Buffer.alloc(0));
    near.forwarder.end(`${circuitId}-in`)!.deliver(last(PAYLOAD_FLAGS.eof | PAYLOAD_FLAGS.originator));
    if (connId === 1) {
      const payload = last(PAYLOAD_FLAGS.eof);
      payload.connId = connId;
      sdk.channel.sendData(payload);
      await until(
        'the SDK’s end',
        () => payloads.filter((sent) => (sent.flags & PAYLOAD_FLAGS.eof) !== 0),
        ({ length }) => length === 1,
      );
    }
    near.forwarder.unroute(circuitId);
  }
  const closed = await until(
    'the other connection’s end',
    () => sdk.frames.filter((frame) => frame.contentType === contentType.stateClosed),
    (frames) => frames.length > 0,
  );
  assert.deepEqual(
    closed.value.map(({ headers }) => headers.u32(edge.connId)),
    [2],
  );
});

test('an SDK’s traceroute is answered by the hop where its count ends', async (t) => {
  const { sdk } = makeEdgeWorld(t);
  await sdk.connect(1);
  const hops: [number, string, string][] = [];
  for (const count of [1, 2, 3, 4]) {
    const headers = new HeaderWriter()
      .u32(edge.connId, 1)
      .u32(edge.traceHopCount, count)
      .u64(edge.timestamp, 77n);
    const answer = await sdk.channel.request(makeFrame(contentType.traceRoute, { headers }), 30_000);
    assert.equal(answer.contentType, contentType.traceRouteResponse);
    assert.equal(answer.headers.u64(edge.timestamp), 77n);
    hops.push([count, answer.headers.text(edge.traceHopType)!, answer.headers.text(edge.traceHopId)!]);
  }
  assert.deepEqual(hops, [
    [1, 'xgress/edge', ''],
    [2, 'forwarder', 'r0'],
    [3, 'forwarder', 'r1'],
    [4, 'xgress/memory', ''],
  ]);
});

const HOSTED = {
  circuitId: 'h1',
  timeout: 10_000_000_000n,
  egress: { binding: 'edge', address: 'h1-out', destination: 'hosted' },
  forwards: [{ srcAddress: 'l01', dstAddress: 'h1-out', dstType: DestType.END }],
};

test('circuitStartTimeout closes the circuit of a host when nobody starts it', async (t) => {
  const { sdk, near } = makeEdgeWorld(t, { circuitStartTimeoutMs: 120 });
  const result = near.route(HOSTED);
  const dial = await until(
    'the dial',
    () => sdk.frames.find((it) => it.contentType === contentType.dial),
    Boolean,
  );
  sdk.channel.reply(dial.value!, makeFrame(contentType.dialSuccess, { body: Uint8Array.of(1, 0, 0, 0) }));
  assert.equal((await result).isSuccess, true);
  const { subject, id } = await near.controller.next('fault');
  assert.deepEqual([subject, id], [1, 'h1']);
  const closed = sdk.frames.find((it) => it.contentType === contentType.stateClosed);
  assert.match(textOfBody(closed!), /not started in time/);
});

test('a dialer gets the key of the process that accepted its circuit, whichever one the controller knows', async (t) => {
  const hostData = new Map([[edge.publicKey, KEY]]);
  const { sdk, near } = makeEdgeWorld(t, {}, {}, FrameHeaders.empty, hostData);
  for (const [circuitId, inAnswer, connId] of [
    ['h1', undefined, 4],
    ['h2', new Uint8Array(32).fill(5), 5],
  ] as const) {
    const egress = { ...HOSTED.egress, address: circuitId };
    const forwards = [{ ...HOSTED.forwards[0]!, dstAddress: circuitId }];
    const result = near.route({ ...HOSTED, circuitId, egress, forwards });
    const isDial = ({ contentType: type, headers }: Frame): boolean =>
      type === contentType.dial && headers.text(edge.circuitId) === circuitId;
    const dial = await until('the dial', () => sdk.frames.find(isDial), Boolean);
    const headers = new HeaderWriter();
    if (inAnswer !== undefined) headers.bytes(edge.publicKey, inAnswer);
    const body = Uint8Array.of(connId, 0, 0, 0);
    sdk.channel.reply(dial.value!, makeFrame(contentType.dialSuccess, { headers, body }));
    assert.deepEqual((await result).peerData.get(edge.publicKey), inAnswer ?? KEY);
  }
});

test('the end of a service session ends the circuits of its dials and of its binds, and no other', async (t) => {
  const { sdk, near, endServiceSession } = makeEdgeWorld(t);
  await sdk.connect(1);
  await sdk.connect(2, false, undefined, 'other session');
  const result = near.route(HOSTED);
  const dial = await until(
    'the dial',
    () => sdk.frames.find((it) => it.contentType === contentType.dial),
    Boolean,
  );
  sdk.channel.reply(dial.value!, makeFrame(contentType.dialSuccess, { body: Uint8Array.of(3, 0, 0, 0) }));
  assert.equal((await result).isSuccess, true);
  const faults: string[] = [];
  for (const [token, circuitId] of [
    ['session', 'c1'],
    ['bind token', 'h1'],
  ] as const) {
    endServiceSession(token);
    faults.push((await near.controller.next('fault')).id);
    assert.equal(faults.at(-1), circuitId);
  }
  assert.notEqual(near.forwarder.end('c2-in'), undefined);
  const closed = (): number[] => {
    const frames = sdk.frames.filter((it) => it.contentType === contentType.stateClosed);
    return [...new Set(frames.map((frame) => frame.headers.u32(edge.connId)!))];
  };
  const { value } = await until('two closed connections', closed, (ids) => ids.length === 2);
  assert.equal(value.includes(2), false);
});

test('connectTimeout is how long a host may take to answer its dial', async (t) => {
  const { near } = makeEdgeWorld(t, { connectTimeoutMs: 60 });
  const { errorCode, error } = await near.route(HOSTED);
  assert.equal(errorCode, RouteErrorCode.dialTimeout);
  assert.match(error, /within 60 ms/);
});

test('a terminator that nobody hosts here is gone for good', async (t) => {
  const { near } = makeEdgeWorld(t);
  const { errorCode } = await near.route({ ...HOSTED, egress: { ...HOSTED.egress, destination: 'other' } });
  assert.equal(errorCode, RouteErrorCode.invalidTerminator);
});

for (const [successor, code] of [
  ['none', RouteErrorCode.invalidTerminator],
  ['another', RouteErrorCode.resourcesNotAvailable],
] as const) {
  test(`a dial that ends with the host’s channel deletes the terminator only if no bind has it: ${successor}`, async (t) => {
    const { sdk, near, endBind } = makeEdgeWorld(t);
    const result = near.route(HOSTED);
    await until('the dial', () => sdk.frames.find((it) => it.contentType === contentType.dial), Boolean);
    endBind(successor);
    sdk.channel.close('lost');
    assert.equal((await result).errorCode, code);
  });
}

test('a host cannot have its terminator deleted by its answer to a dial, which another process may host by now', async (t) => {
  const { sdk, near } = makeEdgeWorld(t);
  for (const [circuitId, code] of [
    ['h1', RouteErrorCode.invalidTerminator],
    ['h2', RouteErrorCode.misconfiguredTerminator],
  ] as const) {
    const egress = { ...HOSTED.egress, address: circuitId };
    const result = near.route({ ...HOSTED, circuitId, egress, forwards: [] });
    const isDial = ({ contentType: type, headers }: Frame): boolean =>
      type === contentType.dial && headers.text(edge.circuitId) === circuitId;
    const dial = await until('the dial', () => sdk.frames.find(isDial), Boolean);
    const headers = new HeaderWriter().u32(edge.connId, 7).u8(headerId.ctrl.routeErrorCode, code);
    sdk.channel.reply(dial.value!, makeFrame(contentType.dialFailed, { headers, body: 'stopping' }));
    assert.equal((await result).errorCode, RouteErrorCode.resourcesNotAvailable);
  }
});

test('txQueueSize messages may go to an SDK’s channel that is over its mark; the rest waits in the circuit', async (t) => {
  const taken: number[] = [];
  for (const txQueueSize of [1, 6]) {
    const { sdk, far, near } = makeEdgeWorld(t, { txQueueSize });
    await sdk.connect(1);
    sdk.channel.pauseReading();
    const service = far.services.get('c1')!;
    for (let times = 0; times < 200; times += 1) service.write(randomBytes(16_000));
    const held = (): number => {
      const end = near.forwarder.end('c1-in')!.inspect() as {
        recvBufferDetail: { payloadCount: number; maxSequence: number };
      };
      return end.recvBufferDetail.maxSequence - end.recvBufferDetail.payloadCount;
    };
    let last = -1;
    await until(
      'the channel to fill',
      async () => {
        const before = last;
        // Frames move in turns of the event loop, not with the clock.
        for (let turns = 0; turns < 200; turns += 1) await new Promise((resolve) => setImmediate(resolve));
        return [before, (last = held())];
      },
      ([before, now]) => now! > 50 && before === now,
    );
    taken.push(last);
  }
  assert.equal(taken[1]! - taken[0]!, 5, taken.join());
});
