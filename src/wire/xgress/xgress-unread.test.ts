// What an end does with a far end whose reader takes nothing, and what many such readers may cost together.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AcknowledgementFrame, PAYLOAD_TYPE, PayloadFrame, type DataFrame } from './payload-codec.ts';
import { XgressCounters } from './xgress-counters.ts';
import { Xgress, XGRESS_TICK_MS } from './xgress-machine.ts';
import { XGRESS_DEFAULTS, type XgressOptions } from './xgress-options.ts';
import { CircuitBudget } from './xgress-budget.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const PAYLOAD_BYTES = 16 * KIB;
const OPTIONS: XgressOptions = { ...XGRESS_DEFAULTS, txPortalStartSize: MIB, txPortalMaxSize: MIB };

/** A sender and a receiver whose reader is paused at first. Frames pass at `pass`, one way and then the other. */
class Pair {
  readonly sender: Xgress;
  readonly receiver: Xgress;
  readonly toReceiver: DataFrame[] = [];
  readonly toSender: DataFrame[] = [];
  readBytes = 0;
  writtenBytes = 0;
  /** Reads so much, then pauses again. */
  appetite = Infinity;

  constructor(budget?: CircuitBudget, options = OPTIONS, roundTripMs = 0) {
    const port = (out: DataFrame[]) => ({
      canSend: () => true,
      sendPayload: (frame: PayloadFrame) => {
        const copy = new PayloadFrame(frame.circuitId, frame.sequence, frame.flags, frame.data);
        out.push(copy);
      },
      sendAcknowledgement: (frame: DataFrame) => void out.push(frame),
      acknowledgementDue: () => {},
      deliver: (data: Uint8Array) => {
        this.readBytes += data.length;
        this.appetite -= data.length;
        if (this.appetite <= 0) this.receiver.pause();
      },
      deliverEnd: () => {},
      drained: () => {},
    });
    this.sender = new Xgress('c', false, options, port(this.toReceiver));
    this.receiver = new Xgress('c', true, options, port(this.toSender), new XgressCounters(), budget);
    this.sender.start(0);
    this.settle(roundTripMs);
  }

  /** Writes as long as the sender takes it. */
  fill(nowMs: number, most = Infinity): void {
    let mayGoOn = this.sender.isEverythingSent;
    for (let bytes = 0; mayGoOn && bytes < most; bytes += PAYLOAD_BYTES) {
      mayGoOn = this.sender.write(new Uint8Array(PAYLOAD_BYTES), nowMs);
      this.writtenBytes += PAYLOAD_BYTES;
    }
  }

  pass(nowMs: number): void {
    for (const frame of this.toReceiver.splice(0)) {
      if (frame.contentType === PAYLOAD_TYPE) this.receiver.onPayload(frame, nowMs);
    }
    this.receiver.flushAcknowledgements();
    for (const frame of this.toSender.splice(0)) {
      if (frame.contentType !== PAYLOAD_TYPE) this.sender.onAcknowledgement(frame, nowMs);
    }
  }

  /** Until nothing more leaves. */
  settle(nowMs: number): void {
    do this.pass(nowMs);
    while (this.toReceiver.length > 0);
  }

  read(bytes: number): void {
    this.appetite = bytes;
    this.receiver.resume();
  }
}

test('a far end whose reader stands still is asked ever more seldom whether it has room, and holds no byte more for it', () => {
  const pair = new Pair();
  pair.fill(0);
  pair.settle(0);
  pair.fill(1);
  pair.settle(1);
  const held = pair.receiver.bufferedBytes;
  assert.ok(held >= MIB - PAYLOAD_BYTES && held <= MIB + PAYLOAD_BYTES, `${held} bytes`);
  const askedAtMs: number[] = [];
  for (let nowMs = XGRESS_TICK_MS; nowMs <= 60_000; nowMs += XGRESS_TICK_MS) {
    pair.sender.tick(nowMs);
    if (pair.toReceiver.length > 0) askedAtMs.push(nowMs);
    assert.ok(
      pair.toReceiver.every((frame) => frame.contentType === PAYLOAD_TYPE && frame.data.length === 0),
    );
    pair.settle(nowMs);
  }
  assert.equal(pair.receiver.bufferedBytes, held);
  const pausesMs = askedAtMs.map((atMs, index) => atMs - (askedAtMs[index - 1] ?? 0));
  assert.deepEqual(
    pausesMs.map((ms) => Math.round(ms / 1_000)),
    [1, 2, 4, 8, 16, 16],
  );
});

const WINDOWS: readonly (readonly [roundTripMs: number, mebibytes: number])[] = [
  [5, 1],
  [40, 2.5],
  [300, 4],
];

for (const [roundTripMs, mebibytes] of WINDOWS)
  test(`a path of ${roundTripMs} ms carries ${mebibytes} MiB at once, which is also the most that a far end holds once it stands still`, () => {
    const pair = new Pair(undefined, OPTIONS, roundTripMs);
    pair.read(Infinity);
    let nowMs = roundTripMs;
    const onTheWay = (): number =>
      pair.toReceiver.reduce(
        (sum, frame) => sum + (frame.contentType === PAYLOAD_TYPE ? frame.data.length : 0),
        0,
      );
    let most = 0;
    for (let round = 0; round < 20; round += 1) {
      pair.fill(nowMs);
      most = Math.max(most, onTheWay());
      nowMs += roundTripMs;
      pair.pass(nowMs);
    }
    assert.ok(Math.abs(most - mebibytes * MIB) <= 2 * PAYLOAD_BYTES, `${most} bytes`);
    pair.receiver.pause();
    for (let round = 0; round < 20; round += 1) {
      pair.fill(nowMs);
      nowMs += roundTripMs;
      pair.pass(nowMs);
    }
    assert.ok(pair.receiver.bufferedBytes <= mebibytes * MIB + 2 * PAYLOAD_BYTES);
    pair.read(Infinity);
    for (let round = 0; round < 20; round += 1) pair.settle((nowMs += roundTripMs));
    assert.equal(pair.readBytes, pair.writtenBytes);
  });

test('a sender that missed the report of room at the far end gets it by asking', () => {
  const pair = new Pair();
  for (let nowMs = 0; nowMs < 3; nowMs += 1) {
    pair.fill(nowMs);
    pair.settle(nowMs);
  }
  assert.equal(pair.sender.isEverythingSent, false);
  pair.read(Infinity);
  pair.toSender.length = 0;
  for (let nowMs = 0; nowMs <= 1_200; nowMs += XGRESS_TICK_MS) {
    pair.sender.tick(nowMs);
    pair.settle(nowMs);
  }
  assert.equal(pair.sender.isEverythingSent, true);
  assert.equal(pair.readBytes, pair.writtenBytes);
});

test('a far end that reports no room before anything was sent still gets the first payload, after a second', () => {
  const pair = new Pair();
  const host = pair.receiver;
  host.onAcknowledgement(new AcknowledgementFrame('c', 0, 0xffff_ffff, []), 0);
  host.write(Buffer.from('first'), 0);
  assert.equal(pair.toSender.length, 0);
  for (let nowMs = 0; nowMs < 20_000; nowMs += XGRESS_TICK_MS) {
    host.tick(nowMs);
    if (nowMs < 1_000) assert.equal(pair.toSender.length, 0);
  }
  const texts = pair.toSender.map((frame) => (frame.contentType === PAYLOAD_TYPE ? String(frame.data) : ''));
  assert.equal(texts[0], 'first');
  assert.ok(
    texts.every((text) => text === 'first'),
    texts.join(),
  );
});

test('readers that stand still hold at most the budget together', () => {
  const budget = new CircuitBudget(16 * MIB);
  const pairs = Array.from({ length: 200 }, () => new Pair(budget));
  for (let nowMs = 0; nowMs < 60; nowMs += 1) {
    for (const pair of pairs) {
      // Data on its way when its sender is asked to wait: a few payloads, as channels take turns.
      pair.fill(nowMs, 2 * PAYLOAD_BYTES);
      pair.pass(nowMs);
    }
  }
  const held = pairs.map((pair) => pair.receiver.bufferedBytes);
  const sum = held.reduce((total, bytes) => total + bytes, 0);
  // Each payload costs more than its bytes.
  assert.ok(budget.heldBytes > sum && budget.heldBytes < 1.1 * sum, `${budget.heldBytes} for ${sum} bytes`);
  assert.equal(budget.holders, 200);
  assert.ok(budget.heldBytes <= 16 * MIB, `${budget.heldBytes} bytes held`);
  assert.ok(Math.min(...held) >= PAYLOAD_BYTES, `${Math.min(...held)} bytes`);
});

test('one slow reader alone has its whole window, whatever the budget', () => {
  const pair = new Pair(new CircuitBudget(4 * MIB));
  for (let nowMs = 0; nowMs < 10; nowMs += 1) {
    pair.fill(nowMs);
    pair.settle(nowMs);
  }
  assert.ok(pair.receiver.bufferedBytes >= MIB - PAYLOAD_BYTES, `${pair.receiver.bufferedBytes} bytes`);
});

test('a reader whose circuit was paused gets every byte once it reads, at any pace', () => {
  // Together not more than the budget: nothing is dropped, so that nothing has to be sent again.
  const options = { ...OPTIONS, txPortalStartSize: 80 * KIB, txPortalMaxSize: 80 * KIB };
  for (const bite of [1, 3 * PAYLOAD_BYTES, Infinity]) {
    const budget = new CircuitBudget(MIB);
    const others = Array.from({ length: 8 }, () => new Pair(budget, options));
    const pair = new Pair(budget, options);
    for (let nowMs = 0; nowMs < 50; nowMs += 1) {
      for (const each of [...others, pair]) {
        each.fill(nowMs);
        each.settle(nowMs);
      }
    }
    assert.equal(pair.sender.isEverythingSent, false, 'it waits');
    for (let round = 0; pair.readBytes < 4 * MIB; round += 1) {
      assert.ok(round < 1_000, `${pair.readBytes} of ${pair.writtenBytes} bytes read, ${bite} at a time`);
      // No tick: nobody has to ask, the far end says by itself that it continues.
      pair.fill(50);
      pair.read(bite);
      pair.settle(50);
    }
  }
});

test('the bytes that an end held are returned to the budget when it is closed', () => {
  const budget = new CircuitBudget(16 * MIB);
  const pair = new Pair(budget);
  pair.fill(0);
  pair.settle(0);
  assert.ok(budget.heldBytes > 0);
  pair.receiver.release();
  assert.deepEqual([budget.heldBytes, budget.holders], [0, 0]);
});

test('senders that do not wait are held to the budget, and one whose reader reads gets every byte all the same', () => {
  const budget = new CircuitBudget(MIB);
  const greedy = Array.from({ length: 64 }, () => new Pair(budget));
  for (const { receiver } of greedy) {
    for (let sequence = 1; sequence < 64; sequence += 1)
      receiver.onPayload(new PayloadFrame('c', sequence, 0, new Uint8Array(PAYLOAD_BYTES)), 0);
  }
  assert.ok(budget.heldBytes <= MIB + 2 * PAYLOAD_BYTES, `${budget.heldBytes} bytes held`);
  const pair = new Pair(budget);
  pair.read(Infinity);
  pair.fill(0);
  pair.settle(0);
  assert.equal(pair.readBytes, pair.writtenBytes);
});
