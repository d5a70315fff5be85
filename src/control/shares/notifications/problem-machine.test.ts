// When problems are reported: short failures never, long ones once, and those that come and go once.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stepProblem, type ProblemState } from './problem-machine.ts';

const HOLD_MS = 30_000;
const SECOND = 1_000;

/** A resource whose state is measured once a second; `isBad` is asked for the second. */
function watched() {
  let state: ProblemState | undefined;
  let nowMs = 1_000_000;
  const reports: string[] = [];
  const step = (event: Parameters<typeof stepProblem>[1]) => {
    const result = stepProblem(state, event, nowMs, HOLD_MS);
    ({ state } = result);
    if (result.report !== undefined) reports.push(result.report);
  };
  return {
    reports,
    isKnown: () => state !== undefined,
    reported: () => step({ type: 'reported' }),
    run(seconds: number, isBad: (second: number) => boolean) {
      for (let second = 0; second < seconds; second += 1) {
        nowMs += SECOND;
        step({ type: 'measured', isBad: isBad(second) });
      }
      return reports.splice(0);
    },
  };
}
const always = () => true;
const never = () => false;

describe('a problem', () => {
  it('is reported after it has lasted, and its end after a minute without a failure', () => {
    const one = watched();
    assert.deepEqual(one.run(30, always), []);
    assert.deepEqual(one.run(1, always), ['failing']);
    assert.deepEqual(one.run(600, always), []);
    assert.deepEqual(one.run(60, never), []);
    assert.deepEqual(one.run(1, never), ['healthy']);
    assert.deepEqual(one.run(3_700, never), []);
    assert.equal(one.isKnown(), false);
  });

  it('that is short is not reported, however long ago the one before was', () => {
    const one = watched();
    assert.deepEqual(
      one.run(3_600, (second) => second % 300 < 20),
      [],
    );
    one.run(120, never);
    assert.equal(one.isKnown(), false);
  });

  it('that comes and goes each second is one report in hours, and one when it ends', () => {
    const one = watched();
    assert.deepEqual(
      one.run(4 * 3_600, (second) => second % 2 === 0),
      ['failing'],
    );
    assert.deepEqual(one.run(120, never), ['healthy']);
  });

  it('that comes back every few minutes is reported less often each time', () => {
    const one = watched();
    const reports = one.run(24 * 3_600, (second) => second % 180 < 60);
    assert.ok(reports.length <= 6, `${reports.length} reports`);
  });

  it('that another control plane reported is not reported as failing, and its end is', () => {
    const one = watched();
    one.reported();
    assert.deepEqual(one.run(300, always), []);
    assert.deepEqual(one.run(61, never), ['healthy']);
  });
});
