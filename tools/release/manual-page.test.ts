import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { ERROR_KINDS } from '#base';
import { isTest, sourceFiles } from '../source-tree.ts';
import { manualPage } from './manual-page.ts';
import { ENVIRONMENT, EXIT_STATUSES } from './manual-table.ts';

const facts = { name: 'frontdoor', version: '0.1.0', day: '2026-11-28' };

test('the manual page has every command with its options, and the same bytes each time', async () => {
  const page = await manualPage(facts);
  assert.match(page, /^\.TH FRONTDOOR 1 "2026-11-28" "Frontdoor 0\.1\.0" "Frontdoor"\n/);
  for (const line of [
    '.SS Programs',
    String.raw`.B frontdoor restore [options] <file>`,
    String.raw`.B \-\-data\-dir <dir>`,
    String.raw`.B frontdoor agent share public [options] <target>`,
    String.raw`.B frontdoor shares list [options]`,
  ])
    assert.ok(page.includes(`${line}\n`), line);
  assert.equal(await manualPage(facts), page);
});

test('the manual page of the agent has its commands alone', async () => {
  const page = await manualPage({ ...facts, name: 'frontdoor-agent' });
  assert.ok(page.includes(String.raw`.B frontdoor\-agent start [options]`));
  assert.doesNotMatch(page, /^\.B frontdoor control/m);
});

test('the manual page names every variable and exit status of the programs', () => {
  const internal = ['FRONTDOOR_LAUNCHER_PIPE', 'FRONTDOOR_TEST_FOLDER'];
  const read = sourceFiles('src', 'bin')
    .filter(({ path }) => !isTest(path))
    .flatMap(({ text }) => [...text.matchAll(/\bFRONTDOOR_[A-Z_]*[A-Z]\b/g)].map(([name]) => name));
  const named = new Set(read.filter((name) => !internal.includes(name)));
  assert.deepEqual([...named].toSorted(), Object.keys(ENVIRONMENT).toSorted());
  for (const { exitCode } of Object.values(ERROR_KINDS)) assert.ok(EXIT_STATUSES[exitCode], String(exitCode));
});

const groff = spawnSync('groff', ['--version']).error === undefined;
test(
  'groff accepts the manual page without a warning',
  { skip: !groff && 'groff is not installed' },
  async () => {
    const input = await manualPage(facts);
    const { stdout, stderr, status } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-Wbreak', '-Kutf8'], {
      input,
      encoding: 'utf8',
    });
    assert.deepEqual([status, stderr], [0, '']);
    assert.ok(stdout.length > 10_000);
  },
);
