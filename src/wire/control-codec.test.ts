import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlToPass, decodeControl, traceRequest, traceResponse } from './control-codec.ts';
import {
  decodeCircuitAnswer,
  encodeCircuitFailed,
  encodeCircuitSuccess,
} from './circuits/circuit-request-codec.ts';
import { makeFrame, replyForOf } from './frame-codec.ts';
import { HeaderWriter } from './frame-headers.ts';
import { contentType } from './message-table.ts';

test('a traceroute keeps what its asker put there, and loses what belongs to the channel it came over', () => {
  const request = traceRequest('5S1RDM7qE2yQXkmGtQkZ8a', 7, 42, 99n);
  assert.equal(request.body[0], 1);
  const headers = new HeaderWriter().u32(1, 5).u64(5, 1n).u64(6, 2n).u32(1000, 3).copy(request.headers);
  const control = decodeControl(makeFrame(contentType.control, { headers, body: request.body }))!;
  assert.deepEqual([control.isTrace, control.circuitId, control.hops], [true, '5S1RDM7qE2yQXkmGtQkZ8a', 7]);
  const passed = controlToPass(control, 6);
  assert.deepEqual(new Set([...passed.headers.entries()].map(([key]) => key)), new Set([20, 23, 24]));
  assert.deepEqual([passed.headers.u32(20), passed.headers.u32(24), passed.headers.u64(23)], [6, 42, 99n]);
  const answer = traceResponse(control, { type: 'forwarder', id: 'r1', hops: 0, error: 'no way' });
  assert.equal(answer.body[0], 2);
  assert.deepEqual(
    [20, 24].map((key) => answer.headers.u32(key)),
    [0, 42],
  );
  assert.deepEqual(
    [21, 22, 25].map((key) => answer.headers.text(key)),
    ['forwarder', 'r1', 'no way'],
  );
  assert.equal(decodeControl(answer)?.isResponse, true);
});

test('a control frame without a circuit, or with an endless one, is none', () => {
  for (const bytes of [0, 1, 70, 70_000])
    assert.equal(decodeControl(makeFrame(contentType.control, { body: new Uint8Array(bytes) })), undefined);
});

test('the answer to a CircuitRequest has circuit, address and peer data, or the reason why there is none', () => {
  const request = makeFrame(contentType.circuitRequest, { sequence: 12 });
  const granted = { circuitId: 'c1', address: 'in', peerData: new Map([[1110, Buffer.from('host:1')]]) };
  const success = encodeCircuitSuccess(request, granted);
  assert.equal(replyForOf(success), 12);
  const { circuitId, address, peerData } = decodeCircuitAnswer(success);
  assert.deepEqual([circuitId, address, [...peerData.keys()]], ['c1', 'in', [1110]]);
  assert.throws(() => decodeCircuitAnswer(encodeCircuitFailed(request, 'no terminators')), {
    code: 'circuit-refused',
    message: 'the controller refused: no terminators',
  });
  for (const frame of [
    makeFrame(contentType.circuitSuccess, { body: 'c1' }),
    makeFrame(contentType.circuitSuccess, { headers: new HeaderWriter().text(1100, 'in') }),
    makeFrame(contentType.result),
  ])
    assert.throws(() => decodeCircuitAnswer(frame), { kind: 'protocol' });
});
