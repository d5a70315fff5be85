/** `frontdoor router …`: commands to run a router, enroll it, and check its file. `bin/` wires their implementation. */
import { Command } from 'commander';
import { fileExitStatus } from '#base';
import { runCommand, type CliIo } from './cli-io.ts';
import { addLogOptions, addReadyOption, type LogOptions, type ReadyFileOptions } from './log-options.ts';
import { addMetricsOption, type MetricsCommandOptions } from './observation-options.ts';

export interface RouterRunOptions extends LogOptions, ReadyFileOptions, MetricsCommandOptions {
  /** File with the token, for a router without identity files. */
  readonly enrollmentJwt?: string;
  readonly readyWithoutController: boolean;
}

export interface RouterEnrollOptions {
  readonly jwt: string;
  /** Replace keys, and files of other routers. */
  readonly force: boolean;
}

export interface RouterCheckCommandOptions {
  readonly json: boolean;
  readonly effective: boolean;
  readonly files: boolean;
}

/** Each runner runs until its end. A `FrontdoorError` becomes the command's failure. */
export interface RouterRunners {
  routerRun(file: string, options: RouterRunOptions): Promise<void>;
  routerEnroll(file: string, options: RouterEnrollOptions): Promise<void>;
  routerCheck(file: string, options: RouterCheckCommandOptions): Promise<void>;
  routerSchema(): Promise<void>;
}

export function routerCommand(io: CliIo, run: RouterRunners): Command {
  const router = new Command('router').description(
    'overlay router, configured with the same YAML file as OpenZiti’s router',
  );
  addMetricsOption(addReadyOption(addLogOptions(router.command('run'))), 'the router')
    .argument('<file>', 'configuration file')
    .option(
      '--enrollment-jwt <file>',
      'file with the token from "frontdoor fabric router create", with which a router without identity files enrolls first; for example east.jwt',
    )
    .option(
      '--ready-without-controller',
      'write the ready file without waiting for a connection to a controller',
      false,
    )
    .description(
      'run a router from its configuration file; exit status 1 (errors in the file) or 2 (unreadable)',
    )
    .action((file: string, options: RouterRunOptions) =>
      runCommand(io, false, () => run.routerRun(file, options), fileExitStatus),
    );
  router
    .command('enroll')
    .argument('<file>', 'configuration file, which specifies the identity files to write')
    .requiredOption(
      '--jwt <file>',
      'file with the token from "frontdoor fabric router create"; for example east.jwt',
    )
    .option('--force', 'replace existing keys, and certificates of a different router', false)
    .description("exchange an enrollment token for the router's identity files")
    .action((file: string, options: RouterEnrollOptions) =>
      runCommand(io, false, () => run.routerEnroll(file, options), fileExitStatus),
    );
  router
    .command('check')
    .argument('<file>', 'configuration file')
    .option('--json', 'print JSON', false)
    .option('--effective', 'print the file with every default filled in', false)
    .option(
      '--files',
      'also check the certificates and keys that the file refers to, and their expiry',
      false,
    )
    .description('validate a configuration file and report all problems; exit status 0, 1 or 2 (unreadable)')
    .action((file: string, options: RouterCheckCommandOptions) =>
      runCommand(io, options.json, () => run.routerCheck(file, options)),
    );
  router
    .command('schema')
    .description('print the JSON Schema of the configuration file, for editors')
    .action(() => runCommand(io, false, () => run.routerSchema()));
  return router;
}
