import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { makeVersion, NOTES } from './make-version.ts';

const CHANGELOG = '# Changelog\n\nText.\n\n## Unreleased\n\n- It does something.\n';

function repository(t: TestContext, changelog = CHANGELOG) {
  const root = mkdtempSync(join(tmpdir(), 'frontdoor-version-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  git('init', '--quiet');
  for (const [name, value] of [
    ['user.name', 'a'],
    ['user.email', 'a@example.com'],
    ['user.signingkey', ''],
  ] as const)
    git('config', name, value);
  const lock = { name: 'x', version: '0.0.1', packages: { '': { name: 'x', version: '0.0.1' } } };
  writeFileSync(join(root, 'package.json'), `${JSON.stringify({ name: 'x', version: '0.0.1' }, null, 2)}\n`);
  writeFileSync(join(root, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
  writeFileSync(join(root, 'CHANGELOG.md'), changelog);
  mkdirSync(join(root, 'deploy/manifests'), { recursive: true });
  writeFileSync(
    join(root, 'deploy/manifests/frontdoor.yaml'),
    'image: registry.example.com/frontdoor:0.0.1\n',
  );
  writeFileSync(join(root, '.gitignore'), 'dist/\n');
  mkdirSync(join(root, 'dist/release'), { recursive: true });
  git('add', '.');
  git('commit', '--quiet', '--message', 'first');
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const release = async (args: readonly string[], makeFiles = () => Promise.resolve(0)) => {
    let output = '';
    const print = (line: string): void => void (output += `${line}\n`);
    return { status: await makeVersion(args, { root, makeFiles, day: '2026-11-28', print }), output };
  };
  return { git, read, release, root };
}

test('a version closes the section of the changelog, is set, committed and tagged, and its files are made', async (t) => {
  const { git, read, release } = repository(t);
  let commitOfFiles = '';
  const { status, output } = await release(['0.1.0'], () => {
    commitOfFiles = git('rev-parse', 'HEAD');
    return Promise.resolve(0);
  });
  assert.equal(status, 0, output);
  assert.match(
    read('CHANGELOG.md'),
    /## Unreleased\n\n## 0\.1\.0 \(2026-11-28\)\n\n- It does something\.\n$/,
  );
  assert.match(read('package.json'), /"version": "0\.1\.0"/);
  assert.equal(read('package-lock.json').split('"version": "0.1.0"').length, 3);
  assert.equal(read('deploy/manifests/frontdoor.yaml'), 'image: registry.example.com/frontdoor:0.1.0\n');
  assert.equal(git('status', '--porcelain'), '');
  assert.equal(git('rev-parse', 'v0.1.0^{commit}'), commitOfFiles);
  assert.equal(git('cat-file', '-t', 'v0.1.0'), 'tag');
  assert.match(git('tag', '--list', '--format=%(contents)', 'v0.1.0'), /- It does something\./);
  assert.match(read(NOTES), /^Frontdoor 0\.1\.0\n\n- It does something\.\n\nCheck .*SHA256SUMS\n$/);
  assert.match(output, /git push --atomic origin HEAD v0\.1\.0/);
});

test('a dry run shows the notes and changes nothing', async (t) => {
  const { git, release } = repository(t);
  const { status, output } = await release(['0.1.0', '--dry-run'], () => Promise.reject(new Error('made')));
  assert.equal(status, 0);
  assert.match(output, /- It does something\./);
  assert.equal(git('status', '--porcelain'), '');
  assert.equal(git('tag', '--list'), '');
});

test('a release is refused with the remedy before anything changes', async (t) => {
  const { git, release, root } = repository(t);
  const refusals: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [[], /usage: npm run release/],
    [['0.1'], /"0\.1" is no version/],
    [['0.1.0', '0.2.0'], /usage:/],
    [['--tagged'], /the commit has no tag v0\.0\.1/],
  ];
  for (const [args, message] of refusals) {
    const { status, output } = await release(args);
    assert.equal(status, 2);
    assert.match(output, message);
  }
  git('tag', 'v0.2.0');
  assert.match((await release(['0.2.0'])).output, /there is a tag v0\.2\.0 already/);
  assert.match((await release(['0.1.9'])).output, /v0\.2\.0 is newer than 0\.1\.9/);
  writeFileSync(join(root, 'left.txt'), '');
  assert.match((await release(['0.3.0'])).output, /not clean.*\n.*left\.txt/);
  rmSync(join(root, 'left.txt'));
  assert.equal(git('log', '--format=%s'), 'first');
  const empty = repository(t, '# Changelog\n\n## Unreleased\n\n## 0.0.1 (2026-01-01)\n\n- Before.\n');
  assert.match((await empty.release(['0.1.0'])).output, /has nothing below "## Unreleased"/);
});

test('a tag that git refuses leaves the tree as it was', async (t) => {
  const { git, read, release } = repository(t);
  git('config', 'user.signingkey', 'none');
  git('config', 'gpg.program', 'false');
  const { status, output } = await release(['0.1.0']);
  assert.equal(status, 2);
  assert.match(output, /the tree is as it was/);
  assert.equal(git('log', '--format=%s'), 'first');
  assert.equal(read('CHANGELOG.md'), CHANGELOG);
});

test('files that could not be made are made from the tag later', async (t) => {
  const { read, release } = repository(t);
  const failed = await release(['0.1.0'], () => Promise.reject(new Error('no strip')));
  assert.equal(failed.status, 1);
  assert.match(
    failed.output,
    /no strip[^]*npm run release -- --tagged[^]*git tag --delete v0\.1\.0 && git reset/,
  );
  const again = await release(['--tagged']);
  assert.equal(again.status, 0, again.output);
  assert.match(read(NOTES), /- It does something\./);
});
