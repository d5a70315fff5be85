import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { makeFrame } from '../frame-codec.ts';
import { HeaderWriter } from '../frame-headers.ts';
import {
  ACKNOWLEDGEMENT_TYPE,
  AcknowledgementFrame,
  decodeAcknowledgement,
  PAYLOAD_FLAGS,
  PAYLOAD_TYPE,
  PayloadFrame,
  type DataFrame,
} from './payload-codec.ts';
import { Xgress, XGRESS_TICK_MS } from './xgress-machine.ts';
import { XGRESS_DEFAULTS, type XgressOptions } from './xgress-options.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';

const CIRCUIT = '5S1RDM7qE2yQXkmGtQkZ8a';

interface End {
  readonly xgress: Xgress;
  readonly received: Uint8Array[];
  readonly outbox: DataFrame[];
  hasEnded: boolean;
  drains: number;
}

function makeEnd(isTerminator: boolean, options: XgressOptions = XGRESS_DEFAULTS): End {
  const received: Uint8Array[] = [];
  const outbox: DataFrame[] = [];
  const end: End = {
    received,
    outbox,
    hasEnded: false,
    drains: 0,
    xgress: new Xgress(CIRCUIT, isTerminator, options, {
      canSend: () => true,
      sendPayload: (frame) => void outbox.push(copyOf(frame)),
      sendAcknowledgement: (frame) => void outbox.push(frame),
      acknowledgementDue: () => {},
      deliver: (data) => void received.push(data),
      deliverEnd: () => {
        end.hasEnded = true;
      },
      drained: () => {
        end.drains += 1;
      },
    }),
  };
  return end;
}

/** What a socket would do: later changes of the sender's frame do not reach the receiver. */
function copyOf(frame: PayloadFrame): PayloadFrame {
  const copy = new PayloadFrame(frame.circuitId, frame.sequence, frame.flags, frame.data);
  copy.rtt = frame.rtt;
  copy.headers = frame.headers;
  return copy;
}

function pass(from: End, to: End, nowMs: number): void {
  for (const frame of from.outbox.splice(0)) give(to, frame, nowMs);
  to.xgress.flushAcknowledgements();
}

function give(to: End, frame: DataFrame, nowMs: number): void {
  if (frame.contentType === PAYLOAD_TYPE) to.xgress.onPayload(frame, nowMs);
  else to.xgress.onAcknowledgement(frame, nowMs);
}

test('carries 100 MB intact while 5 % of the frames are dropped, doubled and put out of order', () => {
  const random = new SeededRandom(20_261_121);
  const sender = makeEnd(false);
  const receiver = makeEnd(true);
  receiver.xgress.resume();
  const total = 100 * 1024 * 1024;
  const chunk = Buffer.alloc(64 * 1024);
  for (let i = 0; i < chunk.length; i += 4) chunk.writeUInt32LE(random.int(2 ** 32), i);
  const sent = createHash('sha256');
  const got = createHash('sha256');
  let nowMs = 1_700_000_000_000;
  let written = 0;
  let receivedBytes = 0;
  let faults = 0;
  sender.xgress.start(nowMs);
  for (let round = 0; !receiver.hasEnded; round += 1) {
    assert.ok(round < 100_000, 'the transfer must come to an end');
    let mayWrite = true;
    while (mayWrite && written < total) {
      const piece = Buffer.from(chunk);
      piece.writeUInt32LE(written / piece.length, 0);
      sent.update(piece);
      written += piece.length;
      mayWrite = sender.xgress.write(piece, nowMs);
      if (written === total) sender.xgress.end(nowMs);
    }
    nowMs += 5;
    for (const [from, to] of [
      [sender, receiver],
      [receiver, sender],
    ] as const) {
      const frames = from.outbox.splice(0);
      for (let i = 0; i < frames.length; i += 1) {
        const dice = random.int(1_000) / 1_000;
        if (dice < 0.05) faults += 1;
        if (dice < 0.017) continue;
        if (dice < 0.034) give(to, frames[i]!, nowMs);
        else if (dice < 0.05 && i + 1 < frames.length) {
          [frames[i], frames[i + 1]] = [frames[i + 1]!, frames[i]!];
        }
        give(to, frames[i]!, nowMs);
      }
      to.xgress.flushAcknowledgements();
    }
    if (round % (XGRESS_TICK_MS / 5) === 0) {
      sender.xgress.tick(nowMs);
      receiver.xgress.tick(nowMs);
    }
    for (const piece of receiver.received.splice(0)) {
      receivedBytes += piece.length;
      got.update(piece);
    }
  }
  assert.equal(receivedBytes, total);
  assert.equal(got.digest('hex'), sent.digest('hex'));
  assert.ok(faults > 50, `${faults} faults`);
});

test('a terminator sends nothing before the circuit has started', () => {
  const terminator = makeEnd(true);
  terminator.xgress.write(Buffer.from('early'), 1);
  assert.equal(terminator.outbox.length, 0);
  const initiator = makeEnd(false);
  initiator.xgress.resume();
  initiator.xgress.start(1);
  pass(initiator, terminator, 2);
  pass(terminator, initiator, 3);
  assert.deepEqual(initiator.received.map(String), ['early']);
});

test('a paused reader stops its sender within the window and gets every byte once it reads again', () => {
  const options = {
    ...XGRESS_DEFAULTS,
    txPortalStartSize: 64_000,
    txPortalMaxSize: 64_000,
    rxBufferSize: 64_000,
  };
  const sender = makeEnd(false, options);
  const receiver = makeEnd(true, options);
  sender.xgress.start(1);
  let written = 0;
  for (let round = 0; round < 100; round += 1) {
    while (sender.xgress.write(Buffer.alloc(10_000), round)) written += 10_000;
    written += 10_000;
    pass(sender, receiver, round);
    pass(receiver, sender, round);
    if (sender.outbox.length === 0) break;
  }
  assert.ok(
    receiver.xgress.bufferedBytes <= 2 * 64_000 + 10_000,
    `${receiver.xgress.bufferedBytes} bytes held`,
  );
  receiver.xgress.resume();
  for (let round = 0; round < 100; round += 1) {
    const nowMs = 1_000 + round * XGRESS_TICK_MS;
    pass(receiver, sender, nowMs);
    sender.xgress.tick(nowMs);
    pass(sender, receiver, nowMs);
  }
  assert.equal(
    receiver.received.reduce((sum, piece) => sum + piece.length, 0),
    written,
  );
  assert.ok(sender.drains > 0);
});

test('a duplicate is acknowledged again, a frame of the own direction is dropped silently', () => {
  const receiver = makeEnd(true);
  receiver.xgress.resume();
  const payload = new PayloadFrame(CIRCUIT, 0, PAYLOAD_FLAGS.circuitStart, Buffer.from('x'));
  receiver.xgress.onPayload(payload, 1);
  receiver.xgress.onPayload(payload, 2);
  receiver.xgress.flushAcknowledgements();
  assert.deepEqual((receiver.outbox[0] as AcknowledgementFrame).sequences, [0, 0]);
  assert.equal(receiver.received.length, 1);
  receiver.outbox.length = 0;
  receiver.xgress.onPayload(new PayloadFrame(CIRCUIT, 1, PAYLOAD_FLAGS.originator, Buffer.from('loop')), 3);
  receiver.xgress.flushAcknowledgements();
  assert.equal(receiver.outbox.length, 0);
  assert.equal(receiver.received.length, 1);
});

test('half-close travels behind the data and leaves the other direction open', () => {
  const initiator = makeEnd(false);
  const terminator = makeEnd(true);
  initiator.xgress.resume();
  terminator.xgress.resume();
  initiator.xgress.start(1);
  initiator.xgress.write(Buffer.from('request'), 1);
  initiator.xgress.end(1);
  pass(initiator, terminator, 2);
  assert.equal(terminator.hasEnded, true);
  terminator.xgress.write(Buffer.from('response'), 3);
  pass(terminator, initiator, 4);
  assert.deepEqual(initiator.received.map(String), ['response']);
  assert.equal(initiator.hasEnded, false);
  assert.equal(initiator.xgress.isSendDone, true);
  assert.equal(terminator.xgress.isSendDone, false);
});

test('the round trip is measured across the wrap of its 16-bit stamp', () => {
  const sender = makeEnd(false);
  const base = Math.floor(1_700_000_000_000 / 65_536) * 65_536;
  sender.xgress.start(base + 0xfff0);
  const ack = new AcknowledgementFrame(CIRCUIT, PAYLOAD_FLAGS.originator, 0, [0]);
  ack.rtt = 0xfff0;
  sender.xgress.onAcknowledgement(ack, base + 65_536 + 5);
  sender.xgress.write(Buffer.from('x'), base + 65_600);
  sender.outbox.length = 0;
  sender.xgress.tick(base + 65_600 + 150);
  assert.equal(sender.outbox.length, 0, 'a 21 ms round trip never retransmits before the start value');
  sender.xgress.tick(base + 65_600 + 300);
  assert.equal(sender.outbox.length, 1);
});

test('the sender waits for a far end that is full or silent', () => {
  const sender = makeEnd(false);
  sender.xgress.start(1);
  const silent = decodeAcknowledgement(
    makeFrame(ACKNOWLEDGEMENT_TYPE, {
      headers: new HeaderWriter().text(2256, CIRCUIT).u32(2258, PAYLOAD_FLAGS.originator).u16(2260, 0),
      body: Uint8Array.of(0, 0, 0, 0),
    }),
  )!;
  assert.equal(silent.receiveBufferSize, 0xffff_ffff);
  sender.xgress.onAcknowledgement(silent, 2);
  sender.outbox.length = 0;
  assert.equal(sender.xgress.write(Buffer.from('held back'), 3), false);
  assert.equal(sender.xgress.isWaitingForAcks, true);
  sender.xgress.onAcknowledgement(new AcknowledgementFrame(CIRCUIT, PAYLOAD_FLAGS.originator, 0, []), 4);
  assert.deepEqual(
    sender.outbox.map((frame) => frame.contentType === PAYLOAD_TYPE && String(frame.data)),
    ['held back'],
  );
});

test('a far end that sends its highest sequence first cannot make this end keep everything below it', () => {
  const receiver = makeEnd(false);
  receiver.xgress.resume();
  const data = new Uint8Array(64_000);
  const send = (sequence: number): void =>
    receiver.xgress.onPayload(new PayloadFrame(CIRCUIT, sequence, PAYLOAD_FLAGS.originator, data), 0);
  send(1_000_000);
  for (let sequence = 1; sequence < 1_000; sequence += 1) send(sequence);
  const { bufferedBytes } = receiver.xgress;
  assert.ok(bufferedBytes <= 2 * XGRESS_DEFAULTS.rxBufferSize + data.length, String(bufferedBytes));
  // Dropped payloads were not acknowledged, so an honest sender retransmits them.
  receiver.xgress.flushAcknowledgements();
  const acknowledged = receiver.outbox.flatMap((frame) => ('sequences' in frame ? frame.sequences : []));
  assert.ok(!acknowledged.includes(999));
  send(0);
  send(999);
  assert.ok(receiver.received.length > 100);
});
