/** `frontdoor health`: its options. The implementation is loaded when it runs. */
import { Argument, Command } from 'commander';
import type { HostPort } from '#base';
import { runCommand, type CliIo } from '../cli-io.ts';
import { parseListenAddress } from '../listen-address.ts';
import { repeatedText } from '../value-parser.ts';

interface HealthFlags {
  readonly live: boolean;
  readonly ignore: readonly string[];
}

/** What container engines take for an unhealthy program. */
const UNHEALTHY_STATUS = 1;
const DEFAULT_ADDRESS: HostPort = { host: '127.0.0.1', port: 9_100 };

export function healthCommand(io: CliIo): Command {
  return new Command('health')
    .description('ask a program whether it is ready, for the health checks of containers')
    .addArgument(
      new Argument('[host:port]', 'address of its --metrics-listen')
        .argParser(parseListenAddress)
        .default(DEFAULT_ADDRESS, '127.0.0.1:9100'),
    )
    .option('--live', 'ask only whether it responds', false)
    .option(
      '--ignore <check>',
      'check that may fail; may be repeated; for example routers, so that the first router can wait for its control plane',
      repeatedText,
      [],
    )
    .addHelpText(
      'after',
      '\nThe exit status is 0 if the program is ready, 1 otherwise.\n\n' +
        'Examples:\n  frontdoor health\n  frontdoor health 127.0.0.1:9110 --ignore routers\n',
    )
    .action(async (address: HostPort, { live, ignore }: HealthFlags) => {
      const ask = async (): Promise<void> => {
        const { askHealth } = await import('./health-answer.ts');
        const { isGood, text } = await askHealth(address, live ? 'live' : 'ready', ignore);
        io.out(text);
        if (!isGood) io.exitCode = UNHEALTHY_STATUS;
      };
      await runCommand(io, false, ask, () => UNHEALTHY_STATUS);
    });
}
