/** Commands that run programs of the product: their options, as values. `bin/` wires their implementation. */
import { Command, Option } from 'commander';
import { addAccessOptions, type AccessOptions } from './access-options.ts';
import { addAcmeOptions, type AcmeCommandOptions } from './acme-options.ts';
import { runCommand, type CliIo } from './cli-io.ts';
import {
  addDatabaseOptions,
  addMigrationOptions,
  type DatabaseOptions,
  type MigrationCopiesOptions,
} from './database-option.ts';
import { apiNameOption, checkApiName } from './api-name-option.ts';
import { addConfigOption, configured } from './config-file/config-option.ts';
import { CONFIG_SECTIONS } from './config-file/config-section-table.ts';
import { dnsCheckCommand, type DnsCheckCommandOptions } from './dns-check-command.ts';
import { addHeadOptions, type HeadCommandOptions } from './head-options.ts';
import { interceptDomain } from './intercept-option.ts';
import { addLogOptions, addReadyOption, type LogOptions, type ReadyFileOptions } from './log-options.ts';
import {
  addMetricsOption,
  addObservationOptions,
  type MetricsCommandOptions,
  type ObservationCommandOptions,
} from './observation-options.ts';
import { checkMailOptions } from './mail-options.ts';
import { checkPassOptions, passTlsOption, type PassOptions } from './pass-options.ts';
import {
  checkProxyOptions,
  httpsRedirectOption,
  h2cOption,
  proxyProtocolOption,
  trustedProxiesOption,
  type GatewayProxyOptions,
} from './proxy-options.ts';
import { sharePortOptions, type SharePortOptions } from './port-options.ts';
import { resetAdminCommand, type ResetAdminCommandOptions } from './reset-admin-command.ts';
import { routerCommand, type RouterRunners } from './router-command.ts';
import { wholeNumber } from './value-parser.ts';

export interface ListenOptions extends LogOptions, ReadyFileOptions {
  readonly listen: string;
  /** Not empty. */
  readonly advertise: readonly string[];
}

/** The ports of `up`, by their options. */
export interface UpPortOptions {
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly apiPort: number;
  readonly edgeApiPort: number;
  readonly ctrlPort: number;
  readonly edgePort: number;
}

const UP_PORTS: readonly (keyof UpPortOptions)[] = [
  ...(['httpPort', 'httpsPort', 'apiPort', 'edgeApiPort', 'ctrlPort', 'edgePort'] as const),
];

export interface UpCommandOptions
  extends
    UpPortOptions,
    ListenOptions,
    DatabaseOptions,
    MigrationCopiesOptions,
    AccessOptions,
    AcmeCommandOptions,
    HeadCommandOptions,
    GatewayProxyOptions,
    SharePortOptions,
    ObservationCommandOptions {
  readonly demo: boolean;
  readonly dataDir: string;
  readonly anyPort: boolean;
  readonly onePort: boolean;
  /** The ports that are on the command line or in the configuration file. */
  readonly givenPorts: Partial<UpPortOptions>;
  readonly zone: string;
  /** Empty: private shares have no addresses. */
  readonly interceptDomain: string;
  readonly apiCert?: string;
  readonly apiKey?: string;
  readonly ownApiCert?: string;
  readonly apiName?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsDir?: string;
  readonly publicHttpsPort?: number;
  readonly maxConnectionsPerAddress?: number;
  /** In seconds. */
  readonly responseTimeout?: number;
}

export interface ControlCommandOptions
  extends ListenOptions, DatabaseOptions, MigrationCopiesOptions, AccessOptions, MetricsCommandOptions {
  readonly dataDir: string;
  readonly zone: string;
  readonly interceptDomain: string;
  readonly apiPort: number;
  readonly edgeApiPort: number;
  readonly ctrlPort: number;
  readonly apiCert?: string;
  readonly apiKey?: string;
  /** The file to write the authority to. */
  readonly ownApiCert?: string;
  readonly publicUrl: readonly string[];
  readonly ctrlHost?: string;
}

export interface GatewayCommandOptions
  extends
    AcmeCommandOptions,
    HeadCommandOptions,
    GatewayProxyOptions,
    PassOptions,
    SharePortOptions,
    ObservationCommandOptions,
    LogOptions,
    ReadyFileOptions {
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
  /** In seconds. */
  readonly responseTimeout?: number;
}

/** The gateway's default. Commands do not load the gateway's code, so it is repeated here. */
const DEFAULT_RESPONSE_TIMEOUT_S = 60;
/** A stream may be silent for this time. */
const MAX_RESPONSE_TIMEOUT_S = 3_600;

/** More workers than any machine can use. */
const MAX_WORKERS = 64;

/** Each runner runs until its end. A `FrontdoorError` becomes the command's failure. */
export interface ServerRunners extends RouterRunners {
  resetAdmin(options: ResetAdminCommandOptions): Promise<void>;
  up(options: UpCommandOptions): Promise<void>;
  control(options: ControlCommandOptions): Promise<void>;
  gateway(options: GatewayCommandOptions): Promise<void>;
  dnsCheck(domain: string, options: DnsCheckCommandOptions, io: CliIo): Promise<void>;
}

interface ServerRuns extends Pick<ServerRunners, 'up' | 'control' | 'resetAdmin' | 'gateway'> {
  readonly io: CliIo;
  readonly dnsCheck: Parameters<typeof dnsCheckCommand>[0];
}

export function serverCommands(io: CliIo, runners: ServerRunners): Command[] {
  const run: ServerRuns = {
    io,
    up: (options: UpCommandOptions) => runCommand(io, false, () => runners.up(options)),
    control: (options: ControlCommandOptions) => runCommand(io, false, () => runners.control(options)),
    resetAdmin: (options: ResetAdminCommandOptions) => runners.resetAdmin(options),
    gateway: (options: GatewayCommandOptions) => runCommand(io, false, () => runners.gateway(options)),
    dnsCheck: (domain: string, options: DnsCheckCommandOptions) =>
      runCommand(io, false, () => runners.dnsCheck(domain, options, io)),
  };
  return [upCommand(run), controlCommand(run), gatewayCommand(run), routerCommand(io, runners)];
}

function upCommand(run: ServerRuns): Command {
  const command = addMigrationOptions(addDatabaseOptions(listening(new Command('up'))))
    .description(
      'run control plane, gateway and router in one process, with an embedded database or on PostgreSQL',
    )
    .option('--demo', 'also start a sample service and an agent that publishes it', false)
    .option('--data-dir <dir>', 'directory for the database, keys and identities', 'frontdoor-data')
    .option('--any-port', 'use free ports where no option sets one, and reuse them at the next start', false)
    .option(
      '--zone <zone>',
      'zone of public shares, which are served as <share>.<zone> (set on the first start)',
      'share.localhost',
    )
    .addOption(port('--http-port <port>', 'public HTTP', 8080))
    .addOption(port('--https-port <port>', 'public HTTPS', 8443))
    .addOption(port('--edge-port <port>', 'port of the router, for agents and SDKs', 3022))
    .option(
      '--one-port',
      'serve the router and the edge API at the port of --https-port, too, and the Management API under the names of --api-cert: so that agents need no other port',
      false,
    )
    .addOption(apiNameOption())
    .option(
      '--tls-cert <file>',
      "certificate of the public HTTPS port (PEM), for example fullchain.pem; default: issued by the installation's own authority",
    )
    .addOption(tlsKey())
    .addOption(tlsDir())
    .addOption(publicHttpsPort())
    .addOption(proxyProtocolOption())
    .addOption(h2cOption())
    .addOption(httpsRedirectOption())
    .addOption(perAddress())
    .addOption(responseTimeout());
  for (const option of sharePortOptions()) command.addOption(option);
  const observed = addObservationOptions(
    addAcmeOptions(addHeadOptions(command)),
    'the gateway, the control plane and the router',
  );
  const proxied = 'the Management API and the gateway';
  const start = (options: UpCommandOptions, parsed: Command): Promise<void> => {
    checkProxyOptions(parsed, options);
    checkApiName(parsed, options);
    checkMailOptions(parsed, options);
    const given = UP_PORTS.filter((name) => parsed.getOptionValueSource(name) !== 'default');
    const givenPorts = Object.fromEntries(given.map((name) => [name, options[name]]));
    return run.up({ ...options, givenPorts });
  };
  return controlPorts(observed, proxied).action(configured(run.io, CONFIG_SECTIONS.up, start));
}

function controlCommand(run: ServerRuns): Command {
  const command = addMigrationOptions(addDatabaseOptions(listening(new Command('control'))))
    .description('run the control plane: Management API, edge API, overlay controller')
    .option('--data-dir <dir>', 'directory for the database and keys', 'frontdoor-data')
    .option(
      '--zone <zone>',
      'zone of public shares, which are served as <share>.<zone> (set on the first start)',
      'share.localhost',
    )
    .option('--public-url <template...>', 'URL template at which clients reach public shares', [
      'http://{host}:8080',
    ])
    .option(
      '--ctrl-host <host>',
      'host at which routers reach this control plane and no other, if --advertise begins with the name of a load balancer; default: the first host of --advertise; for example control-0.example.com',
    );
  // Options after the word "reset-admin" belong to that command, although they have the same names.
  return addMetricsOption(controlPorts(command, 'the Management API'), 'the control plane')
    .enablePositionalOptions()
    .action(
      configured<ControlCommandOptions>(run.io, CONFIG_SECTIONS.control, (options, parsed) =>
        run.control(checkMailOptions(parsed, options)),
      ),
    )
    .addCommand(resetAdminCommand(run));
}

function gatewayCommand(run: ServerRuns): Command {
  const command = addReadyOption(
    addLogOptions(addConfigOption(new Command('gateway'), 'the options of the gateway')),
  )
    .description('run a public gateway')
    .option(
      '--data-dir <dir>',
      'directory for the identity and the last valid share list',
      'frontdoor-gateway',
    )
    .option(
      '--enrollment-jwt <file>',
      'file with the token from "frontdoor fabric gateway create", for the first start; for example east.jwt',
    )
    .option('--listen <host>', 'address to listen on', '127.0.0.1')
    .addOption(port('--http-port <port>', 'public HTTP', 8080))
    .addOption(
      port(
        '--https-port <port>',
        'port of public HTTPS; needs --tls-cert and --tls-key, --tls-dir, or --acme-email',
        8443,
      ),
    )
    .option(
      '--tls-cert <file>',
      'default certificate (PEM), for names that have none in --tls-dir; for example fullchain.pem',
    )
    .addOption(tlsKey())
    .addOption(tlsDir())
    .addOption(publicHttpsPort())
    .addOption(trustedProxiesOption('the gateway'))
    .addOption(proxyProtocolOption())
    .addOption(h2cOption())
    .addOption(httpsRedirectOption())
    .addOption(passTlsOption())
    .addOption(
      new Option(
        '--workers <count>',
        'number of processes that share the ports; SIGUSR2 replaces them one by one',
      )
        .default(1)
        .argParser(wholeNumber(1, MAX_WORKERS)),
    )
    .addOption(perAddress())
    .addOption(responseTimeout());
  for (const option of sharePortOptions()) command.addOption(option);
  const observed = addObservationOptions(
    addAcmeOptions(addHeadOptions(command)),
    'the gateway (each of several workers at the next port)',
  );
  // Options after the word "dns-check" belong to that command, although they have the same names.
  return observed
    .enablePositionalOptions()
    .action(
      configured<GatewayCommandOptions>(run.io, CONFIG_SECTIONS.gateway, (options, parsed) => {
        checkProxyOptions(parsed, options);
        checkPassOptions(parsed, options);
        return run.gateway(options);
      }),
    )
    .addCommand(dnsCheckCommand(run.dnsCheck));
}

function controlPorts(command: Command, proxied: string): Command {
  return addAccessOptions(command, proxied)
    .addOption(port('--api-port <port>', 'Management API', 8081))
    .addOption(port('--edge-api-port <port>', 'port of the edge API, for agents, gateways and SDKs', 1280))
    .addOption(port('--ctrl-port <port>', 'port of the control channel, for routers', 6262))
    .addOption(interceptDomain())
    .option(
      '--api-cert <file>',
      'certificate of the Management API (PEM), required to listen beyond loopback; SIGHUP reloads it; for example api.pem',
    )
    .option('--api-key <file>', 'private key of that certificate (PEM); for example api.key')
    .addOption(
      new Option(
        '--own-api-cert <file>',
        "serve the Management API with a certificate of the installation's own authority, for the names of --advertise, and write that authority to the file, for the --ca of agents and commands; for example api-ca.pem",
      ).conflicts('apiCert'),
    );
}

function listening(command: Command): Command {
  return addReadyOption(addLogOptions(addConfigOption(command, 'the options of this program')))
    .option('--listen <host>', 'address to listen on', '127.0.0.1')
    .option(
      '--advertise <host...>',
      'host name or address that other machines connect to; if there are several, agents, gateways and SDKs use all of them, routers the first',
      ['localhost'],
    );
}

function tlsKey(): Option {
  return new Option('--tls-key <file>', 'private key of that certificate (PEM); for example privkey.pem');
}

function tlsDir(): Option {
  return new Option(
    '--tls-dir <dir>',
    'certificates by server name: NAME.crt (or .pem) with NAME.key, folders with fullchain.pem and privkey.pem; ' +
      'SIGHUP reloads them; for example /etc/frontdoor/tls',
  );
}

function publicHttpsPort(): Option {
  return new Option(
    '--public-https-port <port>',
    'public HTTPS port, as browsers see it, used for sign-in and callback URLs; default: the port that the gateway listens on; for example 443',
  ).argParser(wholeNumber(1, 65_535));
}

function perAddress(): Option {
  return new Option(
    '--max-connections-per-address <count>',
    'maximum number of client connections per address, or of requests at the same time through trusted proxies; for example 1000',
  ).argParser(wholeNumber(1, 1_000_000));
}

function responseTimeout(): Option {
  return new Option(
    '--response-timeout <seconds>',
    'time until the first byte of a service\'s response, for shares whose policy has no "responseTimeoutSeconds"; ' +
      `default: ${DEFAULT_RESPONSE_TIMEOUT_S}; for example 300`,
  ).argParser(wholeNumber(1, MAX_RESPONSE_TIMEOUT_S));
}

function port(flags: string, description: string, value: number): Option {
  return new Option(flags, `${description}; 0 selects a free one`)
    .default(value)
    .argParser(wholeNumber(0, 65_535));
}
