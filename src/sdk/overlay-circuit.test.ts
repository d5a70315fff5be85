// Which end a broken circuit is blamed on, and how circuits end.
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomFillSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { EMPTY_BYTES } from '#base';
import { CIRCUIT_ID_CHARACTERS } from '#wire/circuits';
import {
  AcknowledgementFrame,
  PAYLOAD_FLAGS,
  PAYLOAD_TYPE,
  payloadHeadBytes,
  PayloadFrame,
  type DataFrame,
} from '#wire/xgress';
import { CircuitEncryption } from './circuit-encryption.ts';
import type { CircuitError } from './circuit.ts';
import type { CircuitCarrier } from './circuit-carrier.ts';
import { brokenCircuit, OverlayCircuit } from './overlay-circuit.ts';

const CARRIER: CircuitCarrier<OverlayCircuit> = {
  isLeaving: false,
  latency: { isSilent: false },
  isReplaced: false,
  hasRoom: () => true,
  copiesData: false,
  isLossy: false,
  awaitRoom: () => {},
  sendData: () => {},
  acknowledgeLater: () => {},
  mayLinger: () => false,
  closed: () => {},
};

function breakOne(
  isTerminator: boolean,
  how: (circuit: OverlayCircuit) => void,
): CircuitError['hop'] | undefined {
  let hop: CircuitError['hop'] | undefined;
  const circuit = new OverlayCircuit('c', 1, isTerminator, CARRIER);
  circuit.onClose = (error) => (hop = error?.hop);
  circuit.resume();
  how(circuit);
  return hop;
}

test('a broken circuit names the end that broke it', () => {
  const destroy = (circuit: OverlayCircuit): void => circuit.destroy('over');
  assert.equal(breakOne(true, destroy), 'agent');
  assert.equal(breakOne(false, destroy), 'gateway');
  const sendBadChunk = (circuit: OverlayCircuit): void => {
    const sender = circuit.isTerminator ? 0 : PAYLOAD_FLAGS.originator;
    const noLength = new Uint8Array(5).fill(0xff);
    circuit.receive(new PayloadFrame('c', 0, sender | PAYLOAD_FLAGS.chunk, noLength));
  };
  assert.equal(breakOne(false, sendBadChunk), 'agent');
  assert.equal(breakOne(true, sendBadChunk), 'gateway');
});

test('a circuit remembers whether the far end had everything when it was taken away', () => {
  for (const isAcknowledged of [false, true]) {
    const sent: number[] = [];
    const sendData = (frame: DataFrame): void => {
      if (frame.contentType === PAYLOAD_TYPE) sent.push(frame.sequence);
    };
    const circuit = new OverlayCircuit('c', 1, false, { ...CARRIER, sendData });
    circuit.resume();
    circuit.start();
    circuit.write(Uint8Array.of(1));
    if (isAcknowledged) circuit.receive(new AcknowledgementFrame('c', PAYLOAD_FLAGS.originator, 0, sent));
    circuit.gone(brokenCircuit('router', 'xgress unrouted'));
    assert.equal(circuit.isDelivered, isAcknowledged);
  }
});

function endedHost(closed: (CircuitError | undefined)[], data?: Uint8Array): OverlayCircuit {
  const { circuitStart, eof } = PAYLOAD_FLAGS;
  const circuit = new OverlayCircuit('c', 1, true, CARRIER);
  circuit.onClose = (error) => closed.push(error);
  circuit.resume();
  circuit.receive(new PayloadFrame('c', 0, circuitStart | eof, new Uint8Array(0)));
  if (data !== undefined) circuit.write(data);
  circuit.end();
  return circuit;
}

test('an end whose end alone is never acknowledged closes soon, and one with data is broken later', () => {
  const closed: (CircuitError | undefined)[] = [];
  // Whole, so that sums are exact.
  const nowMs = Math.ceil(performance.now());
  const ended = endedHost(closed);
  for (const afterMs of [0, 1_900]) ended.tick(nowMs + afterMs);
  assert.deepEqual(closed, []);
  ended.tick(nowMs + 2_000);
  assert.deepEqual(closed, [undefined]);
  const broken: (CircuitError | undefined)[] = [];
  const sending = endedHost(broken, Uint8Array.of(1));
  for (const afterMs of [0, 299_000]) sending.tick(nowMs + afterMs);
  assert.equal(broken.length, 0);
  sending.tick(nowMs + 300_000);
  assert.deepEqual(
    broken.map((error) => error?.hop),
    ['gateway'],
  );
});

test('a circuit that is destroyed acknowledges first what it has received', () => {
  const events: string[] = [];
  const circuit = new OverlayCircuit('c', 1, false, {
    ...CARRIER,
    sendData: (frame) => {
      if (frame.contentType !== PAYLOAD_TYPE) events.push(`acknowledges ${frame.sequences.join()}`);
    },
    closed: () => events.push('closed'),
  });
  circuit.resume();
  const { lateAcknowledgement, originator } = PAYLOAD_FLAGS;
  for (const sequence of [0, 1])
    circuit.receive(new PayloadFrame('c', sequence, originator | lateAcknowledgement, Uint8Array.of(1)));
  assert.deepEqual(events, []);
  circuit.destroy();
  assert.deepEqual(events, ['acknowledges 0,1', 'closed']);
});

describe('a circuit that has ended cleanly at a router that may drop frames', () => {
  /** The dialer has both ends; its last acknowledgement was dropped. */
  function lingering(): {
    readonly circuit: OverlayCircuit;
    readonly events: string[];
    readonly acknowledged: number[];
  } {
    const events: string[] = [];
    const acknowledged: number[] = [];
    const circuit: OverlayCircuit = new OverlayCircuit('c', 1, false, {
      ...CARRIER,
      isLossy: true,
      mayLinger: () => true,
      acknowledgeLater: () => queueMicrotask(() => circuit.flushAcknowledgements()),
      sendData: (frame) =>
        frame.contentType === PAYLOAD_TYPE ? undefined : acknowledged.push(...frame.sequences),
      closed: (_, notifyRouter) => events.push(notifyRouter ? 'left, router notified' : 'left'),
    });
    circuit.onClose = (error) => events.push(error === undefined ? 'ended' : 'broken');
    circuit.resume();
    circuit.start();
    circuit.end();
    circuit.receive(new AcknowledgementFrame('c', PAYLOAD_FLAGS.originator, 0, [0, 1]));
    circuit.receive(lastPayload());
    return { circuit, events, acknowledged };
  }

  const lastPayload = (): PayloadFrame =>
    new PayloadFrame('c', 0, PAYLOAD_FLAGS.originator | PAYLOAD_FLAGS.eof, new Uint8Array(0));

  test('has ended for its owner, and acknowledges repetitions until none has come for two seconds', async () => {
    const { circuit, events, acknowledged } = lingering();
    const nowMs = Math.ceil(performance.now());
    assert.deepEqual([events, acknowledged], [['ended'], [0]]);
    circuit.tick(nowMs + 1_900);
    circuit.receive(lastPayload());
    await Promise.resolve();
    assert.deepEqual([events, acknowledged], [['ended'], [0, 0]]);
    circuit.tick(nowMs + 2_100);
    assert.deepEqual(events, ['ended', 'left, router notified']);
    circuit.tick(nowMs + 9_000);
    assert.equal(events.length, 2);
  });

  test('leaves at once when the far end closes, and that is no break', () => {
    const { circuit, events } = lingering();
    circuit.gone(brokenCircuit('router', 'xgress unrouted'));
    circuit.tick(performance.now() + 9_000);
    assert.deepEqual(events, ['ended', 'left']);
  });
});

describe('whole payloads of data', () => {
  const framesOf = (
    bytesOf: (circuit: OverlayCircuit) => number,
    encryption?: CircuitEncryption,
  ): number[] => {
    const frames: PayloadFrame[] = [];
    const carrier: CircuitCarrier<OverlayCircuit> = {
      ...CARRIER,
      sendData: (frame) => {
        if (frame.contentType === PAYLOAD_TYPE) frames.push(frame);
      },
    };
    const circuit = new OverlayCircuit('c'.repeat(CIRCUIT_ID_CHARACTERS), 1, true, carrier, encryption);
    circuit.resume();
    circuit.start();
    circuit.receive(new PayloadFrame(circuit.id, 0, PAYLOAD_FLAGS.circuitStart, new Uint8Array(24)));
    const before = frames.length;
    circuit.writeLent(new Uint8Array(bytesOf(circuit)));
    return frames.slice(before).map((frame) => payloadHeadBytes(frame) + frame.data.length);
  };
  const keys = { sends: new Uint8Array(32).fill(1), receives: new Uint8Array(32).fill(2) };

  test('fit into one TLS record each in clear', () => {
    assert.deepEqual(
      framesOf(({ payloadBytes }) => 3 * payloadBytes),
      [16_384, 16_384, 16_384],
    );
  });

  test('fit into four TLS records each if the circuit is encrypted', () => {
    assert.deepEqual(
      framesOf(({ payloadBytes }) => 2 * payloadBytes, new CircuitEncryption(keys)),
      [65_536, 65_536],
    );
  });

  test('fit into one TLS record each if there is little data for an encrypted circuit', () => {
    const lengths = framesOf(() => 48_000, new CircuitEncryption(keys));
    assert.deepEqual(lengths.slice(0, 2), [16_384, 16_384]);
    assert.ok(lengths.every((length) => length <= 16_384));
  });
});

const copyOf = (frame: DataFrame): DataFrame =>
  Object.assign(Object.create(Object.getPrototypeOf(frame) as object), frame) as DataFrame;
const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

const TOTAL_BYTES = 8 * 1024 * 1024;

for (const isEncrypted of [true, false]) {
  const kind = isEncrypted ? 'an encrypted' : 'a clear';

  test(`memory of acknowledged payloads of ${kind} circuit is used again`, () => {
    const pieces = sendThrough({ isEncrypted, isLossy: false });
    assert.ok(pieces < 150, `${pieces} pieces of memory for ${TOTAL_BYTES / 16_384} payloads`);
  });

  test(`a payload of ${kind} circuit that is sent again stays as it was, although it is acknowledged before`, () => {
    sendThrough({ isEncrypted, isLossy: true });
  });
}

/** Sends lent bytes from one end to the other. Returns the number of pieces of memory that were sent. */
function sendThrough({
  isEncrypted,
  isLossy,
}: {
  readonly isEncrypted: boolean;
  readonly isLossy: boolean;
}): number {
  const [key, other] = [new Uint8Array(randomBytes(32)), new Uint8Array(randomBytes(32))];
  const queue: (readonly [to: OverlayCircuit, frame: DataFrame, wasSent: Uint8Array])[] = [];
  const late: (readonly [to: OverlayCircuit, frame: DataFrame])[] = [];
  const acknowledging = new Set<OverlayCircuit>();
  const memory = new Set<ArrayBufferLike>();
  let sent = 0;
  const carrierTo = (to: () => OverlayCircuit): CircuitCarrier<OverlayCircuit> => ({
    ...CARRIER,
    copiesData: true,
    acknowledgeLater: (circuit) => void acknowledging.add(circuit),
    // As a connection, it keeps views of what waits to be sent. The network may hold and repeat what was.
    sendData(frame) {
      const held = copyOf(frame);
      if (held.contentType === PAYLOAD_TYPE && held.data.length > 8_192) memory.add(held.data.buffer);
      sent += 1;
      const wasSent = held.contentType === PAYLOAD_TYPE ? held.data.slice() : EMPTY_BYTES;
      if (!isLossy || sent % 11 !== 0) queue.push([to(), held, wasSent]);
      if (sent % 7 === 0) late.push([to(), Object.assign(copyOf(held), { data: wasSent })]);
    },
  });
  const encryption = (sends: Uint8Array, receives: Uint8Array) =>
    isEncrypted ? new CircuitEncryption({ sends, receives }) : undefined;
  const reader: OverlayCircuit = new OverlayCircuit(
    'c',
    1,
    false,
    carrierTo(() => writer),
    encryption(other, key),
  );
  const writer: OverlayCircuit = new OverlayCircuit(
    'c',
    2,
    true,
    carrierTo(() => reader),
    encryption(key, other),
  );
  const [written, read] = [createHash('sha256'), createHash('sha256')];
  let [writtenBytes, readBytes, mayWrite] = [0, 0, true];
  reader.onData = (view) => {
    read.update(view);
    readBytes += view.length;
  };
  writer.onDrain = () => (mayWrite = true);
  for (const circuit of [reader, writer]) circuit.resume();
  for (const circuit of [reader, writer]) circuit.start();
  const deliver = ([to, frame]: readonly [OverlayCircuit, DataFrame]): void => {
    if (frame.contentType === PAYLOAD_TYPE) frame.data = frame.data.slice();
    to.receive(frame);
  };
  const lent = new Uint8Array(65_136);
  for (let round = 1; readBytes < TOTAL_BYTES && round < 20_000; round += 1) {
    while (mayWrite && writtenBytes < TOTAL_BYTES) {
      randomFillSync(lent);
      const view = lent.subarray(0, Math.min(lent.length, TOTAL_BYTES - writtenBytes));
      written.update(view);
      writtenBytes += view.length;
      mayWrite = writer.writeLent(view);
    }
    // A slow connection: what is written now may have waited while its acknowledgement came.
    for (const [to, frame, wasSent] of queue.splice(0, Math.ceil(queue.length / 2))) {
      if (frame.contentType === PAYLOAD_TYPE)
        assert.ok(isSame(frame.data, wasSent), 'another message is sent');
      deliver([to, frame]);
    }
    if (round % 5 === 0) for (const item of late.splice(0)) deliver(item);
    for (const circuit of acknowledging) circuit.flushAcknowledgements();
    acknowledging.clear();
    const nowMs = performance.now() + round * 10_000;
    if (isLossy) for (const circuit of [reader, writer]) circuit.tick(nowMs);
  }
  assert.equal(readBytes, TOTAL_BYTES);
  assert.equal(read.digest('hex'), written.digest('hex'));
  return memory.size;
}
