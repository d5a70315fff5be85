/** The options of `gateway` and `up` about what operators see of requests. */
import { Option, type Command } from 'commander';
import { parseListenAddress, type ListenHostPort } from './listen-address.ts';

export interface ObservationCommandOptions {
  /** A file, or `-`. */
  readonly accessLog?: string;
  readonly metricsListen?: ListenHostPort;
}

export function addObservationOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--access-log <file>',
        'write one line of JSON for each request, "-" for standard output; SIGHUP opens the file anew; for example access.log',
      ),
    )
    .addOption(
      new Option(
        '--metrics-listen <host:port>',
        'Prometheus metrics of the gateway at /metrics, without credentials; each of several workers at the next port; for example 127.0.0.1:9100',
      ).argParser(parseListenAddress),
    );
}
