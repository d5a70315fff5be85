import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileProblemLine, type FileProblem } from './file-problem.ts';

const problem: FileProblem = {
  severity: 'error',
  path: 'shares[0].mode',
  line: 3,
  column: 11,
  message: 'must be public or private',
};

test('a problem is one line: place, severity, path, remedy, then the rule and the value where there are any', () => {
  assert.equal(
    fileProblemLine('a.yml', problem),
    'a.yml:3:11 error shares[0].mode: must be public or private',
  );
  assert.equal(
    fileProblemLine('a.yml', { ...problem, rule: 'enum', value: 'open' }),
    'a.yml:3:11 error shares[0].mode: must be public or private (enum, given "open")',
  );
  assert.equal(
    fileProblemLine('a.yml', { ...problem, path: '', value: null }),
    'a.yml:3:11 error: must be public or private (given null)',
  );
});

test('a section is not shown, and a long value is cut', () => {
  assert.doesNotMatch(fileProblemLine('a.yml', { ...problem, value: { a: 1 } }), /given/);
  assert.ok(fileProblemLine('a.yml', { ...problem, value: 'x'.repeat(5_000) }).length < 250);
});
