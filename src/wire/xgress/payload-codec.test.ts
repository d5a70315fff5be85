import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesOfHex, concatBytes, hexOf, textOf } from '#base';
import { frameOfHex, loadRecordedFrames, loadWireVectors } from '../../../test/support/recorded-frames.ts';
import { makeFrame, type Frame } from '../frame-codec.ts';
import { HeaderWriter } from '../frame-headers.ts';
import {
  ACKNOWLEDGEMENT_TYPE,
  type AcknowledgementFrame,
  decodeAcknowledgement,
  decodePayload,
  encodeAcknowledgement,
  encodePayloadHead,
  PAYLOAD_FLAGS,
  PAYLOAD_HEADERS,
  PAYLOAD_TYPE,
  PayloadFrame,
} from './payload-codec.ts';

const CIRCUIT = '5S1RDM7qE2yQXkmGtQkZ8a';

function vectorHex(name: string): string {
  return loadWireVectors().find((each) => each.name === name)!.hex;
}

function payloadVector(name: string): PayloadFrame {
  const payload = decodePayload(frameOfHex(vectorHex(name)));
  assert.ok(payload, name);
  return payload;
}

function encodePayload(payload: PayloadFrame, channelSequence: number): string {
  return hexOf(concatBytes([encodePayloadHead(payload, channelSequence), payload.data]));
}

test('the payload vectors decode to their notes and encode back to the same bytes', () => {
  const names = [
    'xg_circuit_start',
    'xg_payload',
    'xg_payload_terminator',
    'xg_fin',
    'xg_eof',
    'xg_circuit_end',
  ];
  const expected = [
    [0, PAYLOAD_FLAGS.circuitStart, 0x1234, ''],
    [1, 0, 0x1234, 'hello'],
    [2, PAYLOAD_FLAGS.originator, 1, 'world'],
    [3, PAYLOAD_FLAGS.originator, 1, ''],
    [4, PAYLOAD_FLAGS.originator | PAYLOAD_FLAGS.eof, 1, ''],
    [5, PAYLOAD_FLAGS.circuitEnd, 1, ''],
  ];
  names.forEach((name, i) => {
    const payload = payloadVector(name);
    const { circuitId, sequence, flags, rtt, data } = payload;
    assert.deepEqual([sequence, flags, rtt, textOf(data)], expected[i], name);
    assert.equal(circuitId, CIRCUIT);
    assert.equal(encodePayload(payload, frameOfHex(vectorHex(name)).sequence), vectorHex(name), name);
  });
  const start = payloadVector('xg_circuit_start').headers!;
  assert.equal(hexOf(start.get(PAYLOAD_HEADERS.capabilities)!), '00000100');
  assert.equal(hexOf(payloadVector('xg_fin').headers!.get(PAYLOAD_HEADERS.edgeFlags)!), '01000000');
  assert.equal(payloadVector('xg_payload').isFromTerminator, false);
  assert.equal(payloadVector('xg_payload_terminator').isFromTerminator, true);
});

test('the acknowledgement vectors decode to their notes and encode back to the same bytes', () => {
  for (const [name, sequences, receiveBufferSize, rtt, isFromTerminator] of [
    ['xg_ack', [1, 2], 5, 0x1234, true],
    ['xg_ack_empty', [], 0, 0, false],
  ] as const) {
    const frame = frameOfHex(vectorHex(name));
    const ack = decodeAcknowledgement(frame)!;
    assert.deepEqual(
      [ack.circuitId, ack.sequences, ack.receiveBufferSize, ack.rtt, ack.isFromTerminator],
      [CIRCUIT, sequences, receiveBufferSize, rtt, isFromTerminator],
    );
    assert.equal(hexOf(encodeAcknowledgement(ack, frame.sequence)), vectorHex(name));
  }
});

test('every recorded payload and acknowledgement keeps all of its values both ways', () => {
  let payloads = 0;
  let acknowledgements = 0;
  for (const record of loadRecordedFrames()) {
    const headers = new Map(record.headers);
    const number = (id: number): number | undefined => {
      const hex = headers.get(id);
      if (hex === undefined) return undefined;
      return Number(bytesOfHex(hex).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n));
    };
    const writer = new HeaderWriter();
    for (const [id, value] of record.headers) writer.bytes(id, bytesOfHex(value));
    const kept = record.frame === undefined ? undefined : frameOfHex(record.frame);
    const frame: Frame =
      kept ?? makeFrame(record.type, { headers: writer, body: new Uint8Array(record.bodyBytes) });
    const circuitId = (): string => textOf(bytesOfHex(headers.get(2256)!));
    if (record.type === PAYLOAD_TYPE) {
      const payload = decodePayload(frame)!;
      assert.deepEqual(
        [
          payload.circuitId,
          payload.sequence,
          payload.flags,
          payload.rtt,
          payload.connId,
          payload.data.length,
        ],
        [circuitId(), number(2257), number(2258) ?? 0, number(2260), number(1000), record.bodyBytes],
      );
      assert.deepEqual(decodePayload(frameOfHex(encodePayload(payload, 9))), payload);
      payloads += 1;
    } else if (record.type === ACKNOWLEDGEMENT_TYPE) {
      const ack = decodeAcknowledgement(frame)!;
      assert.deepEqual(
        [ack.circuitId, ack.flags, ack.receiveBufferSize, ack.rtt, ack.connId, ack.sequences.length],
        [circuitId(), number(2258) ?? 0, number(2259), number(2260), number(1000), record.bodyBytes / 4],
      );
      assert.deepEqual(decodeAcknowledgement(frameOfHex(hexOf(encodeAcknowledgement(ack, 9)))), ack);
      acknowledgements += 1;
    }
  }
  assert.deepEqual([payloads, acknowledgements], [147, 153]);
});

test('the order of headers makes no difference to a payload', () => {
  const frame = frameOfHex(vectorHex('xg_payload'));
  const turned = new HeaderWriter();
  for (const [id, value] of [...frame.headers.entries()].toReversed()) turned.bytes(id, value);
  const again = decodePayload(makeFrame(PAYLOAD_TYPE, { headers: turned, body: frame.body }));
  assert.deepEqual(again, decodePayload(frame));
});

test('a payload without a circuit or with a sequence that cannot be acknowledged is dropped', () => {
  const payloadOf = (headers: HeaderWriter): PayloadFrame | undefined =>
    decodePayload(makeFrame(PAYLOAD_TYPE, { headers }));
  const circuit = (): HeaderWriter => new HeaderWriter().text(2256, CIRCUIT);
  assert.equal(payloadOf(new HeaderWriter().u64(2257, 1n)), undefined);
  assert.equal(payloadOf(circuit()), undefined);
  assert.equal(payloadOf(circuit().u32(2257, 1)), undefined, 'four bytes instead of eight');
  assert.equal(payloadOf(circuit().u64(2257, 0x8000_0000n)), undefined);
  assert.equal(payloadOf(circuit().u64(2257, 0x1_0000_0000n)), undefined);
  assert.equal(payloadOf(new HeaderWriter().text(2256, 'x'.repeat(65)).u64(2257, 1n)), undefined);
  assert.equal(payloadOf(circuit().u64(2257, 0x7fff_ffffn))?.sequence, 0x7fff_ffff);
});

test('an acknowledgement of broken length or without a circuit is dropped; one without a window is a full one', () => {
  const headers = new HeaderWriter().text(2256, CIRCUIT).build();
  const ackOf = (body: Uint8Array): AcknowledgementFrame | undefined =>
    decodeAcknowledgement(makeFrame(ACKNOWLEDGEMENT_TYPE, { headers, body }));
  assert.equal(ackOf(new Uint8Array(3)), undefined);
  assert.equal(ackOf(new Uint8Array(4))?.receiveBufferSize, 0xffff_ffff);
  assert.equal(decodeAcknowledgement(makeFrame(ACKNOWLEDGEMENT_TYPE)), undefined);
});

test('connection id, headers and flags travel with a payload of an edge channel', () => {
  const payload = new PayloadFrame(
    CIRCUIT,
    7,
    PAYLOAD_FLAGS.originator | PAYLOAD_FLAGS.retransmit,
    Buffer.from('x'),
  );
  payload.connId = 0xffff_fffe;
  payload.rtt = 0xffff;
  payload.headers = new Map([[255, Uint8Array.of(1, 2)]]);
  const again = decodePayload(frameOfHex(encodePayload(payload, 1)))!;
  assert.deepEqual(
    [again.connId, again.rtt, again.sequence, again.flags, hexOf(again.headers!.get(255)!)],
    [0xffff_fffe, 0xffff, 7, 18, '0102'],
  );
});
