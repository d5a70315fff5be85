/**
 * `frontdoor tunnel …`: dials and hosts services as the identity of a file, for programs that know nothing of the overlay.
 * `bin/` wires the implementation, which is the agent's.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { readHostPort, type HostPort } from '#base';
import { runCommand, type CliIo } from './cli-io.ts';
import { addConfigOption, configured } from './config-file/config-option.ts';
import { CONFIG_SECTIONS } from './config-file/config-section-table.ts';
import { parseDurationText } from './duration-text.ts';
import { addLogOptions, addReadyOption, type LogOptions, type ReadyFileOptions } from './log-options.ts';
import { addMetricsOption, type MetricsCommandOptions } from './observation-options.ts';
import { proxyOption, type ProxyFlags } from './proxy-option.ts';
import { repeated } from './value-parser.ts';

interface TunnelOptions extends MetricsCommandOptions, LogOptions, ReadyFileOptions, ProxyFlags {
  /** Path of the identity file. */
  readonly identity: string;
}

export interface TunnelProxyCommandOptions extends TunnelOptions {
  readonly service: readonly {
    readonly service: string;
    readonly port: number;
    readonly protocol: 'tcp' | 'udp';
  }[];
  /** Address of this machine. */
  readonly listen: string;
  /** Milliseconds. */
  readonly udpIdleTimeout: number;
}

export interface TunnelHostCommandOptions extends TunnelOptions {
  /** Empty: every service that the identity may host and that has a config. */
  readonly service: readonly { readonly service: string; readonly target?: HostPort }[];
}

/** Each runner runs until its end. A `FrontdoorError` becomes the command's failure. */
export interface TunnelRunners {
  tunnelHost(options: TunnelHostCommandOptions): Promise<void>;
  tunnelProxy(options: TunnelProxyCommandOptions): Promise<void>;
}

const MAX_SERVICES = 256;
const MAX_PORT = 65_535;
/** As tunnel routers do. */
const UDP_IDLE_MS = 300_000;
const MIN_UDP_IDLE_MS = 1_000;
const MAX_UDP_IDLE_MS = 86_400_000;

export function tunnelCommand(io: CliIo, run: TunnelRunners): Command {
  return new Command('tunnel')
    .description('dial and host services of the overlay as an identity, for programs without an SDK')
    .addCommand(proxyCommand(io, run))
    .addCommand(hostCommand(io, run));
}

function proxyCommand(io: CliIo, run: TunnelRunners): Command {
  return addIdentity(new Command('proxy'))
    .description(
      'open ports on this machine, and carry each connection, or source of datagrams, to a service',
    )
    .option(
      '--service <name:port[:udp]>',
      'service that the identity may dial, and the TCP or UDP port to open for it; may be repeated; 0 selects a free port; ' +
        'for example db:5432 or dns:5353:udp',
      repeated(collectPort),
    )
    .option(
      '--listen <host>',
      'address to listen on; everyone who can connect to it uses the services as the identity',
      '127.0.0.1',
    )
    .addOption(
      new Option(
        '--udp-idle-timeout <duration>',
        'idle time after which the circuit of a source of datagrams is closed; 1s to 24h',
      )
        .default(UDP_IDLE_MS, '5m')
        .argParser(parseIdleTime),
    )
    .action(
      configured<TunnelProxyCommandOptions>(io, CONFIG_SECTIONS.tunnelProxy, (options) =>
        runCommand(io, false, () => run.tunnelProxy(options)),
      ),
    );
}

function hostCommand(io: CliIo, run: TunnelRunners): Command {
  return addIdentity(new Command('host'))
    .description(
      'host services, and connect their circuits to the programs that their configs or targets specify',
    )
    .option(
      '--service <name[=host:port]>',
      'service that the identity may host, and the TCP address to connect to instead of that of its config (host.v1 or ' +
        'host.v2); may be repeated; default: every service with such a config; for example db=127.0.0.1:5432',
      repeated(collectTarget),
      [],
    )
    .action(
      configured<TunnelHostCommandOptions>(io, CONFIG_SECTIONS.tunnelHost, (options) =>
        runCommand(io, false, () => run.tunnelHost(options)),
      ),
    );
}

function addIdentity(command: Command): Command {
  addConfigOption(command, 'the options of the tunnel').addOption(proxyOption());
  return addMetricsOption(addReadyOption(addLogOptions(command)), 'the tunnel').option(
    '--identity <file>',
    'identity file that "ziti edge enroll" or enroll() of @frontdoor-dev/frontdoor/sdk wrote; only its owner may access it (chmod 600); ' +
      'for example laptop.json',
  );
}

function collectPort(
  text: string,
  before: TunnelProxyCommandOptions['service'] = [],
): TunnelProxyCommandOptions['service'] {
  const match = /^(.+?):(\d{1,5})(?::(tcp|udp))?$/.exec(text);
  const port = Number(match?.[2] ?? MAX_PORT + 1);
  if (match === null || port > MAX_PORT)
    throw new InvalidArgumentError('must be NAME:PORT or NAME:PORT:udp, such as db:5432.');
  return bounded([...before, { service: match[1]!, port, protocol: match[3] === 'udp' ? 'udp' : 'tcp' }]);
}

function parseIdleTime(text: string): number {
  const ms = parseDurationText(text);
  if (ms !== undefined && ms >= MIN_UDP_IDLE_MS && ms <= MAX_UDP_IDLE_MS) return ms;
  throw new InvalidArgumentError('must be a duration from 1s to 24h, such as 90s.');
}

function collectTarget(
  text: string,
  before: TunnelHostCommandOptions['service'] = [],
): TunnelHostCommandOptions['service'] {
  const at = text.lastIndexOf('=');
  if (at < 0 && text !== '') return bounded([...before, { service: text }]);
  const target = readHostPort(text.slice(at + 1));
  if (at < 1 || target === undefined || target.port === 0)
    throw new InvalidArgumentError('must be NAME or NAME=HOST:PORT, such as db=127.0.0.1:5432.');
  return bounded([...before, { service: text.slice(0, at), target }]);
}

function bounded<T>(services: readonly T[]): readonly T[] {
  if (services.length <= MAX_SERVICES) return services;
  throw new InvalidArgumentError(`may be given ${MAX_SERVICES} times at most.`);
}
