// The Debian package of a small tree: its contents, owners and scripts, and that two packages are equal. `npm run installs -- deb`
// installs a whole one.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { debianVersionOf, packDebianPackage } from '../../tools/release/debian-package.ts';

const TIME_S = 1_700_000_000;
const folder = mkdtempSync(join(tmpdir(), 'frontdoor-package-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const missing = spawnSync('dpkg-deb', ['--version']).status === 0 ? false : 'dpkg-deb is not installed';
const run = (...words: readonly string[]): string =>
  execFileSync(words[0]!, words.slice(1), { encoding: 'utf8' });

/** As `makeTree` makes it, with few files. */
function makeSmallTree(name: string): string {
  const root = join(folder, name);
  const files = {
    'usr/bin/frontdoor': '#!/bin/sh\n',
    'usr/lib/frontdoor/bin/frontdoor.js': 'program',
    'usr/lib/frontdoor/node_modules/a/.hidden': 'file',
    'usr/share/bash-completion/completions/frontdoor': 'bash',
    'usr/share/zsh/site-functions/_frontdoor': 'zsh',
    'usr/share/man/man1/frontdoor.1': 'manual',
    ...Object.fromEntries(
      ['LICENSE', 'README.md', 'CHANGELOG.md', 'LICENSES-OF-PACKAGES.txt', 'sbom.json'].map((file) => [
        `usr/share/doc/frontdoor/${file}`,
        file,
      ]),
    ),
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode: path.startsWith('usr/bin') ? 0o700 : 0o600 });
  }
  return root;
}

function pack(name: string, version = '0.1.0'): string {
  const release = { folder: join(folder, `${name}-release`), version, timeS: TIME_S };
  mkdirSync(release.folder);
  packDebianPackage(makeSmallTree(name), 'amd64', release);
  return join(release.folder, `frontdoor_${debianVersionOf(version)}_amd64.deb`);
}

describe('the Debian package', { skip: missing }, () => {
  it('has files of root at the places of Debian, with units, users and directories', () => {
    const lines = run('dpkg-deb', '--contents', pack('contents')).trim().split('\n');
    const paths = lines.map((line) => line.split(/\s+/)[5]);
    for (const path of [
      './usr/bin/frontdoor',
      './usr/lib/frontdoor/node_modules/a/.hidden',
      './usr/lib/systemd/system/frontdoor.service',
      './usr/lib/systemd/system/frontdoor-agent@.service',
      './usr/lib/sysusers.d/frontdoor.conf',
      './usr/lib/tmpfiles.d/frontdoor.conf',
      './usr/share/zsh/vendor-completions/_frontdoor',
      './usr/share/man/man1/frontdoor.1.gz',
      './usr/share/doc/frontdoor/copyright',
      './usr/share/doc/frontdoor/changelog.gz',
    ])
      assert.ok(paths.includes(path), path);
    assert.ok(!paths.includes('./usr/share/doc/frontdoor/LICENSE'));
    for (const line of lines) assert.match(line, /^(?:drwxr-xr-x|-rw-r--r--|-rwxr-xr-x) root\/root /);
    assert.match(
      lines.find((line) => line.endsWith('/usr/bin/frontdoor'))!,
      /^-rwxr-xr-x/,
    );
  });

  it('names its version, its size and what it needs, and has sums of all files', () => {
    const file = pack('fields', '0.2.0-rc.1');
    const fields = run('dpkg-deb', '--field', file);
    for (const field of ['Package: frontdoor', 'Version: 0.2.0~rc.1', 'Architecture: amd64'])
      assert.ok(fields.includes(`${field}\n`), fields);
    assert.match(fields, /^Depends: .*libc6/m);
    assert.match(fields, /^Installed-Size: \d+$/m);
    const out = join(folder, 'fields-control');
    run('dpkg-deb', '--control', file, out);
    assert.match(readFileSync(join(out, 'md5sums'), 'utf8'), /^[0-9a-f]{32} {2}usr\/bin\/frontdoor$/m);
    for (const script of ['postinst', 'prerm', 'postrm']) run('sh', '-n', join(out, script));
  });

  it('has the same bytes each time, for any modes and times of the files that it was made from', () => {
    const first = readFileSync(pack('first'));
    const second = makeSmallTree('second');
    cpSync(second, join(folder, 'third'), { recursive: true });
    run('chmod', '-R', 'u=rwX,go=', join(folder, 'third'));
    assert.ok(first.equals(readFileSync(pack('third'))));
  });
});
