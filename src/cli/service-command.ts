/** `frontdoor service …`: runs an agent by the service manager of the machine, where no package did it. `bin/` wires it. */
import { Argument, Command, InvalidArgumentError } from 'commander';
import { runCommand, type CliIo } from './cli-io.ts';
import { repeatedText } from './value-parser.ts';

export interface ServiceInstallOptions {
  /** Name of the service, since one machine can run several agents. */
  readonly instance: string;
  /** A file, or `-`. Undefined for an agent that is enrolled. */
  readonly enrollmentTokenFile?: string;
  readonly api?: string;
  readonly name?: string;
  readonly ca?: string;
  /** Empty: none. */
  readonly allowTarget: readonly string[];
  readonly program?: string;
}

/** Each reports on `io` what it did. */
export interface ServiceRunners {
  serviceInstall(options: ServiceInstallOptions, io: CliIo): Promise<void>;
  serviceUninstall(instance: string, io: CliIo): Promise<void>;
  serviceStatus(instance: string, io: CliIo): Promise<void>;
}

const DEFAULT_INSTANCE = 'main';
/** It is part of names of files. */
const INSTANCE = /^[a-z0-9][a-z0-9_-]{0,39}$/;

export function serviceCommand(io: CliIo, run: ServiceRunners): Command {
  return new Command('service')
    .description('run an agent as a service of this machine, with systemd or launchd')
    .addCommand(installCommand(io, run))
    .addCommand(uninstallCommand(io, run))
    .addCommand(statusCommand(io, run));
}

function installCommand(io: CliIo, run: ServiceRunners): Command {
  const command = named(
    'install',
    'install a service, start it now and at each start of the machine; needs root',
  );
  return command
    .option(
      '--enrollment-token-file <file>',
      'file with the code from "frontdoor agents enroll", or - for standard input; the service gets a copy; for example code.txt',
    )
    .option(
      '--api <url>',
      'address of the Management API, for enrolling; for example https://console.example.com',
    )
    .option('--name <name>', 'name of the environment; default: the host name and a hash; for example laptop')
    .option(
      '--ca <file>',
      "CA certificates (PEM) to verify the Management API with, instead of the system's; for example /etc/frontdoor/ca.pem",
    )
    .option(
      '--allow-target <cidr:ports>',
      'target that the Management API is allowed to set, or the path of a folder; may be repeated; for example 10.0.0.0/8:80,8080',
      repeatedText,
      [],
    )
    .option(
      '--program <file>',
      'the program that the service starts; default: frontdoor-agent in PATH; for example /usr/local/bin/frontdoor-agent',
    )
    .addHelpText(
      'after',
      '\nExample:\n  sudo frontdoor service install agent --enrollment-token-file code.txt --api https://console.example.com\n',
    )
    .action((_program: string, options: ServiceInstallOptions) =>
      runCommand(io, false, () => run.serviceInstall(options, io)),
    );
}

function uninstallCommand(io: CliIo, run: ServiceRunners): Command {
  return named('uninstall', 'stop a service and remove it; its data stays; needs root').action(
    (_program: string, { instance }: ServiceInstallOptions) =>
      runCommand(io, false, () => run.serviceUninstall(instance, io)),
  );
}

function statusCommand(io: CliIo, run: ServiceRunners): Command {
  return named('status', 'show whether a service is installed and runs').action(
    (_program: string, { instance }: ServiceInstallOptions) =>
      runCommand(io, false, () => run.serviceStatus(instance, io)),
  );
}

function named(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addArgument(new Argument('<program>', 'the program of the service').choices(['agent']))
    .option(
      '--instance <name>',
      'name of the service, where a machine has several agents; for example office',
      instance,
      DEFAULT_INSTANCE,
    );
}

function instance(text: string): string {
  if (INSTANCE.test(text)) return text;
  throw new InvalidArgumentError('must be 1 to 40 lower-case letters, digits, hyphens and underscores.');
}
