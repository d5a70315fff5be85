import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock, systemClock } from './clock.ts';
import { ERROR_KINDS, FrontdoorError, messageOf } from './errors.ts';
import { silentLog } from './log.ts';

test('an error has a kind, a stable code and the status of its kind, and keeps its cause to itself', () => {
  const cause = new Error('secret detail');
  const error = new FrontdoorError('conflict', 'name_taken', 'The name is taken', { cause });
  assert.deepEqual(
    [error.kind, error.code, error.status, error.message],
    ['conflict', 'name_taken', 409, 'The name is taken'],
  );
  assert.equal(error.cause, cause);
  assert.ok(error instanceof Error);
  assert.equal(error.name, 'FrontdoorError');
});

test('every kind has an HTTP status of a failure and an exit status that is none of success', () => {
  for (const [kind, { status, exitCode }] of Object.entries(ERROR_KINDS)) {
    assert.ok(status >= 400 && status <= 504, kind);
    assert.ok(exitCode > 1 && exitCode < 126, kind);
  }
});

test('anything that was thrown has a text', () => {
  assert.equal(messageOf(new Error('why')), 'why');
  assert.equal(messageOf('just text'), 'just text');
  assert.equal(messageOf(undefined), 'undefined');
});

test('a manual clock moves when a test moves it, the clock of the system by itself', () => {
  const clock = new ManualClock(1_000);
  assert.equal(clock.nowMs(), 1_000);
  clock.advance(250);
  clock.jump(-500);
  assert.deepEqual([clock.nowMs(), clock.monotonicMs()], [750, 1_250]);
  assert.ok(Math.abs(systemClock.nowMs() - Date.now()) < 1_000);
});

test('the silent log takes everything and its children are silent too', () => {
  silentLog.child({ part: 'x' }).error({ any: 1 }, 'said to nobody');
});
