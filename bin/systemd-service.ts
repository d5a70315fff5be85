/** An agent as a service of systemd. ADR 0101. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import { FrontdoorError } from '#base';
import type { CliIo, ServiceInstallOptions } from '#cli';
import {
  AGENT_USER,
  configurationText,
  serviceProgram,
  shippedText,
  SYSUSERS,
  unitText,
  missingService,
} from './service-files.ts';

const OWN_UNIT = '/etc/systemd/system/frontdoor-agent@.service';
const PACKAGED_UNIT = '/usr/lib/systemd/system/frontdoor-agent@.service';
const ENABLED_UNITS = '/etc/systemd/system/*.wants/frontdoor-agent@*.service';
const TOKEN_MODE = 0o600;

function placesOf(instance: string) {
  return {
    unit: `frontdoor-agent@${instance}.service`,
    token: `/etc/credstore/frontdoor-agent-${instance}.enrollment-token`,
    configuration: `/etc/frontdoor/agent-${instance}.yaml`,
    dataDir: `/var/lib/frontdoor-agent/${instance}`,
  };
}

export function installWithSystemd(
  options: ServiceInstallOptions,
  readToken: () => string,
  io: Pick<CliIo, 'out' | 'env'>,
): void {
  const { unit, token, configuration, dataDir } = placesOf(options.instance);
  // All that may be refused comes before the first change.
  const program = serviceProgram(options.program, io.env['PATH'] ?? '');
  const hasFile = existsSync(configuration);
  if (hasFile) checkNoOptions(configuration, options);
  const isEnrolled = existsSync(`${dataDir}/identity.json`);
  const code = options.enrollmentTokenFile === undefined ? undefined : readToken();
  if (code === undefined && !isEnrolled) {
    const message =
      'this agent is not enrolled: give --enrollment-token-file with a code of "frontdoor agents enroll"';
    throw new FrontdoorError('invalid', 'enrollment-token-missing', message);
  }
  const did = (text: string): void => io.out(`${text}\n`);
  makeUser(did);
  if (existsSync(PACKAGED_UNIT)) did(`unit        ${PACKAGED_UNIT} (of the package)`);
  else {
    write(OWN_UNIT, unitText(program), 0o644);
    did(`unit        ${OWN_UNIT}`);
  }
  if (code !== undefined) {
    write(token, `${code}\n`, TOKEN_MODE);
    did(`code        ${token}`);
  }
  if (!hasFile) write(configuration, configurationText(options), 0o644);
  did(`options     ${configuration}${hasFile ? ' (was there)' : ''}`);
  system(['daemon-reload']);
  system(['enable', '--quiet', unit]);
  const status = spawnSync('systemctl', ['restart', unit], { stdio: ['ignore', 'ignore', 'ignore'] }).status;
  if (status !== 0) {
    const message = `${unit} is installed and did not start; the reason: journalctl --unit=${unit} --lines=20. It is tried again, also after a restart of the machine; "${program} service uninstall agent --instance ${options.instance}" removes it`;
    throw new FrontdoorError('unavailable', 'service-not-started', message);
  }
  did(`data        ${dataDir}`);
  did(`\n${unit} runs, and starts with the machine.`);
  if (code !== undefined && existsSync(`${dataDir}/identity.json`)) {
    rmSync(token);
    did(`The agent is enrolled; the copy of the code was removed.`);
  }
  did(`Log:     journalctl --unit=${unit} --follow`);
  did(`Shares:  ${program} status --data-dir ${dataDir}`);
  did(`Undo:    ${program} service uninstall agent --instance ${options.instance}`);
}

export function uninstallFromSystemd(instance: string, { out }: Pick<CliIo, 'out'>): void {
  const { unit, token, configuration, dataDir } = placesOf(instance);
  if (!isInstalled(instance)) throw missingService(unit);
  system(['disable', '--now', '--quiet', unit]);
  for (const file of [token, configuration]) rmSync(file, { force: true });
  out(`${unit} was stopped and removed.\n`);
  if (globSync(ENABLED_UNITS).length === 0 && existsSync(OWN_UNIT)) {
    rmSync(OWN_UNIT);
    out(`${OWN_UNIT} was removed, too: no other agent uses it.\n`);
  }
  system(['daemon-reload']);
  if (existsSync(dataDir))
    out(`Its identity and shares stay in ${dataDir}. To delete them: rm -rf ${dataDir}\n`);
}

export function systemdStatus(instance: string, { out }: Pick<CliIo, 'out'>): void {
  const { unit, dataDir } = placesOf(instance);
  if (!isInstalled(instance)) throw missingService(unit);
  const properties = ['ActiveState', 'SubState', 'UnitFileState', 'MainPID', 'NRestarts', 'FragmentPath'];
  out(
    execFileSync('systemctl', ['show', unit, `--property=${properties.join(',')}`], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `${line.replace('=', ': ')}\n`)
      .join(''),
  );
  out(`Data: ${dataDir}\n`);
}

/** An existing file may have been edited, and is never changed. */
function checkNoOptions(file: string, { api, name, ca, allowTarget }: ServiceInstallOptions): void {
  if ([api, name, ca].every((value) => value === undefined) && allowTarget.length === 0) return;
  const message = `${file} exists: change it there, and leave out --api, --name, --ca and --allow-target`;
  throw new FrontdoorError('conflict', 'service-configured', message);
}

function isInstalled(instance: string): boolean {
  const { unit, configuration } = placesOf(instance);
  return existsSync(configuration) || globSync(`/etc/systemd/system/*.wants/${unit}`).length > 0;
}

function makeUser(did: (text: string) => void): void {
  const line = shippedText(SYSUSERS)
    .split('\n')
    .find((text) => text.startsWith(`u ${AGENT_USER} `))!;
  const hasUser = new RegExp(`^${AGENT_USER}:`, 'm').test(readFileSync('/etc/passwd', 'utf8'));
  if (!hasUser) run('systemd-sysusers', ['--inline', line]);
  did(`user        ${AGENT_USER}${hasUser ? ' (was there)' : ''}`);
}

function write(path: string, text: string, mode: number): void {
  mkdirSync(dirname(path), { recursive: true, mode: mode === TOKEN_MODE ? 0o700 : 0o755 });
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode, flag: 'wx' });
}

function system(words: readonly string[]): void {
  run('systemctl', words);
}

function run(program: string, words: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, words, { encoding: 'utf8', env: process.env });
  if (status === 0) return;
  const reason = error?.message ?? stderr.trim().slice(0, 500);
  throw new FrontdoorError('unavailable', 'service-manager', `${program} ${words[0]} failed: ${reason}`);
}
