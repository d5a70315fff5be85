// Every frame of the vectors and of a recorded OpenZiti network, in both directions and in any cuts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesOfHex, concatBytes, hexOf } from '#base';
import {
  frameOfHex,
  loadRecordedFrames,
  loadWireVectors,
  type RecordedFrame,
} from '../../test/support/recorded-frames.ts';
import { randomCuts } from '../../test/support/random-cuts.ts';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import {
  encodeFrame,
  FRAME_HEAD_BYTES,
  makeFrame,
  replyForOf,
  textOfBody,
  UNKNOWN_VERSION_ANSWER,
  writeFrameHead,
  type Frame,
} from './frame-codec.ts';
import { FrameDecoder } from './frame-decoder.ts';
import { HeaderWriter } from './frame-headers.ts';
import { CHANNEL_HEADERS, parseVersionHeader } from './hello-codec.ts';
import { messageRow } from './message-table.ts';
import { TEST_SEED } from '../../test/support/test-seed.ts';

const LIMITS = { maxHeadersBytes: 65_536, maxBodyBytes: 1_048_576 };
const RECORDED = loadRecordedFrames();
const WHOLE = RECORDED.flatMap((record) =>
  record.frame === undefined ? [] : [{ ...record, hex: record.frame }],
);
/** Not frames: values of headers, the unframed version answer, the packed form of DTLS links. */
const UNFRAMED = ['unknown_version', 'xg_packed_dtls', 'string_slice', 'u32_bytes_map', 'string_map'];
const VECTORS = loadWireVectors().filter(({ name }) => !UNFRAMED.includes(name));
const ALL_HEX = [...VECTORS.map(({ hex }) => hex), ...WHOLE.map(({ hex }) => hex)];

function vector(name: string): Frame {
  return frameOfHex(VECTORS.find((each) => each.name === name)!.hex);
}

function headersOf(frame: Frame): [number, string][] {
  return [...frame.headers.entries()].map(([id, value]) => [id, hexOf(value)]);
}

/** Decodes in the given pieces; each frame is encoded at once, before its memory is used again. */
function decodeInPieces(pieces: Iterable<Uint8Array>): string[] {
  const decoder = new FrameDecoder(LIMITS);
  const found: string[] = [];
  for (const piece of pieces) {
    assert.equal(
      decoder.push(piece, (frame) => void found.push(hexOf(encodeFrame(frame)))),
      undefined,
    );
  }
  assert.equal(decoder.bufferedBytes, 0);
  return found;
}

test('the vectors and the recording are all there', () => {
  assert.equal(loadWireVectors().length, 38);
  assert.equal(VECTORS.length, 33);
  assert.equal(RECORDED.length, 559);
  assert.equal(WHOLE.length, 526);
});

test('every framed vector decodes and encodes back to the same bytes', () => {
  for (const { name, hex } of VECTORS) assert.equal(hexOf(encodeFrame(frameOfHex(hex))), hex, name);
});

test('every recorded frame that was kept whole decodes to what was noted and encodes back to the same bytes', () => {
  for (const record of WHOLE) {
    const frame = frameOfHex(record.hex);
    assertMatches(frame, record);
    assert.equal(record.frameBytes, record.hex.length / 2);
    assert.equal(hexOf(encodeFrame(frame)), record.hex);
    const headers = new HeaderWriter();
    for (const [id, value] of record.headers) headers.bytes(id, bytesOfHex(value));
    const { type, sequence } = record;
    assert.equal(hexOf(encodeFrame(makeFrame(type, { headers, body: frame.body, sequence }))), record.hex);
  }
});

test('every recorded frame that was kept in part decodes to its noted headers, in their order', () => {
  let count = 0;
  for (const record of RECORDED) {
    if (record.frame !== undefined) continue;
    const headers = new HeaderWriter();
    for (const [id, value] of record.headers) headers.bytes(id, bytesOfHex(value));
    const { raw } = headers.build();
    assert.equal(FRAME_HEAD_BYTES + raw.length + record.bodyBytes, record.frameBytes);
    const bytes = new Uint8Array(record.frameBytes);
    writeFrameHead(bytes, 0, record.type, record.sequence, raw.length, record.bodyBytes);
    bytes.set(raw, FRAME_HEAD_BYTES);
    bytes.set(bytesOfHex(record.bodyStart!), FRAME_HEAD_BYTES + raw.length);
    assertMatches(frameOfHex(hexOf(bytes)), record);
    count += 1;
  }
  assert.equal(count, 33);
});

test('all frames in one buffer decode to the same list', () => {
  assert.deepEqual(decodeInPieces([bytesOfHex(ALL_HEX.join(''))]), ALL_HEX);
});

test('all frames decode to the same list byte by byte', () => {
  const bytes = bytesOfHex(ALL_HEX.join(''));
  const each = function* (): Generator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 1) yield bytes.subarray(at, at + 1);
  };
  assert.deepEqual(decodeInPieces(each()), ALL_HEX);
});

test('all frames decode to the same list in random cuts', () => {
  const bytes = bytesOfHex(ALL_HEX.join(''));
  for (const maxBytes of [3, 40, 700, 70_000]) {
    const found = decodeInPieces(randomCuts(bytes, new SeededRandom(TEST_SEED + maxBytes), maxBytes));
    assert.deepEqual(found, ALL_HEX, `FRONTDOOR_TEST_SEED=${TEST_SEED}, pieces of at most ${maxBytes} bytes`);
  }
});

test('the chunk a frame came in may be written over once the frame was handled', () => {
  const bytes = bytesOfHex(VECTORS.map(({ hex }) => hex).join(''));
  const chunk = new Uint8Array(64);
  const pieces = function* (): Generator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += chunk.length) {
      chunk.fill(0xee);
      chunk.set(bytes.subarray(at, at + chunk.length));
      yield chunk.subarray(0, Math.min(chunk.length, bytes.length - at));
    }
  };
  assert.deepEqual(
    decodeInPieces(pieces()),
    VECTORS.map(({ hex }) => hex),
  );
});

test('the hello vectors hold the fields of their notes', () => {
  const minimal = vector('ctrl_hello_min');
  assert.deepEqual([minimal.contentType, minimal.sequence, textOfBody(minimal)], [0, -1, 'r1']);
  assert.equal(parseVersionHeader(minimal.headers.text(CHANNEL_HEADERS.version)), 'v2.1.0');
  const result = vector('ctrl_hello_result').headers;
  assert.equal(replyForOf(vector('ctrl_hello_result')), undefined, '−1, the sequence of a Go hello');
  assert.equal(result.i32(CHANNEL_HEADERS.replyFor), -1);
  assert.equal(result.bool(CHANNEL_HEADERS.resultSuccess), true);
  assert.equal(result.text(CHANNEL_HEADERS.id), 'ctrl1');
  assert.equal(hexOf(result.bytes(CHANNEL_HEADERS.groupSecret)!), '000102030405060708090a0b0c0d0e0f');
  const joining = vector('ctrl_hello_second_underlay').headers;
  assert.equal(joining.text(CHANNEL_HEADERS.connectionId), result.text(CHANNEL_HEADERS.connectionId));
  assert.equal(joining.text(CHANNEL_HEADERS.underlayType), 'ctrl.high');
  assert.equal(joining.has(CHANNEL_HEADERS.isFirstGroupConnection), false);
  const busy = vector('hello_reject_busy');
  assert.deepEqual(
    [busy.headers.bool(2), busy.headers.u32(CHANNEL_HEADERS.rejectClass), textOfBody(busy)],
    [false, 1, 'too busy'],
  );
  const link = vector('link_hello_first').headers;
  assert.deepEqual([link.text(2), link.text(6), link.text(7)], ['r1', 'r2', 'link.default']);
  assert.equal(link.bool(CHANNEL_HEADERS.isFirstGroupConnection), true);
  const acknowledging = vector('link_hello_ack_underlay').headers;
  assert.equal(acknowledging.text(0), link.text(0));
  assert.equal(acknowledging.text(7), 'link.ack');
  const split = vector('link_hello_split_payload');
  assert.equal(split.headers.u8(1), 1);
  assert.equal(replyForOf(split), undefined, 'one byte is no sequence');
});

test('the vectors of heartbeats, probes and replies hold the fields of their notes', () => {
  const sentAt = 1_700_000_000_000_000_000n;
  assert.equal(vector('heartbeat_request').headers.u64(CHANNEL_HEADERS.heartbeat), sentAt);
  assert.equal(vector('heartbeat_response').headers.u64(CHANNEL_HEADERS.heartbeatResponse), sentAt);
  const probe = vector('latency_probe');
  const reply = vector('latency_reply');
  assert.deepEqual([probe.contentType, probe.sequence, replyForOf(reply)], [3, 12, 12]);
  assert.deepEqual(reply.headers.bytes(128), probe.headers.bytes(128));
  const pong = vector('ping_reply');
  assert.deepEqual([replyForOf(pong), pong.headers.bool(2), textOfBody(pong)], [14, true, 'ok']);
  const verified = vector('ctrl_verify_result');
  assert.deepEqual([replyForOf(verified), textOfBody(verified)], [25, 'router verified']);
  const created = vector('ctrl_circuit_success');
  assert.deepEqual([created.contentType, created.headers.text(1100)], [1001, 'ing1']);
  const trace = vector('xg_control_trace');
  assert.deepEqual([trace.contentType, trace.headers.u32(20), trace.headers.u64(23)], [1102, 2, sentAt]);
  assert.deepEqual([trace.body[0], trace.headers.u32(24)], [1, 7]);
});

test('the answer to an unknown version is the one of the vectors, and no frame', () => {
  const expected = loadWireVectors().find(({ name }) => name === 'unknown_version')!;
  assert.equal(hexOf(UNKNOWN_VERSION_ANSWER), expected.hex);
  const decoder = new FrameDecoder(LIMITS);
  assert.equal(
    decoder.push(UNKNOWN_VERSION_ANSWER, () => assert.fail('no frame')),
    'bad-magic',
  );
});

function assertMatches(frame: Frame, record: RecordedFrame): void {
  assert.equal(frame.contentType, record.type);
  assert.equal(frame.sequence, record.sequence);
  assert.deepEqual(headersOf(frame), record.headers);
  assert.equal(frame.body.length, record.bodyBytes);
  assert.ok(messageRow(record.type));
  assert.equal(concatBytes([frame.headers.raw, frame.body]).length + FRAME_HEAD_BYTES, record.frameBytes);
}
