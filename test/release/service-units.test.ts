// The units for systemd: what they have in common, what they may do on a machine, and that systemd accepts them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../tools/source-tree.ts';

const folder = join(root, 'deploy/systemd');
const files = globSync('*.service', { cwd: folder }).toSorted();
const MAX_EXPOSURE = 2;
/** Those that every unit depends on. */
const TARGETS = [
  'basic.target',
  'multi-user.target',
  'network-online.target',
  'shutdown.target',
  'sysinit.target',
];
/** Settings that follow from what the program of a unit does; all others are equal in all units. */
const OWN = [
  ...['Description', 'After', 'EnvironmentFile', 'LoadCredential', 'ExecStart', 'StateDirectory'],
  ...['User', 'Group', 'CapabilityBoundingSet', 'AmbientCapabilities', 'PrivateUsers'],
  ...['RestrictAddressFamilies', 'TimeoutStartSec', 'OOMPolicy', 'RestartPreventExitStatus'],
];

function settingsOf(file: string): string[] {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

function systemdSkip(): string | false {
  return spawnSync('systemd-analyze', ['--version']).status === 0
    ? false
    : 'systemd-analyze is not installed';
}

/** As a machine has it where the package is installed: systemd asks whether programs are there. */
function makeMachine(): string {
  const machine = mkdtempSync(join(tmpdir(), 'frontdoor-units-'));
  for (const program of ['usr/bin/frontdoor', 'usr/bin/frontdoor-agent', 'bin/sh']) {
    mkdirSync(dirname(join(machine, program)), { recursive: true });
    writeFileSync(join(machine, program), '#!/bin/sh\n', { mode: 0o755 });
  }
  return machine;
}

test('units differ only where their programs do', () => {
  assert.equal(files.length, 5);
  const shared = files.map((file) =>
    settingsOf(file).filter((line) => !OWN.some((name) => line.startsWith(`${name}=`))),
  );
  for (const settings of shared) assert.deepEqual(settings, shared[0]);
});

test('each user and directory of a unit is made by the files of sysusers and tmpfiles', () => {
  const users = readFileSync(join(folder, 'frontdoor.sysusers'), 'utf8');
  const directories = readFileSync(join(folder, 'frontdoor.tmpfiles'), 'utf8');
  for (const file of files) {
    const valueOf = (name: string): string =>
      settingsOf(file)
        .find((line) => line.startsWith(`${name}=`))!
        .slice(name.length + 1);
    const user = valueOf('User');
    const top = dirname(join(valueOf('StateDirectory'), 'x')).split('/')[0];
    assert.match(users, new RegExp(`^u ${user} `, 'm'), file);
    assert.match(directories, new RegExp(`^d /var/lib/${top} +0700 ${user} +${user}$`, 'm'), file);
  }
});

test('systemd accepts the units, and rates each below 2.0', { skip: systemdSkip() }, () => {
  const machine = makeMachine();
  try {
    const units = join(machine, 'usr/lib/systemd/system');
    mkdirSync(units, { recursive: true });
    for (const name of TARGETS) writeFileSync(join(units, name), '[Unit]\n');
    for (const file of files)
      writeFileSync(join(units, basename(file)), readFileSync(join(folder, file), 'utf8'));
    for (const file of files) {
      const args = ['security', '--offline=true', `--root=${machine}`, file.replace('@.', '@main.')];
      const { stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
      const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
      assert.ok(exposure <= MAX_EXPOSURE, `${file}: ${exposure} ${stderr}`);
    }
    const all = files.map((file) => file.replace('@.', '@main.'));
    const { stderr } = spawnSync('systemd-analyze', ['verify', `--root=${machine}`, '--man=no', ...all], {
      encoding: 'utf8',
    });
    const lines = stderr.split('\n').filter((line) => line.includes('frontdoor'));
    assert.deepEqual(lines, []);
  } finally {
    rmSync(machine, { recursive: true, force: true });
  }
});
