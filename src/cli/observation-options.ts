/** Options about what operators see of requests and of a program's state. */
import { Option, type Command } from 'commander';
import type { HostPort } from '#base';
import { parseListenAddress } from './listen-address.ts';
import { wholeNumber } from './value-parser.ts';

export interface MetricsCommandOptions {
  readonly metricsListen?: HostPort | undefined;
}

export interface ObservationCommandOptions extends MetricsCommandOptions {
  /** In seconds. */
  readonly readyListAge: number;
  /** In seconds. */
  readonly stopDelay: number;
  /** A file, or `-`. */
  readonly accessLog?: string;
}

const MAX_LIST_AGE_S = 30 * 86_400;
const MAX_STOP_DELAY_S = 3_600;

/** `about`: whose metrics, and what else there is to know of the address. */
export function addMetricsOption(command: Command, about: string): Command {
  return command.addOption(
    new Option(
      '--metrics-listen <host:port>',
      `serve Prometheus metrics of ${about} at /metrics, and health at /health/live and /health/ready, without credentials; for example 127.0.0.1:9100`,
    ).argParser(parseListenAddress),
  );
}

/** Adds the options of commands that run a gateway. `about` names the parts whose metrics are served. */
export function addObservationOptions(command: Command, about: string): Command {
  const health = addMetricsOption(command, about)
    .addOption(
      new Option(
        '--ready-list-age <seconds>',
        'the gateway is not ready when its last message of a control plane is older, although it serves its last list',
      )
        .default(3_600)
        .argParser(wholeNumber(1, MAX_LIST_AGE_S)),
    )
    .addOption(
      new Option(
        '--stop-delay <seconds>',
        'after SIGTERM the gateway is not ready, but accepts connections for this time, so that load balancers notice it',
      )
        .default(0)
        .argParser(wholeNumber(0, MAX_STOP_DELAY_S)),
    );
  return health.addOption(
    new Option(
      '--access-log <file>',
      'write one line of JSON for each request, "-" for standard output; SIGHUP reopens the file; for example access.log',
    ),
  );
}
