// Which payloads may be acknowledged late, together with others, and which are acknowledged at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAYLOAD_FLAGS, PAYLOAD_TYPE, PayloadFrame, type DataFrame } from './payload-codec.ts';
import { Xgress, type XgressPort } from './xgress-machine.ts';
import { XGRESS_DEFAULTS } from './xgress-options.ts';

const { circuitStart, eof, lateAcknowledgement, retransmit } = PAYLOAD_FLAGS;
const ALLOWING = { ...XGRESS_DEFAULTS, allowsLateAcknowledgements: true };

const PORT: XgressPort = {
  canSend: () => true,
  sendPayload: () => {},
  sendAcknowledgement: () => {},
  acknowledgementDue: () => {},
  deliver: () => {},
  deliverEnd: () => {},
  drained: () => {},
};

interface Receiver {
  readonly xgress: Xgress;
  /** What the port was asked for, in order. */
  readonly asked: ('now' | 'late')[];
  readonly sent: DataFrame[];
}

function receiver(more: Partial<XgressPort> = {}): Receiver {
  const asked: Receiver['asked'] = [];
  const sent: DataFrame[] = [];
  const xgress = new Xgress('circuit', true, XGRESS_DEFAULTS, {
    ...PORT,
    sendPayload: (frame) => void sent.push(frame),
    sendAcknowledgement: (frame) => void sent.push(frame),
    acknowledgementDue: () => void asked.push('now'),
    acknowledgementMayWait: () => void asked.push('late'),
    ...more,
  });
  xgress.resume();
  return { xgress, asked, sent };
}

function give({ xgress }: Receiver, sequence: number, flags: number, bytes = 100): void {
  xgress.onPayload(new PayloadFrame('circuit', sequence, flags, new Uint8Array(bytes)), 0);
}

function sequencesOf(sent: readonly DataFrame[]): (readonly number[])[] {
  return sent.flatMap((frame) => (frame.contentType === PAYLOAD_TYPE ? [] : [frame.sequences]));
}

test('small payloads whose sender allows it wait, and one acknowledgement has them all', () => {
  const end = receiver();
  for (let sequence = 0; sequence < 5; sequence += 1) give(end, sequence, lateAcknowledgement);
  assert.deepEqual(end.asked, ['late']);
  end.xgress.flushAcknowledgements();
  assert.deepEqual(sequencesOf(end.sent), [[0, 1, 2, 3, 4]]);
  give(end, 5, lateAcknowledgement);
  assert.deepEqual(end.asked, ['late', 'late']);
});

test('what the sender does not allow, what it repeated, and an end are acknowledged at once, with what waits', () => {
  for (const flags of [0, lateAcknowledgement | retransmit, eof]) {
    const end = receiver();
    give(end, 0, lateAcknowledgement);
    give(end, 1, flags);
    give(end, 2, lateAcknowledgement);
    assert.deepEqual(end.asked, ['late', 'now'], String(flags));
    end.xgress.flushAcknowledgements();
    assert.deepEqual(sequencesOf(end.sent), [[0, 1, 2]]);
  }
});

test('more bytes than a window can miss are acknowledged at once', () => {
  const end = receiver();
  for (let sequence = 0; sequence < 4; sequence += 1) give(end, sequence, lateAcknowledgement, 4_096);
  assert.deepEqual(end.asked, ['late']);
  give(end, 4, lateAcknowledgement, 1);
  assert.deepEqual(end.asked, ['late', 'now']);
});

test('an end that cannot wait acknowledges everything at once', () => {
  const end = receiver({ acknowledgementMayWait: undefined });
  give(end, 0, lateAcknowledgement);
  assert.deepEqual(end.asked, ['now']);
});

test('a sender allows it for data alone, and only if its options do', () => {
  const flagsOf = (options: typeof ALLOWING | typeof XGRESS_DEFAULTS): number[] => {
    const flags: number[] = [];
    const port = { ...PORT, sendPayload: (frame: PayloadFrame) => void flags.push(frame.flags) };
    const xgress = new Xgress('circuit', false, options, port);
    xgress.start(0);
    xgress.write(new Uint8Array(1), 0);
    xgress.end(0);
    return flags;
  };
  assert.deepEqual(flagsOf(ALLOWING), [circuitStart, lateAcknowledgement, eof]);
  assert.deepEqual(flagsOf(XGRESS_DEFAULTS), [circuitStart, 0, eof]);
});
