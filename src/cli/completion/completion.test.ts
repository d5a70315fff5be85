// Completion scripts: bash runs its own for real; the others are held to the tree of commands.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runCli, wholeProgram } from '../cli-fixture.ts';
import { completionTree } from './completion-tree.ts';

const folder = mkdtempSync(join(tmpdir(), 'completion-'));
after(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, 'body one.json'), '{}');
const scripts = Object.fromEntries(
  await Promise.all(
    ['bash', 'zsh', 'fish'].map(async (shell) => [shell, (await runCli(['completion', shell])).out] as const),
  ),
);
writeFileSync(join(folder, 'script'), scripts['bash']!);
const tree = completionTree(await wholeProgram());

/** What bash offers after these words, the last of which is being typed. */
function complete(...words: readonly string[]): string[] {
  const driver = `source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
$(complete -p frontdoor | sed -n 's/.*-F \\([^ ]*\\) .*/\\1/p')
for word in "\${COMPREPLY[@]}"; do printf '%s\\n' "$word"; done`;
  const args = ['--norc', '--noprofile', '-c', driver, 'bash', './script', 'frontdoor', ...words];
  const { stdout, stderr, status } = spawnSync('bash', args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  return stdout.split('\n').filter((word) => word !== '');
}

test('bash completes commands, below commands, and options', () => {
  assert.deepEqual(complete('sh'), ['shares']);
  assert.deepEqual(complete('shares', ''), [
    'list',
    'create',
    'get',
    'change',
    'delete',
    'policy',
    'who-can-reach',
    'upstream',
    'domains',
    'inspect',
    'replay',
    'access',
  ]);
  assert.deepEqual(complete('shares', 'policy', ''), ['get', 'set', 'warnings', 'compare', 'change']);
  assert.deepEqual(complete('fabric', 'router', 'd'), ['delete']);
  assert.deepEqual(complete('shares', 'create', '--share-'), ['--share-mode']);
  assert.ok(complete('shares', 'list', '--').includes('--json-lines'));
  assert.ok(complete('agent', 'share', 'public', '--').includes('--name'));
  assert.deepEqual(complete('nothing-such'), []);
});

test('bash completes the values of an option: its choices, files, or nothing for free text', () => {
  assert.deepEqual(complete('shares', 'create', '--share-mode', 'p'), ['public', 'private']);
  assert.deepEqual(complete('api-accounts', 'create', '--scope', ''), [
    'frontdoor.read',
    'frontdoor.write',
    'frontdoor.organization',
    'frontdoor.admin',
  ]);
  assert.deepEqual(complete('shares', 'list', '--ca', 'bo'), ['body one.json']);
  assert.deepEqual(complete('shares', 'create', '--name', ''), []);
  // A value that is called like a command leads nowhere.
  assert.ok(complete('shares', 'create', '--name', 'list', '--').includes('--target'));
});

test('each script completes every command and every option', () => {
  assert.ok(tree.length > 80);
  for (const [shell, script] of Object.entries(scripts)) {
    for (const { path, commands, options } of tree) {
      const at = shell === 'fish' ? `__frontdoor_at ${path}'` : `'${path}')`;
      assert.ok(script.includes(at), `${shell} ${path}`);
      for (const { name } of commands) assert.ok(script.includes(name), `${shell} ${path} ${name}`);
      for (const { flag } of options) {
        const said = shell === 'fish' ? flag.replace(/^--/, '-l ').replace(/^-(\w)$/, '-s $1') : flag;
        assert.ok(script.includes(said), `${shell} ${path} ${flag}`);
      }
    }
  }
});

test('a quote in a description is escaped', () => {
  const { status, stderr } = spawnSync('bash', ['-n', join(folder, 'script')], { encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
  assert.ok(tree.some(({ options }) => options.some(({ description }) => description.includes("'"))));
  const fish = scripts['fish']!.split('\n').filter((line) => line.startsWith('complete '));
  for (const line of fish) assert.equal((line.replaceAll("\\'", '').match(/'/g) ?? []).length % 2, 0, line);
});
