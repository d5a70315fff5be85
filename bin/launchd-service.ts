/** An agent as a service of launchd, by a file that macOS reads. It runs as the user who installs it. ADR 0101. */
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { FrontdoorError } from '#base';
import type { CliIo, ServiceInstallOptions } from '#cli';
import { plistText, serviceProgram, missingService } from './service-files.ts';

function placesOf(instance: string) {
  const label = `dev.frontdoor.agent.${instance}`;
  const dataDir = `/usr/local/var/frontdoor-agent/${instance}`;
  return { label, dataDir, plist: `/Library/LaunchDaemons/${label}.plist`, log: `${dataDir}/agent.log` };
}

export function installWithLaunchd(
  options: ServiceInstallOptions,
  readToken: () => string,
  { out, env }: Pick<CliIo, 'out' | 'env'>,
): void {
  const { label, dataDir, plist, log } = placesOf(options.instance);
  const { SUDO_USER: user, SUDO_UID: uid, SUDO_GID: gid } = env;
  if (user === undefined || uid === undefined || gid === undefined) {
    const message = 'run this with sudo: the service runs as the user who called it';
    throw new FrontdoorError('forbidden', 'service-needs-root', message);
  }
  const program = serviceProgram(options.program, env['PATH'] ?? '');
  const code = options.enrollmentTokenFile === undefined ? undefined : readToken();
  const token = join(dataDir, 'enrollment-token');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  chownSync(dataDir, Number(uid), Number(gid));
  if (code !== undefined) {
    rmSync(token, { force: true });
    writeFileSync(token, `${code}\n`, { mode: 0o600, flag: 'wx' });
    chownSync(token, Number(uid), Number(gid));
  }
  const { name, ca, api, allowTarget } = options;
  const words = [program, 'start', '--data-dir', dataDir, '--enrollment-token-file', token];
  for (const [option, value] of Object.entries({ api, name, ca: ca && resolve(ca) }))
    if (value !== undefined) words.push(`--${option}`, value);
  for (const target of allowTarget) words.push('--allow-target', target);
  mkdirSync(dirname(plist), { recursive: true });
  // A service that runs is replaced.
  if (existsSync(plist)) launchctl(['bootout', `system/${label}`], true);
  writeFileSync(plist, plistText({ label, words, user, log }), { mode: 0o644 });
  launchctl(['bootstrap', 'system', plist]);
  out(`service     ${plist}\ndata        ${dataDir}\n\n${label} starts now, and with the machine.\n`);
  out(
    `Log:     tail -f ${log}\nUndo:    ${program} service uninstall agent --instance ${options.instance}\n`,
  );
}

export function uninstallFromLaunchd(instance: string, { out }: Pick<CliIo, 'out'>): void {
  const { label, dataDir, plist } = placesOf(instance);
  if (!existsSync(plist)) throw missingService(label);
  launchctl(['bootout', `system/${label}`], true);
  rmSync(plist);
  out(
    `${label} was stopped and removed.\nIts identity and shares stay in ${dataDir}. To delete them: rm -rf ${dataDir}\n`,
  );
}

export function launchdStatus(instance: string, { out }: Pick<CliIo, 'out'>): void {
  const { label, dataDir, plist } = placesOf(instance);
  if (!existsSync(plist)) throw missingService(label);
  const { stdout } = spawnSync('launchctl', ['print', `system/${label}`], { encoding: 'utf8' });
  const [, state = 'not loaded'] = /^\s*state = (.+)$/m.exec(stdout) ?? [];
  out(`${label}: ${state}\nData: ${dataDir}\n`);
}

function launchctl(words: readonly string[], mayFail = false): void {
  const { status, stderr, error } = spawnSync('launchctl', words, { encoding: 'utf8' });
  if (status === 0 || mayFail) return;
  const reason = error?.message ?? stderr.trim().slice(0, 500);
  throw new FrontdoorError('unavailable', 'service-manager', `launchctl ${words[0]} failed: ${reason}`);
}
