import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { recordingLog } from '../../test/support/recording-log.ts';
import { descriptorShortages, isDescriptorShortage, watchDescriptors } from './descriptor-watch.ts';

const emfile = (): Error => Object.assign(new Error('too many open files'), { code: 'EMFILE' });

test('a limit below 4,096 is a warning at the start', (t) => {
  const lines: string[] = [];
  const log = recordingLog(({ level, message }) => lines.push(`${level} ${message.split(':')[0]!}`));
  t.after(watchDescriptors({ log, limit: 4_095 }));
  assert.deepEqual(lines.splice(0), ['warn few file descriptors']);
  t.after(watchDescriptors({ log, limit: 4_096 }));
  assert.deepEqual(lines, []);
});

test('a shortage is one error in the log and one in the metric, however often it shows, and one line when it is over', (t) => {
  let nowMs = 2_000_000;
  mock.timers.enable({ apis: ['setInterval'] });
  const clock = mock.method(performance, 'now', () => nowMs);
  t.after(() => {
    mock.timers.reset();
    clock.mock.restore();
  });
  const lines: string[] = [];
  const log = recordingLog(({ level, message }) => lines.push(`${level} ${message.split(':')[0]!}`));
  let isShort = true;
  const probe = (): void => {
    if (isShort) throw emfile();
  };
  const pass = (seconds: number): void => {
    for (let n = 0; n < seconds; n += 1) {
      nowMs += 1_000;
      mock.timers.tick(1_000);
    }
  };
  t.after(watchDescriptors({ log, limit: 65_536, probe }));
  const before = descriptorShortages();
  for (let n = 0; n < 300; n += 1) assert.equal(isDescriptorShortage(emfile()), true);
  pass(60);
  assert.deepEqual(lines.splice(0), ['error no file descriptor is left']);
  isShort = false;
  pass(10);
  assert.deepEqual(lines.splice(0), ['warn file descriptors are available again']);
  assert.equal(descriptorShortages() - before, 1);
  assert.equal(isDescriptorShortage(new Error('else')), false);
});
