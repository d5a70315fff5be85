import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { compareText } from './bench-report.ts';
import { measured, resultWith } from './bench-result-fixture.ts';
import { loadResult, saveResult, type BenchResult } from './bench-result.ts';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-bench-result-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a result is saved under the name of its benchmark, and once more as the latest', (t) => {
  const folder = folderOf(t);
  const result = resultWith({ benchmark: 'bench:api', units: { token: 'request' } });
  const path = saveResult(result, folder);
  assert.equal(basename(path), 'api-2026-01-01T00-00-00-000Z.json');
  assert.deepEqual(loadResult(join(folder, 'api-latest.json'), 'bench:api'), result);
  assert.equal(basename(saveResult(resultWith({}), folder)), '2026-01-01T00-00-00-000Z.json');
});

test('a result of another format or another benchmark is refused by name, with a remedy', (t) => {
  const path = join(folderOf(t), 'old.json');
  const load = (result: Partial<BenchResult>) => {
    writeFileSync(path, JSON.stringify(resultWith(result)));
    return loadResult(path, 'bench');
  };
  assert.throws(() => load({ format: 3 }), /old\.json has format 3.*compares format 2: measure again/);
  assert.throws(
    () => load({ benchmark: 'bench:api' }),
    /result of bench:api, not of bench: npm run bench:api/,
  );
});

test('two results are compared by the ratios of each run', () => {
  const keepAlive = (ours: number, theirs: number) => ({
    'keep-alive': { nginx: measured(theirs, [100]), up: measured(ours, [200]) },
  });
  const text = compareText(
    () => 'nginx',
    resultWith({ scenarios: keepAlive(50, 100) }),
    resultWith({ scenarios: keepAlive(60, 80) }),
  );
  assert.match(text, /up +0\.50 → 0\.75 +2\.00 → 2\.00/);
});
