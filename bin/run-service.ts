/** The commands of `frontdoor service`, for the service manager that this machine has. */
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { FrontdoorError } from '#base';
import type { CliIo, ServiceInstallOptions } from '#cli';
import { installWithLaunchd, launchdStatus, uninstallFromLaunchd } from './launchd-service.ts';
import { readSecretFile } from './option-file.ts';
import { installWithSystemd, systemdStatus, uninstallFromSystemd } from './systemd-service.ts';

const SYSTEMD_RUNS = '/run/systemd/system';
const STANDARD_INPUT = 0;

type ServiceIo = Pick<CliIo, 'out' | 'env'>;

export function runServiceInstall(options: ServiceInstallOptions, io: ServiceIo): void {
  const isMac = checkManager();
  checkRoot();
  const readToken = (): string => {
    const file = options.enrollmentTokenFile!;
    const text =
      file === '-' ? readFileSync(STANDARD_INPUT, 'utf8') : readSecretFile(file, '--enrollment-token-file');
    const code = text.trim();
    if (code !== '') return code;
    const message = '--enrollment-token-file: the file is empty';
    throw new FrontdoorError('invalid', 'enrollment-token-missing', message);
  };
  (isMac ? installWithLaunchd : installWithSystemd)(options, readToken, io);
}

export function runServiceUninstall(instance: string, io: ServiceIo): void {
  const isMac = checkManager();
  checkRoot();
  (isMac ? uninstallFromLaunchd : uninstallFromSystemd)(instance, io);
}

export function runServiceStatus(instance: string, io: ServiceIo): void {
  (checkManager() ? launchdStatus : systemdStatus)(instance, io);
}

/** Whether it is launchd. */
function checkManager(): boolean {
  if (process.platform === 'darwin') return true;
  if (existsSync(SYSTEMD_RUNS)) return false;
  const message =
    'systemd does not run on this machine: start "frontdoor-agent start --data-dir DIR" by its own service manager';
  throw new FrontdoorError('unavailable', 'service-manager', message);
}

function checkRoot(): void {
  if (process.getuid?.() === 0) return;
  throw new FrontdoorError(
    'forbidden',
    'service-needs-root',
    'only root installs services: put sudo before the command',
  );
}
