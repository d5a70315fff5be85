// What payloads out of order cost, whose far end leaves one out and never sends it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PayloadFrame, encodePayloadHead } from './payload-codec.ts';
import { FrameDecoder } from '../frame-decoder.ts';
import { XgressCounters } from './xgress-counters.ts';
import { Xgress } from './xgress-machine.ts';
import { XGRESS_DEFAULTS } from './xgress-options.ts';
import { CircuitBudget } from './xgress-budget.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const READ_BYTES = KIB;

class Receiver {
  readonly counters = new XgressCounters();
  readonly acknowledged = new Set<number>();
  readBytes = 0;
  readonly xgress: Xgress;

  constructor(budget = new CircuitBudget(256 * MIB)) {
    const port = {
      canSend: () => true,
      sendPayload: () => {},
      sendAcknowledgement: ({ sequences }: { readonly sequences: readonly number[] }) =>
        sequences.forEach((sequence) => this.acknowledged.add(sequence)),
      acknowledgementDue: () => {},
      deliver: (data: Uint8Array) => void (this.readBytes += data.length),
      deliverEnd: () => {},
      drained: () => {},
    };
    this.xgress = new Xgress('c', true, XGRESS_DEFAULTS, port, this.counters, budget);
    this.xgress.resume();
  }

  /** One byte that came in a longer read. */
  receive(sequence: number): void {
    this.xgress.onPayload(
      new PayloadFrame('c', sequence, 0, new Uint8Array(READ_BYTES).subarray(100, 101)),
      0,
    );
  }
}

function buffersOf(act: () => void): number {
  const before = process.memoryUsage();
  act();
  const after = process.memoryUsage();
  return after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed;
}

test('a payload that waits does not keep the read that brought it: one byte of it is copied', () => {
  const kept: PayloadFrame[] = [];
  const receiver = new Receiver();
  for (let sequence = 1; sequence <= 100; sequence += 1) {
    const read = new Uint8Array(READ_BYTES);
    const payload = new PayloadFrame('c', sequence, 0, read.subarray(7, 8));
    payload.headers = new Map([[16, read.subarray(8, 12)]]);
    payload.heartbeat = read.subarray(12, 20);
    kept.push(payload);
    receiver.xgress.onPayload(payload, 0);
  }
  for (const { data, headers, heartbeat } of kept) {
    assert.ok(data.buffer.byteLength < 64, `${data.buffer.byteLength} bytes for one`);
    assert.ok(headers!.get(16)!.buffer.byteLength < 64);
    assert.equal(heartbeat, undefined);
  }
});

test('a payload that fills most of its read is kept as it is, without a copy', () => {
  const receiver = new Receiver();
  const read = new Uint8Array(READ_BYTES);
  const payload = new PayloadFrame('c', 1, 0, read.subarray(100));
  receiver.xgress.onPayload(payload, 0);
  assert.equal(payload.data.buffer, read.buffer);
});

test('200,000 payloads of one byte out of order, on four circuits, cost less than 24 MiB', () => {
  const receivers = Array.from({ length: 4 }, () => new Receiver());
  const grown = buffersOf(() => {
    for (let sequence = 1; sequence <= 50_000; sequence += 1) {
      for (const receiver of receivers) receiver.receive(sequence);
    }
    // As the collector would, at a time of its own.
    globalThis.gc?.();
  });
  for (const { xgress, counters, acknowledged } of receivers) {
    xgress.flushAcknowledgements();
    assert.equal(acknowledged.size, 8_192);
    assert.equal(counters.droppedPayloads, 50_000 - 8_192, 'what is dropped was not acknowledged');
  }
  if (globalThis.gc !== undefined) assert.ok(grown < 24 * MIB, `${grown / MIB} MiB`);
});

test('a payload that was dropped because of its number arrives when it is sent again, and nothing is lost', () => {
  const receiver = new Receiver();
  const last = 10_000;
  for (let sequence = 1; sequence <= last; sequence += 1) receiver.receive(sequence);
  receiver.receive(0);
  for (let sequence = 1; sequence <= last; sequence += 1) receiver.receive(sequence);
  assert.equal(receiver.readBytes, last + 1);
});

test('the budget counts what is held: the bytes, what each payload costs, and its headers', () => {
  const budget = new CircuitBudget(256 * MIB);
  const receiver = new Receiver(budget);
  for (let sequence = 1; sequence <= 1_000; sequence += 1) receiver.receive(sequence);
  assert.ok(budget.heldBytes >= 1_000 * 400, `${budget.heldBytes} for 1,000 payloads`);
  assert.equal(budget.gaps.heldBytes, budget.heldBytes);
  receiver.xgress.pause();
  assert.equal(budget.gaps.heldBytes, 0, 'a reader that waits has no gap');
  receiver.receive(0);
  receiver.xgress.resume();
  assert.deepEqual([budget.heldBytes, budget.holders, budget.gaps.heldBytes], [0, 0, 0]);
});

test('circuits that leave a payload out hold a fifth of the budget together, and cost others nothing', () => {
  const budget = new CircuitBudget(20 * MIB);
  const hostile = Array.from({ length: 100 }, () => new Receiver(budget));
  for (let sequence = 1; sequence <= 2_000; sequence += 1) {
    for (const receiver of hostile) receiver.receive(sequence);
  }
  assert.ok(budget.gaps.heldBytes <= 4.1 * MIB, `${budget.gaps.heldBytes / MIB} MiB`);
  const other = new Receiver(budget);
  for (let sequence = 0; sequence < 5_000; sequence += 1) other.receive(sequence);
  assert.equal(other.readBytes, 5_000);
  for (const { xgress } of hostile) xgress.release();
  assert.deepEqual([budget.heldBytes, budget.holders, budget.gaps.heldBytes], [0, 0, 0]);
});

test('a decoder’s payloads are kept the same way', () => {
  const decoder = new FrameDecoder({ maxHeadersBytes: 65_536, maxBodyBytes: MIB });
  const receiver = new Receiver();
  const read = new Uint8Array(READ_BYTES);
  let at = 0;
  for (let sequence = 1; sequence <= 10; sequence += 1) {
    const payload = new PayloadFrame('c', sequence, 0, Uint8Array.of(sequence));
    const head = encodePayloadHead(payload, sequence);
    read.set(head, at);
    read.set(payload.data, at + head.length);
    at += head.length + 1;
  }
  const kept: PayloadFrame[] = [];
  const data = (frame: unknown): void => {
    const payload = frame as PayloadFrame;
    kept.push(payload);
    receiver.xgress.onPayload(payload, 0);
  };
  decoder.push(read.subarray(0, at), () => {}, data);
  assert.equal(kept.length, 10);
  assert.ok(kept.every((payload) => payload.data.buffer !== read.buffer));
});
