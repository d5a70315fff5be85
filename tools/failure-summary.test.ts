import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failuresInFull, failureSummary, type FailedFile } from './failure-summary.ts';

const NONE: FailedFile = { file: 'src/door.test.ts', problem: undefined, failures: [], output: '' };

function failure(name: string, error: string, isCancelled = false): FailedFile['failures'][number] {
  return { name, error, isCancelled };
}

test('each test that failed is named with its file and the beginning of its error', () => {
  const frames = [
    '    at TestContext.<anonymous> (file:///made/door.test.ts:4:1)',
    '    at Test.run (node:internal/x:1:1)',
  ];
  const long = Array.from({ length: 90 }, (_, line) => `+   ${line},`);
  const failures = [
    failure(
      'a door › stays shut (for all 3)',
      ['AssertionError: the door was open', '', 'all night', ...frames].join('\n'),
    ),
    failure('has a long list', ['AssertionError: not equal', ...long, ...frames].join('\n')),
  ];
  const lines = failureSummary([{ ...NONE, failures }]).split('\n');
  const names = lines.filter((line) => line.startsWith('FAILED'));
  assert.deepEqual(names, [
    'FAILED src/door.test.ts › a door › stays shut (for all 3)',
    'FAILED src/door.test.ts › has a long list',
  ]);
  const after = (name: string): string => lines.slice(lines.indexOf(name) + 1).join('\n');
  assert.match(
    after(names[0]!),
    /^ {2}AssertionError: the door was open\n {2}all night\n.*made\/door\.test\.ts:4/,
  );
  assert.match(
    after(names[1]!),
    /^(?:.*\n){15} {6}at .*made\/door\.test\.ts:4/,
    'the place stands after a long message',
  );
  assert.ok(lines.length < 3 * 20, 'a long error is cut');
  assert.ok(!lines.join('\n').includes('node:internal'), 'the inside of Node explains nothing');
});

test('the failure that ended other tests comes before them', () => {
  const failures = [
    failure('a house › has a roof', "'test did not finish before its parent and was cancelled'", true),
    failure('a house', 'Error: no ground to build on'),
  ];
  const summary = failureSummary([{ ...NONE, failures }]);
  assert.match(summary, /^\nFAILED src\/door\.test\.ts › a house\n {2}Error: no ground to build on\n/);
  assert.match(summary, /› has a roof\n[^\n]*did not finish before its parent/);
});

test('a file that failed without a test has the last lines that its process printed', () => {
  const hung = { ...NONE, problem: 'hangs', output: `${'…\n'.repeat(90)}one\ntwo\n` };
  const summary = failureSummary([hung]);
  assert.match(summary, /FAILED src\/door\.test\.ts: hangs\n(?: {2}…\n){13} {2}one\n {2}two\n/);
  assert.match(failuresInFull(hung), /^(?:…\n){90}one\ntwo\n$/);
});

test('of many tests that failed all are named and the first shown in full; nothing is printed for none', () => {
  const failures = Array.from({ length: 60 }, (_, index) => failure(`test ${index}`, `Error: why ${index}`));
  const summary = failureSummary([{ ...NONE, failures }]);
  assert.equal(summary.match(/FAILED src\/door\.test\.ts › test \d+\n/g)!.length, 60);
  assert.equal(summary.match(/Error: why \d+\n/g)!.length, 25);
  assert.equal(failureSummary([]), '');
});
