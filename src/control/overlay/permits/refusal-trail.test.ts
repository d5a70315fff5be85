// Reports of a router about hellos that it refused: recorded and logged within a limit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#base';
import { recordingLog, type LogRecord } from '../../../../test/support/recording-log.ts';
import type { OverlayModel } from '../model/overlay-model.ts';
import { RefusalTrail } from './refusal-trail.ts';

test('reports above the limit of a router are neither recorded nor a line of the log each', () => {
  const records: LogRecord[] = [];
  let recorded = 0;
  const clock = new ManualClock(1_000);
  const trail = new RefusalTrail({
    model: { identity: () => undefined } as unknown as OverlayModel,
    proveLeaf: () => assert.fail('no certificate was reported'),
    recorder: { record: () => void (recorded += 1) },
    clock,
    log: recordingLog((record) => void records.push(record)),
  });
  const hello = { certificate: '', address: '192.0.2.1', reason: 'no-api-session', occurrences: 1 };
  for (let i = 0; i < 10_000; i += 1) trail.reportedHello('loud', hello);
  assert.equal(recorded, 500);
  const levels = Map.groupBy(records, ({ level }) => level);
  assert.deepEqual([levels.get('info')?.length, levels.get('warn')?.length], [500, 1]);
  clock.advance(10_000);
  for (let i = 0; i < 1_000; i += 1) trail.reportedHello('loud', hello);
  assert.equal(recorded, 1_000);
  assert.equal(records.at(-1)?.fields['alsoBefore'], 9_499);
});
