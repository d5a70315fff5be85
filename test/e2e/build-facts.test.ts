// The commit that `frontdoor version` names, beside what git says.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { cloneCommit, commitDay, programVersionText } from '../../bin/build-facts.ts';

test('the commit of a clone and of a worktree is the one that git names, and there is none elsewhere', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'commit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const git = (...args: string[]): string => {
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    const env = { ...process.env, GIT_COMMITTER_DATE: '2026-11-28T23:30:00-02:00' };
    return spawnSync('git', ['-C', folder, ...identity, ...args], { encoding: 'utf8', env }).stdout.trim();
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
  assert.equal(commitDay(folder, first), '2026-11-29');
  writeFileSync(join(folder, 'package.json'), '{ "version": "0.1.0" }');
  assert.equal(programVersionText(folder), `0.1.0+${first.slice(0, 12)}`);
});

test('a package reports the commit and its day from the manifest of its programs', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'commit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const commit = '4b51014bafc2d0c1a5b5a1d4b0a6f7f3e8c9d0e1';
  const manifest = { version: '0.1.0', commit, commitDate: '2026-11-28' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  assert.equal(programVersionText(folder), '0.1.0+4b51014bafc2.2026-11-28');
  writeFileSync(join(folder, 'package.json'), '{ "version": "0.1.0", "commit": "main", "commitDate": 7 }');
  assert.equal(programVersionText(folder), '0.1.0');
});
