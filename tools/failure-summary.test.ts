import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { failureSummary } from './failure-summary.ts';

/** What the spec reporter of the Node that runs this says about a test file of this text. */
function reportOf(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-summary-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'made.test.mjs');
  writeFileSync(
    path,
    `import assert from 'node:assert/strict';\nimport { it, describe } from 'node:test';\n${text}`,
  );
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, FORCE_COLOR: '0' };
  const { stdout, stderr } = spawnSync(process.execPath, ['--test-reporter=spec', path], {
    encoding: 'utf8',
    env,
  });
  return stdout + stderr;
}

test('each test that failed is named with its file and the beginning of its error', (t) => {
  const report = reportOf(
    t,
    `describe('a door', () => {
       it('stays shut (for all 3)', () => assert.equal('open', 'shut', 'the door was open\\n\\nall night'));
       it('has a handle', () => {});
     });
     it('has a long list', () => assert.deepEqual(Array.from({ length: 90 }, (_, i) => i), []));
     it('waits', { timeout: 1 }, () => new Promise((resolve) => setTimeout(resolve, 100)));`,
  );
  const lines = failureSummary([{ file: 'src/door.test.ts', report }]).split('\n');
  const names = lines.filter((line) => line.startsWith('FAILED'));
  assert.deepEqual(names, [
    'FAILED src/door.test.ts › stays shut (for all 3)',
    'FAILED src/door.test.ts › has a long list',
    'FAILED src/door.test.ts › waits',
  ]);
  const after = (name: string): string => lines.slice(lines.indexOf(name) + 1).join('\n');
  assert.match(
    after(names[0]!),
    /^ {2}AssertionError.*: the door was open\n {2}all night\n(?:.*\n)?.*made\.test\.mjs:4/,
  );
  assert.match(
    after(names[1]!),
    /^(?:.*\n){15} {6}at .*made\.test\.mjs:7/,
    'the place stands after a long message',
  );
  assert.match(after(names[2]!), /^ {2}'test timed out after 1ms'/);
  assert.ok(lines.length < 3 * 20, 'a long error is cut');
  assert.ok(!lines.join('\n').includes('node:internal'), 'the inside of Node tells nothing');
});

test('the failure that ended other tests is told before them', (t) => {
  const report = reportOf(
    t,
    `import { before } from 'node:test';
     describe('a house', () => {
       before(() => { throw new Error('no ground to build on'); });
       it('has a roof', () => {});
     });`,
  );
  const summary = failureSummary([{ file: 'src/house.test.ts', report }]);
  assert.match(summary, /^\nFAILED src\/house\.test\.ts › a house\n {2}Error: no ground to build on\n/);
  assert.match(summary, /› has a roof\n[^\n]*did not finish before its parent/);
});

test('a file that ends without a test that failed is told with its last lines', (t) => {
  const report = reportOf(t, `throw new Error('not even begun');`);
  const summary = failureSummary([
    { file: 'src/broken.test.ts', report },
    { file: 'src/hung.test.ts', problem: 'still running after 240 s', report: '✔ one (1ms)\n✔ two (1ms)\n' },
  ]);
  assert.match(summary, /FAILED src\/broken\.test\.ts[^\n]*\n(?: {2}[^\n]*\n)*[^\n]*not even begun/);
  assert.match(
    summary,
    /FAILED src\/hung\.test\.ts: still running after 240 s\n {2}✔ one \(1ms\)\n {2}✔ two/,
  );
});

test('of many tests that failed all are named and the first told in full; of none there is nothing to say', () => {
  const tests = Array.from(
    { length: 60 },
    (_, index) => `test at x:1:1\n✖ test ${index} (1ms)\n  Error: why ${index}\n`,
  );
  const report = `✖ failing tests:\n\n${tests.join('\n')}`;
  const summary = failureSummary([{ file: 'a.test.ts', report }]);
  assert.equal(summary.match(/FAILED a\.test\.ts › test \d+\n/g)!.length, 60);
  assert.equal(summary.match(/Error: why \d+\n/g)!.length, 25);
  assert.equal(failureSummary([]), '');
});
