import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordingLog } from '../../../../test/support/recording-log.ts';
import { MAX_LINES_PER_SHARE, ServiceStatusLog, WINDOW_MS } from './service-status-log.ts';
import type { ServiceStatusState } from './service-status-machine.ts';

test('a share that changes again and again has a few lines, then one with the number of changes, and others are not delayed', () => {
  const lines: string[] = [];
  const log = recordingLog(({ message, fields }) => {
    lines.push(`${message} ${String(fields['share'])} ${numberOf(fields['changes'])}`.trim());
  });
  const statusLog = new ServiceStatusLog(log);
  const write = (share: string, state: ServiceStatusState['state'], nowMs: number): void =>
    statusLog.write(share, share, { state, lastError: 'refused' } as ServiceStatusState, nowMs);
  for (let n = 0; n < 427; n += 1) {
    statusLog.tick(n * 100);
    write('flapping', n % 2 === 0 ? 'FAILED' : 'DEPLOYED', n * 100);
  }
  assert.equal(lines.length, MAX_LINES_PER_SHARE);
  lines.length = 0;
  write('other', 'FAILED', 43_000);
  statusLog.tick(WINDOW_MS);
  assert.deepEqual(lines, ['share failed other', 'share changes its status again and again flapping 427']);
  lines.length = 0;
  write('flapping', 'DEPLOYED', WINDOW_MS + 1);
  assert.deepEqual(lines, ['share status flapping']);
});

function numberOf(value: unknown): string {
  return typeof value === 'number' ? String(value) : '';
}
