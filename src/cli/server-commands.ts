/** Commands that run programs of the product: their options, as values. What they do is wired in `bin/`. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { addAccessOptions, type AccessOptions } from './access-options.ts';
import { runCommand, type CliIo } from './cli-io.ts';
import { addDatabaseOptions, type DatabaseOptions } from './database-option.ts';
import { addLogOptions } from './log-options.ts';
import {
  addMetricsOption,
  addObservationOptions,
  type MetricsCommandOptions,
  type ObservationCommandOptions,
} from './observation-options.ts';
import { routerCommand, type RouterRunners } from './router-command.ts';

export interface ListenOptions {
  readonly listen: string;
  readonly advertise: string;
  readonly logLevel: string;
  readonly readyFile?: string;
}

export interface UpCommandOptions
  extends ListenOptions, DatabaseOptions, AccessOptions, ObservationCommandOptions {
  readonly demo: boolean;
  readonly dataDir: string;
  readonly anyPort: boolean;
  readonly zone: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly apiPort: number;
  readonly edgeApiPort: number;
  readonly ctrlPort: number;
  readonly edgePort: number;
  readonly apiCert?: string;
  readonly apiKey?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsDir?: string;
  readonly publicHttpsPort?: number;
  readonly maxConnectionsPerAddress?: number;
  /** Seconds. */
  readonly responseTimeout?: number;
}

export interface ControlCommandOptions
  extends ListenOptions, DatabaseOptions, AccessOptions, MetricsCommandOptions {
  readonly dataDir: string;
  readonly zone: string;
  readonly apiPort: number;
  readonly edgeApiPort: number;
  readonly ctrlPort: number;
  readonly apiCert?: string;
  readonly apiKey?: string;
  readonly publicUrl: readonly string[];
}

export interface GatewayCommandOptions extends ObservationCommandOptions {
  readonly dataDir: string;
  readonly enrollmentJwt?: string;
  readonly listen: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsDir?: string;
  readonly publicHttpsPort?: number;
  readonly workers: number;
  readonly maxConnectionsPerAddress?: number;
  /** Seconds. */
  readonly responseTimeout?: number;
  readonly logLevel: string;
  readonly readyFile?: string;
}

/** The default of gateways, whose code commands do not load. */
const DEFAULT_RESPONSE_TIMEOUT_S = 60;
/** A stream may be silent for as long. */
const MAX_RESPONSE_TIMEOUT_S = 3_600;

export interface ResetAdminCommandOptions extends DatabaseOptions {
  readonly dataDir: string;
  readonly organizationId?: string;
  readonly out?: string;
}

/** More than any machine has use for. */
const MAX_WORKERS = 64;

/** Each runs to its end; a `FrontdoorError` becomes the command's failure. */
export interface ServerRunners extends RouterRunners {
  resetAdmin(options: ResetAdminCommandOptions): Promise<void>;
  up(options: UpCommandOptions): Promise<void>;
  control(options: ControlCommandOptions): Promise<void>;
  gateway(options: GatewayCommandOptions): Promise<void>;
}

export function serverCommands(io: CliIo, runners: ServerRunners): Command[] {
  const run = {
    up: (options: UpCommandOptions) => runCommand(io, false, () => runners.up(options)),
    control: (options: ControlCommandOptions) => runCommand(io, false, () => runners.control(options)),
    resetAdmin: (options: ResetAdminCommandOptions) =>
      runCommand(io, false, () => runners.resetAdmin(options)),
    gateway: (options: GatewayCommandOptions) => runCommand(io, false, () => runners.gateway(options)),
  };
  return [upCommand(run), controlCommand(run), gatewayCommand(run), routerCommand(io, runners)];
}

function upCommand(run: Pick<ServerRunners, 'up'>): Command {
  const command = addDatabaseOptions(listening(new Command('up')))
    .description(
      'control plane, gateway and router in one process; with an embedded database, or on PostgreSQL',
    )
    .option('--demo', 'also start a sample service and an agent that publishes it', false)
    .option('--data-dir <dir>', 'database, keys and identities', 'frontdoor-data')
    .option('--any-port', 'take free ports, and keep them for the next start', false)
    .option(
      '--zone <zone>',
      'public shares appear as <share>.<zone> (set on the first start)',
      'share.localhost',
    )
    .addOption(port('--http-port <port>', 'public HTTP', 8080))
    .addOption(port('--https-port <port>', 'public HTTPS', 8443))
    .addOption(port('--edge-port <port>', 'router, for agents and SDKs', 3022))
    .option(
      '--tls-cert <file>',
      'certificate of the public HTTPS port (PEM), for example fullchain.pem; when not given, one of its own authority',
    )
    .addOption(tlsKey())
    .addOption(tlsDir())
    .addOption(publicHttpsPort())
    .addOption(perAddress())
    .addOption(responseTimeout());
  const observed = addObservationOptions(command, 'the gateway, the control plane and the router');
  return controlPorts(observed).action((options: UpCommandOptions) => run.up(options));
}

function controlCommand(run: Pick<ServerRunners, 'control' | 'resetAdmin'>): Command {
  const command = addDatabaseOptions(listening(new Command('control')))
    .description('control plane alone: Management API, edge API, overlay controller')
    .option('--data-dir <dir>', 'database and keys', 'frontdoor-data')
    .option(
      '--zone <zone>',
      'public shares appear as <share>.<zone> (set on the first start)',
      'share.localhost',
    )
    .option('--public-url <template...>', 'how gateways are reached', ['http://{host}:8080']);
  // What stands behind the word "reset-admin" is that command's, though the options have the same names.
  return addMetricsOption(controlPorts(command), 'the control plane')
    .enablePositionalOptions()
    .action((options: ControlCommandOptions) => run.control(options))
    .addCommand(resetAdminCommand(run));
}

function resetAdminCommand(run: Pick<ServerRunners, 'resetAdmin'>): Command {
  return addDatabaseOptions(new Command('reset-admin'))
    .description('make an administrator when all credentials are lost: a new API account with every scope')
    .option('--data-dir <dir>', 'where secrets.key is, and the embedded database', 'frontdoor-data')
    .option('--organization-id <id>', 'whose administrator; default: the oldest organization')
    .option(
      '--out <file>',
      'where the credentials go (mode 0600); default: admin-secrets.json in the data directory',
    )
    .addHelpText(
      'after',
      '\nWorks on the database itself. The embedded one is held by its control plane: stop that first. On PostgreSQL\n' +
        'control planes may go on. Other accounts stay as they are; the audit trail shows the new one.\n\n' +
        'Example:\n  frontdoor control reset-admin --data-dir /var/lib/frontdoor\n',
    )
    .action((options: ResetAdminCommandOptions) => run.resetAdmin(options));
}

function gatewayCommand(run: Pick<ServerRunners, 'gateway'>): Command {
  const command = addLogOptions(new Command('gateway'))
    .description('public gateway alone')
    .option('--data-dir <dir>', 'identity and last good share list', 'frontdoor-gateway')
    .option(
      '--enrollment-jwt <file>',
      'file with the token of "frontdoor fabric gateway create", for the first start; for example east.jwt',
    )
    .option('--listen <host>', 'address to listen on', '127.0.0.1')
    .addOption(port('--http-port <port>', 'public HTTP', 8080))
    .addOption(
      port('--https-port <port>', 'public HTTPS; needs --tls-cert and --tls-key, or --tls-dir', 8443),
    )
    .option(
      '--tls-cert <file>',
      'certificate (PEM) for names that --tls-dir has none for, for example fullchain.pem',
    )
    .addOption(tlsKey())
    .addOption(tlsDir())
    .addOption(publicHttpsPort())
    .addOption(
      new Option('--workers <count>', 'processes that share the ports; SIGUSR2 replaces them one by one')
        .default(1)
        .argParser((text) => integer(text, 1, MAX_WORKERS)),
    )
    .addOption(perAddress())
    .addOption(responseTimeout());
  const observed = addObservationOptions(command, 'the gateway (each of several workers at the next port)');
  return observed.action((options: GatewayCommandOptions) => run.gateway(options));
}

function controlPorts(command: Command): Command {
  return addAccessOptions(command)
    .addOption(port('--api-port <port>', 'Management API', 8081))
    .addOption(port('--edge-api-port <port>', 'edge API, for agents, gateways and SDKs', 1280))
    .addOption(port('--ctrl-port <port>', 'control channel, for routers', 6262))
    .option(
      '--api-cert <file>',
      'certificate of the Management API (PEM), needed to listen beyond loopback; SIGHUP reads it again; for example api.pem',
    )
    .option('--api-key <file>', 'private key of that certificate (PEM); for example api.key');
}

function listening(command: Command): Command {
  return addLogOptions(command)
    .option('--listen <host>', 'address to listen on', '127.0.0.1')
    .option('--advertise <host>', 'host name or address that others dial', 'localhost');
}

function tlsKey(): Option {
  return new Option('--tls-key <file>', 'private key of that certificate (PEM); for example privkey.pem');
}

function tlsDir(): Option {
  return new Option(
    '--tls-dir <dir>',
    'certificates by server name: NAME.crt (or .pem) with NAME.key, folders with fullchain.pem and privkey.pem; ' +
      'SIGHUP reads them again; for example /etc/frontdoor/tls',
  );
}

function publicHttpsPort(): Option {
  return new Option(
    '--public-https-port <port>',
    'port of HTTPS as browsers see it, which log-ins and their callbacks use; the one listened on when not given; for example 443',
  ).argParser((text) => integer(text, 1, 65_535));
}

function perAddress(): Option {
  return new Option(
    '--max-connections-per-address <count>',
    'most client connections from one address at a time; for example 1000',
  ).argParser((text) => integer(text, 1, 1_000_000));
}

function responseTimeout(): Option {
  return new Option(
    '--response-timeout <seconds>',
    'until the first byte of a service\'s answer, for shares whose policy names no "responseTimeoutSeconds"; ' +
      `${DEFAULT_RESPONSE_TIMEOUT_S} when not given; for example 300`,
  ).argParser((text) => integer(text, 1, MAX_RESPONSE_TIMEOUT_S));
}

function port(flags: string, description: string, value: number): Option {
  return new Option(flags, `${description}; 0 takes a free one`)
    .default(value)
    .argParser((text) => integer(text, 0, 65_535));
}

function integer(text: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}.`);
}
