// The commit that `frontdoor version` names, beside what git says.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { cloneCommit } from '../../bin/build-facts.ts';

test('the commit of a clone and of a worktree is the one that git names, and there is none elsewhere', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'commit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const git = (...args: string[]): string => {
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    return spawnSync('git', ['-C', folder, ...identity, ...args], { encoding: 'utf8' }).stdout.trim();
  };
  assert.equal(cloneCommit(folder), undefined);
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '--message', 'first');
  const first = git('rev-parse', 'HEAD');
  assert.equal(cloneCommit(folder), first);
  git('worktree', 'add', '--quiet', 'tree', '-b', 'other');
  assert.equal(cloneCommit(join(folder, 'tree')), first);
  git('pack-refs', '--all');
  assert.equal(cloneCommit(folder), first);
  git('checkout', '--quiet', '--detach');
  assert.equal(cloneCommit(folder), first);
});
