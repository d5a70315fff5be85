// An end at a router that drops payloads while its queue is full, as OpenZiti's do: what it repeats, and how much it sends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AcknowledgementFrame, PAYLOAD_FLAGS, type PayloadFrame } from './payload-codec.ts';
import { XgressCounters } from './xgress-counters.ts';
import { Xgress } from './xgress-machine.ts';
import { XGRESS_DEFAULTS } from './xgress-options.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const PAYLOAD_BYTES = 32 * KIB;

/** A sender, and a router that forwards what fits into its queue and drops the rest. */
class LossyPath {
  readonly counters = new XgressCounters();
  readonly xgress: Xgress;
  readonly #capacity: number;
  readonly #arrived = new Set<number>();
  #queue: PayloadFrame[] = [];
  #nowMs = 1_000;
  maySend = true;
  dropped = 0;

  constructor(capacity: number, isLossy = true) {
    this.#capacity = capacity;
    const options = { ...XGRESS_DEFAULTS, txPortalStartSize: MIB, txPortalMaxSize: MIB, isLossy };
    const port = {
      canSend: () => true,
      sendPayload: (frame: PayloadFrame) => this.#take(frame),
      sendAcknowledgement: () => {},
      acknowledgementDue: () => {},
      deliver: () => {},
      deliverEnd: () => {},
      drained: () => (this.maySend = true),
    };
    this.xgress = new Xgress('c', false, options, port, this.counters);
    this.xgress.start(this.#nowMs);
    this.roundTrip();
  }

  get arrived(): number {
    return this.#arrived.size;
  }

  write(): void {
    this.maySend = this.xgress.write(new Uint8Array(PAYLOAD_BYTES), this.#nowMs);
  }

  /** The far end acknowledges what is in the queue, in the order of the queue, after `ms`. */
  roundTrip(ms = 5): void {
    this.#nowMs += ms;
    const sequences = this.#queue.splice(0).map(({ sequence }) => sequence);
    for (const sequence of sequences) this.#arrived.add(sequence);
    if (sequences.length === 0) return;
    const ack = new AcknowledgementFrame('c', PAYLOAD_FLAGS.originator, 0, sequences);
    this.xgress.onAcknowledgement(ack, this.#nowMs);
  }

  tick(): void {
    this.xgress.tick(this.#nowMs);
  }

  /** Writes so many payloads as fast as the window permits, and returns the milliseconds until all have arrived. */
  transfer(payloads: number): number {
    const beganMs = this.#nowMs;
    let written = 0;
    for (let round = 1; this.arrived <= payloads && round < 100_000; round += 1) {
      for (; this.maySend && written < payloads; written += 1) this.write();
      this.roundTrip();
      if (round % 20 === 0) this.tick();
    }
    assert.equal(this.arrived, payloads + 1, 'all, and the payload that opens the circuit');
    return this.#nowMs - beganMs;
  }

  #take(frame: PayloadFrame): void {
    if (this.#queue.length < this.#capacity) this.#queue.push(frame);
    else this.dropped += 1;
  }
}

test('a payload is sent again as soon as three later ones are acknowledged, and not for fewer', () => {
  const path = new LossyPath(Infinity);
  const ack = (...sequences: number[]): void =>
    path.xgress.onAcknowledgement(
      new AcknowledgementFrame('c', PAYLOAD_FLAGS.originator, 0, sequences),
      1_010,
    );
  for (let count = 0; count < 6; count += 1) path.write();
  ack(2, 3);
  assert.equal(path.counters.retransmissions, 0);
  ack(4);
  assert.equal(path.counters.retransmissions, 1);
  ack(5, 6);
  assert.equal(path.counters.retransmissions, 1, 'the repeated one is a later transmission now');
});

test('a queue of eight at the router: all arrives, few are dropped, and the queue is kept busy', () => {
  const path = new LossyPath(8);
  const tookMs = path.transfer(3_000);
  // Eight of 3,000 payloads per round trip of 5 ms: 1,875 ms at best.
  assert.ok(tookMs < 3_750, `${tookMs} ms`);
  assert.ok(path.dropped < 300, `${path.dropped} dropped`);
});

test('without drops the window is that of a path without this option', () => {
  const [lossy, plain] = [new LossyPath(Infinity), new LossyPath(Infinity, false)];
  assert.equal(lossy.transfer(1_000), plain.transfer(1_000));
  assert.equal(lossy.counters.retransmissions, 0);
});
