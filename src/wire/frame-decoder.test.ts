import assert from 'node:assert/strict';
import { test } from 'node:test';
import { concatBytes } from '#base';
import { encodeFrame, makeFrame, textOfBody, type Frame } from './frame-codec.ts';
import { FrameDecoder, HELLO_LIMITS, type DecodeFault } from './frame-decoder.ts';
import { HeaderWriter } from './frame-headers.ts';
import {
  AcknowledgementFrame,
  encodeAcknowledgement,
  encodePayloadHead,
  PayloadFrame,
  type DataFrame,
} from './xgress/payload-codec.ts';

const LIMITS = { maxHeadersBytes: 1_000, maxBodyBytes: 2_000 };

function faultOf(bytes: Uint8Array, limits = LIMITS): DecodeFault | undefined {
  return new FrameDecoder(limits).push(bytes, () => {});
}

function withLength(offset: number, length: number): Uint8Array {
  const bytes = encodeFrame(makeFrame(5));
  new DataView(bytes.buffer).setUint32(offset, length, true);
  return bytes;
}

test('lengths at the limit pass, one byte more is a fault, and so is anything near 2^31 and 2^32', () => {
  const atLimit = makeFrame(5, {
    headers: new HeaderWriter().bytes(1, new Uint8Array(992)),
    body: new Uint8Array(2_000),
  });
  assert.equal(faultOf(encodeFrame(atLimit)), undefined);
  for (const length of [0x7fff_ffff, 0x8000_0000, 0xffff_ffff]) {
    assert.equal(faultOf(withLength(12, length)), 'headers-too-long');
    assert.equal(faultOf(withLength(16, length)), 'body-too-long');
  }
  assert.equal(faultOf(withLength(12, 1_001)), 'headers-too-long');
  assert.equal(faultOf(withLength(16, 2_001)), 'body-too-long');
});

test('a length is judged by the head alone, before its bytes come or memory is taken for them', () => {
  const decoder = new FrameDecoder({ maxHeadersBytes: 1_000, maxBodyBytes: 0x4000_0000 });
  const before = process.memoryUsage().arrayBuffers;
  assert.equal(
    decoder.push(withLength(16, 0x3fff_ffff), () => {}),
    undefined,
  );
  for (let i = 0; i < 100; i += 1) decoder.push(new Uint8Array(1_000), () => {});
  assert.equal(decoder.bufferedBytes, 20 + 100_000);
  assert.ok(process.memoryUsage().arrayBuffers - before < 4_000_000);
});

test('a long body of a streamed type comes in parts, in any cuts, and nothing of it is kept', () => {
  const body = Uint8Array.from({ length: 30_000 }, (_, at) => at % 251);
  const headers = new HeaderWriter().bytes(1, Uint8Array.of(7, 8, 9));
  const frames = [
    makeFrame(5, { headers, body }),
    makeFrame(5, { headers, body: body.subarray(0, 9) }),
    makeFrame(6),
  ];
  const bytes = concatBytes(frames.map((frame) => encodeFrame(frame)));
  const limits = {
    maxHeadersBytes: 1_000,
    maxBodyBytes: 20_000,
    maxOtherBodyBytes: 10_000,
    largeTypes: new Set([5]),
    streamedTypes: new Set([5]),
  };
  for (const cut of [1, 21, 1_000, 20_000, bytes.length]) {
    const decoder = new FrameDecoder(limits);
    const parts: Uint8Array[] = [];
    const came: Frame[] = [];
    let mostHeld = 0;
    let cameBytes = 0;
    for (let start = 0; start < bytes.length; start += cut) {
      const fault = decoder.push(
        bytes.subarray(start, start + cut).slice(),
        (frame) => void came.push(frame),
        undefined,
        ({ frame, bodyBytes, at, bytes: part }) => {
          assert.deepEqual([...frame.headers.bytes(1)!], [7, 8, 9]);
          assert.deepEqual([frame.contentType, bodyBytes], [5, body.length]);
          assert.equal(at, cameBytes);
          cameBytes += part.length;
          parts.push(part);
        },
      );
      assert.equal(fault, undefined);
      mostHeld = Math.max(mostHeld, decoder.heldBytes);
    }
    assert.deepEqual(concatBytes(parts), body);
    assert.deepEqual(
      came.map((frame) => [frame.contentType, frame.body.length]),
      [
        [5, 9],
        [6, 0],
      ],
    );
    assert.ok(mostHeld < 200, `${mostHeld} bytes`);
  }
  assert.equal(
    new FrameDecoder(limits).push(bytes, () => {}),
    'body-too-long',
  );
});

test('a long frame in many cuts is whole at its end, and what was discarded is forgotten', () => {
  const body = Uint8Array.from({ length: 300_000 }, (_, at) => at % 251);
  const bytes = concatBytes([encodeFrame(makeFrame(5, { body })), encodeFrame(makeFrame(6))]);
  for (const cut of [1_000, 16_384, 70_000]) {
    const decoder = new FrameDecoder({ maxHeadersBytes: 1_000, maxBodyBytes: 400_000 });
    const came: Frame[] = [];
    for (let at = 0; at < bytes.length; at += cut)
      decoder.push(bytes.subarray(at, at + cut), (frame) => void came.push(frame));
    assert.deepEqual(
      came.map(({ contentType }) => contentType),
      [5, 6],
    );
    assert.deepEqual(came[0]!.body, body);
    assert.deepEqual([decoder.bufferedBytes, decoder.heldBytes], [0, 0]);
    decoder.push(bytes.subarray(0, 200_000), () => {});
    assert.ok(decoder.heldBytes >= 200_000 && decoder.heldBytes <= 265_536, String(decoder.heldBytes));
    decoder.discard();
    assert.deepEqual([decoder.bufferedBytes, decoder.heldBytes], [0, 0]);
  }
});

test('the memory of a payload is freed when its receiver is done with it, if it was joined for it alone', () => {
  const payload = new PayloadFrame('circuit', 1, 0, new Uint8Array(30_000).fill(7));
  const bytes = concatBytes([encodePayloadHead(payload, 1), payload.data]);
  const received = (isSpent: boolean, cuts: readonly number[]): number => {
    const decoder = new FrameDecoder({ maxHeadersBytes: 1_000, maxBodyBytes: 100_000 });
    let data: Uint8Array | undefined;
    const onData = (frame: DataFrame | undefined): void => {
      if (!(frame instanceof PayloadFrame)) return;
      data = frame.data;
      frame.isSpent = isSpent;
    };
    const ends = [...cuts, bytes.length];
    let at = 0;
    for (const end of ends) {
      decoder.push(bytes.subarray(at, end), () => {}, onData);
      at = end;
    }
    return data!.length;
  };
  for (const cuts of [[10], [16_384], [8_000, 16_000, 24_000]]) {
    assert.equal(received(true, cuts), 0);
    assert.equal(received(false, cuts), 30_000);
  }
  assert.equal(received(true, []), 30_000);
  assert.equal(bytes.length > 30_000, true);
});

test('the bounds of a hello are those of OpenZiti', () => {
  assert.deepEqual(HELLO_LIMITS, { maxHeadersBytes: 16_384, maxBodyBytes: 4_192 });
});

test('a wrong magic is a fault at its fourth byte, in one piece or four', () => {
  assert.equal(faultOf(Uint8Array.of(3, 6, 9, 0x0d)), 'bad-magic');
  const decoder = new FrameDecoder(LIMITS);
  for (const byte of [0x47, 0x45, 0x54])
    assert.equal(
      decoder.push(Uint8Array.of(byte), () => {}),
      undefined,
    );
  assert.equal(
    decoder.push(Uint8Array.of(0x20), () => {}),
    'bad-magic',
  );
});

test('header bytes that are no entries are a fault: a stump, or an entry that overruns', () => {
  for (const raw of [
    [1],
    [1, 0, 0, 0, 0, 0, 0],
    [1, 0, 0, 0, 1, 0, 0, 0],
    [1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0],
  ]) {
    const bytes = encodeFrame(makeFrame(5, { body: Uint8Array.from(raw) }));
    const view = new DataView(bytes.buffer);
    view.setUint32(12, raw.length, true);
    view.setUint32(16, 0, true);
    assert.equal(faultOf(bytes), 'bad-headers', raw.join(' '));
  }
});

test('after a fault nothing more is decoded', () => {
  const decoder = new FrameDecoder(LIMITS);
  decoder.push(withLength(16, 0xffff_ffff), () => {});
  assert.equal(
    decoder.push(encodeFrame(makeFrame(5)), () => assert.fail('decoded after a fault')),
    'body-too-long',
  );
  assert.equal(decoder.bufferedBytes, 0);
});

test('a handler that refuses more frames gets the rest later, under the limits of that time', () => {
  const decoder = new FrameDecoder(LIMITS);
  const frames = ['hello', 'second', 'x'.repeat(2_500)].map((body) => encodeFrame(makeFrame(0, { body })));
  const found: string[] = [];
  const take = (frame: Frame): boolean => found.push(textOfBody(frame)) !== 1;
  assert.equal(decoder.push(concatBytes(frames), take), undefined);
  assert.deepEqual(found, ['hello']);
  decoder.limits = { maxHeadersBytes: 1_000, maxBodyBytes: 2_500 };
  assert.equal(decoder.push(new Uint8Array(0), take), undefined);
  assert.deepEqual(
    found.map((text) => text.length),
    [5, 6, 2_500],
  );
});

test('data frames go to their own handler where there is one, in any cuts; a malformed one is reported as such', () => {
  const payload = new PayloadFrame('c1', 7, 2, Uint8Array.of(1, 2, 3));
  payload.connId = 9;
  const headless = makeFrame(1100, { body: 'no circuit' });
  const bytes = concatBytes([
    encodeFrame(makeFrame(5, { body: 'other' })),
    encodePayloadHead(payload, 1),
    payload.data,
    encodeFrame(headless),
    encodeAcknowledgement(new AcknowledgementFrame('c1', 2, 55, [7, 8]), 2),
  ]);
  for (const size of [bytes.length, 1, 7, 40]) {
    const decoder = new FrameDecoder(LIMITS);
    const others: string[] = [];
    const data: (DataFrame | undefined)[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      const fault = decoder.push(
        bytes.slice(at, at + size),
        (frame) => void others.push(textOfBody(frame)),
        (frame) => void data.push(frame),
      );
      assert.equal(fault, undefined);
    }
    assert.deepEqual(others, ['other']);
    const [first, second, third] = data;
    assert.ok(first instanceof PayloadFrame && second === undefined && third instanceof AcknowledgementFrame);
    assert.deepEqual(
      [first.circuitId, first.sequence, first.connId, [...first.data]],
      ['c1', 7, 9, [1, 2, 3]],
    );
    assert.deepEqual([third.circuitId, third.receiveBufferSize, third.sequences], ['c1', 55, [7, 8]]);
    assert.equal(data.length, 3);
  }
});

test('header bytes that are no entries are a fault in a data frame too', () => {
  const bytes = encodePayloadHead(new PayloadFrame('c1', 7, 0, new Uint8Array(0)), 1);
  new DataView(bytes.buffer).setUint32(24, 0xffff, true);
  assert.equal(
    new FrameDecoder(LIMITS).push(
      bytes,
      () => assert.fail('a frame'),
      () => assert.fail('data'),
    ),
    'bad-headers',
  );
});
