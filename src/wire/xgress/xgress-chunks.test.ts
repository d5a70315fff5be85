import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { fc } from '../../../test/support/fast-check.ts';
import { PAYLOAD_FLAGS, PayloadFrame } from './payload-codec.ts';
import { Xgress, type XgressPort } from './xgress-machine.ts';
import { XGRESS_DEFAULTS } from './xgress-options.ts';

interface Receiver {
  readonly xgress: Xgress;
  readonly messages: [data: Uint8Array, headers: Map<number, Uint8Array> | undefined][];
  readonly broken: string[];
}

function makeReceiver(): Receiver {
  const messages: Receiver['messages'] = [];
  const broken: string[] = [];
  const xgress = new Xgress('c', true, XGRESS_DEFAULTS, {
    ...QUIET,
    deliver: (data, headers) => void messages.push([data, headers]),
    broken: (reason) => void broken.push(reason),
  });
  xgress.resume();
  return { xgress, messages, broken };
}

const QUIET: XgressPort = {
  canSend: () => true,
  sendPayload: () => {},
  sendAcknowledgement: () => {},
  acknowledgementDue: () => {},
  deliver: () => {},
  deliverEnd: () => {},
  drained: () => {},
};

function send(message: Uint8Array, maxBytes: number, headers?: Map<number, Uint8Array>): PayloadFrame[] {
  const frames: PayloadFrame[] = [];
  const sender = new Xgress('c', false, XGRESS_DEFAULTS, {
    ...QUIET,
    sendPayload: (frame) => void frames.push(frame),
  });
  sender.start(1);
  sender.writeMessage(message, 1, headers, maxBytes);
  return frames;
}

test('a message in chunks arrives as one, with the headers of its first, whatever its length and theirs', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 40_000 }),
      fc.integer({ min: 8, max: 9_000 }),
      (bytes, maxBytes) => {
        const message = randomBytes(bytes);
        const headers = new Map([[0x10, Uint8Array.of(2, 0, 0, 0)]]);
        const { xgress, messages, broken } = makeReceiver();
        const frames = send(message, maxBytes, headers);
        for (const frame of frames.toReversed()) xgress.onPayload(frame, 1);
        assert.ok(frames.every(({ data }) => data.length <= maxBytes));
        assert.deepEqual(broken, []);
        assert.equal(messages.length, bytes === 0 ? 0 : 1);
        if (bytes === 0) return;
        assert.ok(message.equals(messages[0]![0]));
        assert.deepEqual(messages[0]![1], headers);
      },
    ),
    { numRuns: 200 },
  );
});

test('a message that fits is sent as it is, and messages follow one another', () => {
  const { xgress, messages } = makeReceiver();
  const frames = [
    ...send(Buffer.from('small'), 100),
    ...send(randomBytes(500), 100),
    ...send(Buffer.from('x'), 0),
  ];
  assert.equal(frames.filter(({ flags }) => (flags & PAYLOAD_FLAGS.chunk) !== 0).length, 6);
  let sequence = -1;
  for (const frame of frames) {
    frame.sequence = sequence += 1;
    xgress.onPayload(frame, 1);
  }
  assert.deepEqual(
    messages.map(([{ length }]) => length),
    [5, 500, 1],
  );
});

test('chunks without a length, too long, or longer than stated break the circuit instead of passing as data', () => {
  const bad = [
    [Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x80, 0x80)],
    [Uint8Array.of(0xff, 0xff, 0xff, 0x7f, 1)],
    [Uint8Array.of(4, 1, 2), Uint8Array.of(3, 4, 5)],
  ];
  for (const chunks of bad) {
    const { xgress, messages, broken } = makeReceiver();
    for (const [sequence, data] of chunks.entries())
      xgress.onPayload(new PayloadFrame('c', sequence, PAYLOAD_FLAGS.chunk, data), 1);
    assert.equal(broken.length, 1);
    xgress.onPayload(new PayloadFrame('c', chunks.length, 0, Buffer.from('more')), 1);
    assert.deepEqual(messages, []);
  }
});
