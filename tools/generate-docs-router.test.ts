import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { checkRouterFile, notesOf, routerFileField, type Field } from '#router/config';
import { routerConfigurationPage } from './generate-docs-router.ts';
import { routerExample } from './generate-docs-router-example.ts';

const folder = mkdtempSync(join(tmpdir(), 'router-example-'));
after(() => rmSync(folder, { recursive: true }));

function problemsOf(text: string): { severity: string; rule: string; path: string }[] {
  const file = join(folder, 'router.yml');
  writeFileSync(file, text);
  let out = '';
  const io = { out: (more: string) => void (out += more), err: () => {}, env: {} };
  checkRouterFile(file, { json: true, effective: false, files: false }, io);
  return (JSON.parse(out) as { problems: { severity: string; rule: string; path: string }[] }).problems;
}

const everyKey = (field: Field): string[] => {
  if (field.items !== undefined) return everyKey(field.items);
  return Object.entries(field.properties ?? {}).flatMap(([key, child]) => {
    const { isLegacy, isUnsupported } = notesOf(child);
    return isLegacy === true || isUnsupported === true ? [] : [key, ...everyKey(child)];
  });
};

test('the example is valid as it stands, without a warning', () => {
  assert.deepEqual(problemsOf(routerExample()), []);
});

test('with every key switched on it is still valid, and no key is unknown', () => {
  const [loopback = 'lo'] = Object.keys(networkInterfaces());
  const text = routerExample()
    .replaceAll(/^( *)#(?=[^ #\n])/gm, '$1')
    .replaceAll(/(: \[?)lo(?=\]?$)/gm, `$1${loopback}`);
  const problems = problemsOf(text);
  assert.ok(problems.length > 0, 'nothing was switched on');
  assert.deepEqual(
    [...new Set(problems.map(({ severity, rule }) => `${severity} ${rule}`))],
    ['warning ignored'],
  );
});

test('the example shows every key that has an effect, and so does the page', () => {
  const [example, page] = [routerExample(), routerConfigurationPage()];
  for (const key of new Set(everyKey(routerFileField))) {
    assert.match(example, new RegExp(`^[ #-]*${key}:`, 'm'), key);
    assert.match(page, new RegExp(`[\`.]${key}\``), key);
  }
});
