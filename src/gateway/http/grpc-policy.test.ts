import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grpcKind, grpcMessage, grpcStatus, grpcStatusLines, grpcTimeoutMs } from './grpc-policy.ts';
import { FieldLines } from './head-decoder.ts';

test('the kind of a call follows from its content type', () => {
  const kinds = (types: string[]) => types.map(grpcKind);
  assert.deepEqual(kinds(['application/grpc', 'application/grpc+proto', 'Application/gRPC;x=y']), [
    'grpc',
    'grpc',
    'grpc',
  ]);
  assert.deepEqual(kinds(['application/grpc-web', 'application/grpc-web+proto']), ['web', 'web']);
  assert.deepEqual(kinds(['application/grpc-web-text', 'application/grpc-web-text+proto']), [
    'web-text',
    'web-text',
  ]);
  assert.deepEqual(kinds(['application/grpcx', 'application/json', '', 'xapplication/grpc']), [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

function timeoutOf(value: string): number | undefined {
  const fields = new FieldLines();
  assert.equal(fields.decode(`grpc-timeout: ${value}\r\n\r\n`, 0, 9), undefined);
  return grpcTimeoutMs(fields);
}

test('a deadline has digits and a unit', () => {
  assert.deepEqual(
    ['1H', '2M', '3S', '4m', '5000u', '6000000n'].map(timeoutOf),
    [3_600_000, 120_000, 3_000, 4, 5, 6],
  );
  assert.deepEqual(['', '5', 'S', '1s', '123456789S', '-1S', '1 S'].map(timeoutOf), Array(7).fill(undefined));
});

test('a failure has the status by which a client decides what to do', () => {
  const statusOf = (status: number, code: string): number => grpcStatus({ status, code });
  assert.deepEqual(
    [
      [401, 'credential-missing'],
      [403, 'address-denied'],
      [404, 'unknown-host'],
      [429, 'rate-limited'],
      [501, 'grpc-target'],
    ].map(([status, code]) => statusOf(status as number, code as string)),
    [16, 7, 12, 8, 12],
  );
  assert.deepEqual(
    [statusOf(504, 'answer-timeout'), statusOf(504, 'stream-idle'), statusOf(504, 'timeout')],
    [4, 4, 14],
  );
  assert.deepEqual(
    [statusOf(502, 'circuit-closed'), statusOf(503, 'busy'), statusOf(421, 'misdirected')],
    [14, 14, 14],
  );
  assert.deepEqual(
    [statusOf(500, 'internal'), statusOf(400, 'path-ambiguous'), statusOf(413, 'x')],
    [13, 13, 8],
  );
});

test('a message is one line of ASCII', () => {
  assert.equal(grpcMessage('100 %, é\r\n…'), '100 %25, %C3%A9%0D%0A%E2%80%A6');
  assert.equal(
    grpcStatusLines({ status: 503, code: 'busy', message: 'Wait.' }, 'e1'),
    'grpc-status: 14\r\ngrpc-message: Wait. (busy, error ID e1)\r\n',
  );
});
