import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestFileResult } from './test-process.ts';
import { MAX_REPEATED_FILES, repeatFailed } from './test-repetition.ts';

function resultOf(file: string, passed: boolean): TestFileResult {
  return {
    file,
    isShared: false,
    passed,
    problem: undefined,
    tests: 1,
    failures: [],
    skipped: [],
    durationMs: 1,
    cpuSeconds: 1,
    output: '',
  };
}

const passing = ({ file }: TestFileResult): Promise<TestFileResult> => Promise.resolve(resultOf(file, true));
const neverAborted = new AbortController().signal;

describe('files that failed in a tier', () => {
  it('count as passed when they pass alone, and are named with their first result', async () => {
    const first = resultOf('b', false);
    const results = [resultOf('a', true), first, resultOf('c', true)];
    const disturbed = await repeatFailed(results, passing, neverAborted);
    assert.deepEqual(disturbed, [first]);
    assert.deepEqual(
      results.map(({ file, passed }) => [file, passed]),
      [
        ['a', true],
        ['b', true],
        ['c', true],
      ],
    );
  });

  it('stay failed when they fail alone, too', async () => {
    const results = [resultOf('a', false)];
    const disturbed = await repeatFailed(results, (first) => Promise.resolve(first), neverAborted);
    assert.deepEqual(disturbed, []);
    assert.equal(results[0]!.passed, false);
  });

  it('are not repeated when there are many, or when the run was stopped', async () => {
    const refuse = (): Promise<never> => assert.fail('nothing runs again');
    const many = Array.from({ length: MAX_REPEATED_FILES + 1 }, (_, n) => resultOf(`${n}`, false));
    assert.deepEqual(await repeatFailed(many, refuse, neverAborted), []);
    assert.deepEqual(await repeatFailed([resultOf('a', false)], refuse, AbortSignal.abort()), []);
  });
});
