// What no file of the repository may say: places that only exist on somebody's machine, and secrets.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './source-tree.ts';

// Written in two pieces, so that this file does not break its own rule.
const WORDS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [new RegExp(`${'/'}work/`), 'a folder of one machine'],
  [new RegExp(`${'\\.\\./'}shared\\b`), 'a folder outside the repository'],
  [new RegExp(`${'/'}tmp/brief`), 'a folder of one machine'],
  [
    new RegExp(`registry\\.${'npmjs'}\\.org|registry\\.${'yarnpkg'}\\.com`),
    'the registry is the user’s choice',
  ],
  [
    new RegExp(`${'files'}\\.pythonhosted\\.org|${'pypi'}\\.org/simple`),
    'the package index is the user’s choice',
  ],
  [new RegExp(`\\b(?:localhost|127\\.0\\.0\\.1):4873\\b`), 'somebody’s own registry'],
  [new RegExp(`BEGIN ${'(?:EC |RSA )?PRIVATE'} KEY-----\\n[A-Za-z0-9+/]{40}`), 'a private key'],
];

const NOT_OURS = ['node_modules/', '.git/', '.cache/', 'frontdoor-data/', 'test/bench/results/'];

/** Everything that a commit would hold: tracked files, and new ones that are not ignored. */
function repositoryFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const git = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 });
  // Without git, or in an unpacked archive: what lies here.
  const listed =
    git.status === 0 ? git.stdout.split('\0') : readdirSync(root, { recursive: true, encoding: 'utf8' });
  const ours = listed.filter((path) => path !== '' && !NOT_OURS.some((folder) => path.startsWith(folder)));
  return [...new Set(ours)].filter(isFile);
}

function isFile(path: string): boolean {
  return statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true;
}

test('no file names a place or a secret that is not the repository’s', () => {
  const wrong: string[] = [];
  for (const path of repositoryFiles()) {
    const text = readFileSync(join(root, path), 'utf8');
    for (const [pattern, why] of WORDS) {
      const at = text.search(pattern);
      if (at >= 0) wrong.push(`${path}:${text.slice(0, at).split('\n').length}: ${why}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('nothing that is made at run time is committed', () => {
  const made =
    /(?:^|\/)(?:node_modules|frontdoor-data|\.cache|results)\/|\.(?:log|sqlite|sqlite-wal|pem|key|jwt)$/;
  const wrong = repositoryFiles().filter((path) => made.test(path) && !path.startsWith('test/vectors/'));
  assert.deepEqual(wrong, []);
});
