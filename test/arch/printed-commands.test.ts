// Commands that people read and paste. Outside a clone, npx would fetch another project's package of the name; and every user of
// a machine may read the command lines of its programs.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../tools/source-tree.ts';

const FILES = ['*.md', '.github/**/*', 'bin/**/*', 'docs/**/*', 'examples/**/*', 'src/**/*', 'tools/**/*'];

/** Texts for people who work in a clone. */
const IN_A_CLONE: ReadonlySet<string> = new Set([
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  '.github/ISSUE_TEMPLATE/defect.yml',
  'bin/demo.ts',
  'src/control/shares/operations/list-filter-fixture.ts',
]);

const texts = globSync(FILES, { cwd: root, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replace(/^\//, ''))
  .map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);

function linesWith(pattern: RegExp, isAllowed: (path: string) => boolean = () => false): string[] {
  return texts.flatMap(([path, text]) =>
    isAllowed(path)
      ? []
      : text
          .split('\n')
          .flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
  );
}

test('what is read outside a clone starts with the installed command, not with npx', () => {
  const found = linesWith(
    /\bnpx (?:--\S+ )*frontdoor/,
    (path) => IN_A_CLONE.has(path) || path.startsWith('docs/adr/'),
  );
  assert.deepEqual(found, []);
});

test('no printed command has an enrollment code among its words', () => {
  // The option of the requirement stays, and its descriptions.
  const isOption = (path: string): boolean =>
    path === 'bin/frontdoor.js' ||
    path === 'src/cli/agent-command.ts' ||
    path === 'docs/reference/command-line.md';
  assert.deepEqual(linesWith(/--enrollment-token(?:'|"|=|\s)\s*,?\s*[\w{$<]/, isOption), []);
});

test('a clone is where README.md and CONTRIBUTING.md send those who type npx', () => {
  const readme = texts.find(([path]) => path === 'README.md')![1];
  assert.match(readme, /npx frontdoor` works in the folder of the clone only/);
});
