import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog, type Log, type LogFields } from '#base';
import { QuietLog } from './quiet-log.ts';

test('a kind of warning comes once in ten seconds, with the number of those that did not', () => {
  let nowMs = 0;
  const lines: [string, LogFields][] = [];
  const log: Log = { ...silentLog, warn: (fields, message) => void lines.push([message, fields]) };
  const quiet = new QuietLog(log, () => nowMs);
  for (let peer = 0; peer < 5; peer += 1) quiet.warn({ peer }, 'refused');
  quiet.warn({ peer: 9 }, 'too late');
  nowMs = 9_999;
  quiet.warn({ peer: 5 }, 'refused');
  nowMs = 10_000;
  quiet.warn({ peer: 6 }, 'refused');
  nowMs = 30_000;
  quiet.warn({ peer: 7 }, 'refused');
  assert.deepEqual(lines, [
    ['refused', { peer: 0 }],
    ['too late', { peer: 9 }],
    ['refused', { peer: 6, alsoBefore: 5 }],
    ['refused', { peer: 7 }],
  ]);
});
