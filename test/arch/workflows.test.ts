// What runs elsewhere runs here, too: workflows call the commands of this tree, and take foreign actions by their digests.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../tools/source-tree.ts';

const workflows = globSync('.github/workflows/*.yml', { cwd: root }).map(
  (path) => [path, readFileSync(join(root, path), 'utf8')] as const,
);
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

test('every action of a workflow is named by its digest, with the version as a comment', () => {
  const named = workflows.flatMap(([path, text]) =>
    [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, action]) => `${path}: ${action}`),
  );
  assert.ok(named.length >= 3);
  assert.deepEqual(
    named.filter((line) => !/: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line)),
    [],
  );
});

test('every command of npm in a workflow is a script of this tree', () => {
  const called = workflows.flatMap(([, text]) =>
    [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!),
  );
  assert.ok(called.includes('release') && called.includes('fuzz'));
  assert.deepEqual(
    called.filter((name) => scripts[name] === undefined),
    [],
  );
});
