import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { recordingLog } from '../../test/support/recording-log.ts';
import { SummedLog } from './summed-log.ts';

test('an outage is one line for each subject at once, then one line with the sums a minute, and a line when it comes again', (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  const lines: string[] = [];
  const log = recordingLog(({ message, fields }) => {
    lines.push(`${message} ${String(fields['share'])} ${numberOf(fields['times'])}`.trim());
  });
  const summed = new SummedLog(log);
  const fail = (share: string, count: number): void => {
    for (let n = 0; n < count; n += 1) summed.info(share, { share }, 'dial failed');
  };
  fail('a', 400);
  fail('b', 27);
  assert.deepEqual(lines.splice(0), ['dial failed a', 'dial failed b']);
  mock.timers.tick(60_000);
  assert.deepEqual(lines.splice(0), ['dial failed, repeatedly b 425']);
  fail('a', 3);
  mock.timers.tick(60_000);
  assert.deepEqual(lines.splice(0), ['dial failed, repeatedly a 3']);
  mock.timers.tick(60_000);
  assert.deepEqual(lines.splice(0), []);
  fail('a', 1);
  assert.deepEqual(lines.splice(0), ['dial failed a']);
});

test('more subjects than are kept are counted', () => {
  const lines: unknown[] = [];
  const summed = new SummedLog(recordingLog(({ fields }) => lines.push(fields['times'])));
  for (let n = 0; n < 1_500; n += 1) summed.info(`${n}`, { n }, 'dial failed');
  assert.equal(lines.length, 1_000);
  summed.sum();
  assert.equal(lines.at(-1), 500);
});

function numberOf(value: unknown): string {
  return typeof value === 'number' ? String(value) : '';
}
