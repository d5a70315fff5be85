/** Options about what operators see of requests and of a program's state. */
import { Option, type Command } from 'commander';
import type { HostPort } from '#base';
import { parseListenAddress } from './listen-address.ts';

export interface MetricsCommandOptions {
  readonly metricsListen?: HostPort | undefined;
}

export interface ObservationCommandOptions extends MetricsCommandOptions {
  /** A file, or `-`. */
  readonly accessLog?: string;
}

/** `about`: whose metrics, and what else there is to know of the address. */
export function addMetricsOption(command: Command, about: string): Command {
  return command.addOption(
    new Option(
      '--metrics-listen <host:port>',
      `serve Prometheus metrics of ${about} at /metrics, without credentials; for example 127.0.0.1:9100`,
    ).argParser(parseListenAddress),
  );
}

/** Adds the options of commands that run a gateway. `about` names the parts whose metrics are served. */
export function addObservationOptions(command: Command, about: string): Command {
  return addMetricsOption(command, about).addOption(
    new Option(
      '--access-log <file>',
      'write one line of JSON for each request, "-" for standard output; SIGHUP reopens the file; for example access.log',
    ),
  );
}
