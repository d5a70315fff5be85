// What each knob of xgress flow control changes in what an end does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ACKNOWLEDGEMENT_TYPE,
  AcknowledgementFrame,
  PAYLOAD_FLAGS,
  PayloadFrame,
  type DataFrame,
} from './payload-codec.ts';
import { XgressCounters } from './xgress-counters.ts';
import { Xgress } from './xgress-machine.ts';
import { XGRESS_DEFAULTS, type XgressOptions } from './xgress-options.ts';

const KIB = 1024;
const START_MS = 1_700_000_000_000;

class Sender {
  readonly sent: PayloadFrame[] = [];
  readonly xgress: Xgress;
  readonly counters = new XgressCounters();
  nowMs = START_MS;

  constructor(options: Partial<XgressOptions>) {
    const port = {
      canSend: () => true,
      sendPayload: (frame: PayloadFrame) => void this.sent.push(frame),
      sendAcknowledgement: () => {},
      acknowledgementDue: () => {},
      deliver: () => {},
      deliverEnd: () => {},
      drained: () => {},
    };
    this.xgress = new Xgress('c', false, { ...XGRESS_DEFAULTS, ...options }, port, this.counters);
    this.xgress.start(this.nowMs);
    this.ack([0]);
  }

  /** Payloads of so many bytes until the window is full; how many left at once. */
  fill(bytes: number): number {
    const before = this.sent.length;
    while (this.xgress.write(new Uint8Array(bytes), this.nowMs) && this.sent.length - before < 10_000);
    return this.sent.length - before;
  }

  /** `stamp` is the echo of a payload's stamp, which routers of OpenZiti replace with their own. */
  ack(sequences: readonly number[], held = 0, stamp = 0): void {
    const ack = new AcknowledgementFrame('c', PAYLOAD_FLAGS.originator, held, sequences);
    ack.rtt = stamp;
    this.xgress.onAcknowledgement(ack, this.nowMs);
  }

  /** A payload is acknowledged after this time. */
  measure(roundTripMs: number, stamp = 0): void {
    this.xgress.write(new Uint8Array(1), this.nowMs);
    this.nowMs += roundTripMs;
    this.ack([this.sent.at(-1)!.sequence], 0, stamp);
  }

  /** Everything outstanding, one acknowledgement each. */
  ackAll(): void {
    for (const { sequence } of this.sent.splice(0)) this.ack([sequence]);
  }

  /** Whether a payload is sent again when it is looked at so long after. */
  isSentAgainAfter(ms: number): boolean {
    this.sent.length = 0;
    this.xgress.write(new Uint8Array(1), this.nowMs);
    this.nowMs += ms;
    this.xgress.tick(this.nowMs);
    return this.sent.length === 2;
  }
}

/** From then on, and no sooner. */
function assertSentAgainAfter(ms: number, make: () => Sender): void {
  assert.deepEqual([make().isSentAgainAfter(ms - 1), make().isSentAgainAfter(ms)], [false, true], `${ms} ms`);
}

test('txPortalStartSize is the window at first', () => {
  for (const txPortalStartSize of [64 * KIB, 128 * KIB])
    assert.equal(new Sender({ txPortalStartSize }).fill(KIB), txPortalStartSize / KIB + 1);
});

test('after txPortalIncreaseThresh acknowledgements the window grows by txPortalIncreaseScale of the acknowledged bytes', () => {
  const grown = (txPortalIncreaseThresh: number, txPortalIncreaseScale: number): number => {
    const sender = new Sender({ txPortalStartSize: 64 * KIB, txPortalIncreaseThresh, txPortalIncreaseScale });
    sender.fill(KIB);
    sender.ackAll();
    return sender.fill(KIB) + sender.sent.length;
  };
  const never = grown(10_000, 1);
  assert.ok(grown(28, 1) > never);
  assert.ok(grown(28, 4) > grown(28, 1));
  assert.ok(grown(28, 1) > grown(28, 0.1));
});

test('txPortalMaxSize bounds the window, and what the far end may hold unread', () => {
  const sender = new Sender({
    txPortalStartSize: 64 * KIB,
    txPortalMaxSize: 80 * KIB,
    txPortalIncreaseThresh: 1,
  });
  for (let round = 0; round < 20; round += 1) {
    sender.fill(KIB);
    sender.ackAll();
  }
  assert.ok(sender.fill(KIB) <= 81);
  const held = new Sender({ txPortalMaxSize: 80 * KIB });
  held.xgress.write(new Uint8Array(KIB), held.nowMs);
  held.ack([], 80 * KIB + 1);
  assert.equal(held.fill(KIB), 0);
  assert.equal(held.counters.remoteWindowBlocks, 1);
  // Data in flight will be held there, too: here 1 KiB.
  held.ack([], 79 * KIB + 1);
  assert.equal(held.fill(KIB), 0);
  held.ack([], 60 * KIB);
  assert.ok(held.fill(KIB) > 0);
});

test('txPortalRetxThresh retransmissions shrink the window to txPortalRetxScale of it, not below txPortalMinSize', () => {
  const shrunk = (options: Partial<XgressOptions>): number => {
    const sender = new Sender({ txPortalStartSize: 64 * KIB, txPortalIncreaseThresh: 10_000, ...options });
    sender.fill(KIB);
    sender.nowMs += 250;
    sender.xgress.tick(sender.nowMs);
    const outstanding = new Set(sender.sent.map(({ sequence }) => sequence));
    sender.sent.length = 0;
    sender.ack([...outstanding]);
    return sender.sent.length + sender.fill(KIB);
  };
  const untouched = shrunk({ txPortalRetxThresh: 1_000 });
  assert.equal(shrunk({ txPortalRetxThresh: 64, txPortalRetxScale: 0.5 }), 33);
  assert.equal(shrunk({ txPortalRetxThresh: 64, txPortalRetxScale: 0.75 }), 49);
  assert.equal(shrunk({ txPortalRetxThresh: 32, txPortalRetxScale: 0.5 }), 17);
  assert.equal(shrunk({ txPortalRetxThresh: 1, txPortalRetxScale: 0.5, txPortalMinSize: 40 * KIB }), 41);
  assert.equal(untouched, 65);
});

test('txPortalDupAckThresh acknowledgements that came twice make it wait longer before it sends again', () => {
  const make = (txPortalDupAckThresh: number) => () => {
    const sender = new Sender({ txPortalDupAckThresh, retxStartMs: 1 });
    for (let times = 0; times < 20; times += 1) sender.ack([0]);
    sender.measure(500);
    return sender;
  };
  assertSentAgainAfter(750, make(1_000));
  assertSentAgainAfter(950, make(10));
});

test('retxStartMs is when a payload is sent again before any round trip was measured, and never sooner', () => {
  for (const retxStartMs of [200, 900]) {
    assertSentAgainAfter(retxStartMs, () => new Sender({ retxStartMs }));
    assertSentAgainAfter(retxStartMs, () => {
      const sender = new Sender({ retxStartMs });
      sender.measure(3);
      return sender;
    });
  }
});

test('after that it is retxScale round trips and retxAddMs, at most retxMaxMs', () => {
  const make = (options: Partial<XgressOptions>) => () => {
    const sender = new Sender(options);
    sender.measure(400);
    return sender;
  };
  assertSentAgainAfter(600, make({ retxScale: 1.5 }));
  assertSentAgainAfter(1_200, make({ retxScale: 3 }));
  assertSentAgainAfter(850, make({ retxScale: 1.5, retxAddMs: 250 }));
  assertSentAgainAfter(700, make({ retxScale: 3, retxMaxMs: 700 }));
  assertSentAgainAfter(12_000, make({ retxScale: 30, retxMaxMs: 0 }));
});

test('a stamp that a router on the path has replaced changes nothing', () => {
  assertSentAgainAfter(600, () => {
    const sender = new Sender({ retxScale: 1.5 });
    sender.measure(400, 54_321);
    return sender;
  });
});

test('maxRttScale bounds by how much one round trip may exceed the last; 0 does not', () => {
  const make = (maxRttScale: number) => () => {
    const sender = new Sender({ maxRttScale, retxScale: 1, retxStartMs: 1, retxMaxMs: 0 });
    sender.measure(100);
    sender.measure(2_000);
    return sender;
  };
  assertSentAgainAfter((400 + 100) / 2, make(4));
  assertSentAgainAfter((200 + 100) / 2, make(2));
  assertSentAgainAfter((200 + 100) / 2, make(1));
  assertSentAgainAfter((2_000 + 100) / 2, make(0));
});

test('rxBufferSize is how much an end keeps of what nobody reads', () => {
  const kept = (rxBufferSize: number): number => {
    const out: DataFrame[] = [];
    const port = {
      canSend: () => true,
      sendPayload: () => {},
      sendAcknowledgement: (frame: AcknowledgementFrame) => void out.push(frame),
      acknowledgementDue: () => {},
      deliver: () => {},
      deliverEnd: () => {},
      drained: () => {},
    };
    const counters = new XgressCounters();
    const receiver = new Xgress('c', true, { ...XGRESS_DEFAULTS, rxBufferSize }, port, counters);
    for (let sequence = 0; sequence < 200; sequence += 1)
      receiver.onPayload(new PayloadFrame('c', sequence, 0, new Uint8Array(KIB)), START_MS);
    receiver.flushAcknowledgements();
    const acks = out.filter((frame) => frame.contentType === ACKNOWLEDGEMENT_TYPE);
    assert.equal(acks.flatMap(({ sequences }) => sequences).length + counters.droppedPayloads, 200);
    return receiver.bufferedBytes;
  };
  assert.equal(kept(50 * KIB), 51 * KIB);
  assert.equal(kept(100 * KIB), 101 * KIB);
});
