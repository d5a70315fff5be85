import assert from 'node:assert/strict';
import { test } from 'node:test';
import { concatBytes, textOf } from '#base';
import { loadRecordedFrames, frameOfHex } from '../../test/support/recorded-frames.ts';
import { decodeTraceRecords, encodeTraceMessage, encodeTraceState, traceOfFrame } from './ctrl-trace.ts';

const STATE = {
  timestamp: 1n,
  identity: 'r1',
  channel: 'ctrl/c1',
  connected: true,
  remoteAddress: '192.0.2.1:6262',
};

test('records come back as they were, and a file that ends within one is refused at every cut', () => {
  const records = [
    encodeTraceState(STATE),
    encodeTraceMessage({
      timestamp: 2n,
      contentType: 1005,
      sequence: 7,
      replyFor: -1,
      length: 0,
      isRx: true,
    }),
  ];
  const whole = concatBytes(records);
  const decoded = decodeTraceRecords(whole);
  assert.deepEqual(
    decoded?.map(({ kind, record }) => [kind, record.timestamp]),
    [
      ['state', 1n],
      ['message', 2n],
    ],
  );
  for (let cut = 1; cut < whole.length; cut += 1) {
    const expected = cut === records[0]!.length ? 1 : undefined;
    assert.equal(decodeTraceRecords(whole.subarray(0, cut))?.length, expected, String(cut));
  }
  assert.equal(decodeTraceRecords(Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0)), undefined);
});

test('every recorded message of a control channel is traced by its name, as JSON', () => {
  const recorded = loadRecordedFrames().filter(({ connection }) => connection.startsWith('ctrl-'));
  const names = new Set<unknown>();
  for (const { frame } of recorded) {
    if (frame === undefined) continue;
    const { decode, length } = traceOfFrame(frameOfHex(frame));
    const traced = JSON.parse(textOf(decode!)) as Record<string, unknown>;
    assert.equal(traced['__decoder__'], 'ctrl');
    assert.ok(length === 0 || traced['body'] !== undefined);
    assert.doesNotMatch(String(traced['body']), /malformed/);
    names.add(traced['__message__']);
  }
  for (const name of ['Route', 'LinkState', 'PeerStateChangeRequest', 'ApiSessionAdded']) {
    assert.ok(names.has(name), `${name} is not among ${[...names].join(', ')}`);
  }
});
