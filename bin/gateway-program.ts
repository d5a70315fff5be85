/** `frontdoor gateway` in one process, from the options of its command: alone, or as one of several workers. */
import type { Log } from '#base';
import type { GatewayCommandOptions } from '#cli';
import {
  CertificateStore,
  DEFAULT_GATEWAY_LIMITS,
  type AcmeSettings,
  type CertificateSource,
  type KeptCertificate,
  type SharedPlace,
} from '#gateway';
import { outwardDialerOf } from '#net';
import type { IdentityFile } from '#net/files';
import { openIssuer } from './automatic-certificates.ts';
import type { AutomaticCertificates } from './gateway-demand.ts';
import { startGatewayPart, type GatewayPart } from './gateway-part.ts';
import { hasProxyHeaders, proxiesOf } from './proxy-options.ts';
import { tlsFilesOf } from './tls-files.ts';

/** What a supervisor gives to its worker. */
export interface WorkerPlace {
  /** Number of the worker, from 1. */
  readonly number: number;
  readonly workers: number;
  /** The worker's own folder, below the gateway's. */
  readonly dataDir: string;
  readonly plain: BoundPort;
  readonly secure: BoundPort | undefined;
  readonly ticketSecret: Uint8Array;
  /** The supervisor's copy, with which a worker starts though files are bad by now. Undefined when HTTPS is off. */
  readonly certificates: readonly KeptCertificate[] | undefined;
  /** Undefined when certificates are files alone. */
  readonly automatic: WorkerAutomatic | undefined;
}

export interface WorkerAutomatic {
  readonly thumbprint: string;
  readonly hasWildcards: boolean;
  /** The supervisor's issuer; the store gets what it obtains. */
  readonly source: (store: CertificateStore) => CertificateSource;
}

export interface BoundPort {
  readonly port: number;
  /** File descriptor of a socket that is bound to the port. */
  readonly fd: number;
}

export interface GatewayProgramOptions {
  readonly options: GatewayCommandOptions;
  /** Absolute path. */
  readonly dataDir: string;
  readonly identity: IdentityFile;
  readonly version: string;
  readonly log: Log;
  /** Undefined when certificates are files alone, and in a worker. */
  readonly acme?: AcmeSettings | undefined;
  readonly place?: WorkerPlace;
  /** The HTTPS port, if it is shared with connections that are passed on. */
  readonly securePlace?: SharedPlace | undefined;
}

/** Undefined when HTTPS is off. Without `lastGood` it rejects with `invalid`, which lists every problem of the files. */
export function openCertificates(
  options: Pick<GatewayCommandOptions, 'tlsCert' | 'tlsKey' | 'tlsDir' | 'acmeEmail'>,
  log: Log,
  lastGood?: readonly KeptCertificate[],
): Promise<CertificateStore | undefined> {
  const files = tlsFilesOf(options.tlsCert, options.tlsKey, '--tls-cert');
  const hasFiles = files !== undefined || options.tlsDir !== undefined;
  if (!hasFiles && options.acmeEmail === undefined) return Promise.resolve(undefined);
  return CertificateStore.open({ folder: options.tlsDir, default: files, lastGood, log });
}

export async function startGatewayProgram(program: GatewayProgramOptions): Promise<GatewayPart> {
  const { options, place, version, log } = program;
  const { listen: host, httpPort, httpsPort } = options;
  const certificates = await openCertificates(options, log, place?.certificates);
  if (certificates === undefined) log.info({}, 'no --tls-cert, --tls-dir or --acme-email: HTTPS is off');
  const automatic = certificates && (await automaticOf(program, certificates));
  const perAddress = options.maxConnectionsPerAddress ?? DEFAULT_GATEWAY_LIMITS.maxConnectionsPerAddress;
  return startGatewayPart(program.identity, {
    dataDir: place?.dataDir ?? program.dataDir,
    plain: {
      host,
      port: httpPort,
      ...place?.plain,
      hasProxyHeaders: hasProxyHeaders('http', options),
      speaksH2c: options.h2c,
    },
    ...(certificates === undefined
      ? {}
      : {
          secure: {
            host,
            port: httpsPort,
            ...place?.secure,
            hasProxyHeaders: hasProxyHeaders('https', options),
            ...program.securePlace,
            certificates,
            automatic,
          },
        }),
    sharePorts: {
      host,
      tcp: options.tcpPorts,
      udp: options.udpPorts,
      isShared: place !== undefined && place.workers > 1,
    },
    proxies: proxiesOf(options),
    redirectsToHttps: options.httpsRedirect !== 'off',
    publicHttpsPort: options.publicHttpsPort,
    accessLog: options.accessLog,
    metrics: metricsOf(options, place),
    readyListAgeMs: options.readyListAge * 1_000,
    responseTimeoutMs: options.responseTimeout === undefined ? undefined : options.responseTimeout * 1_000,
    heads: { maxBytes: options.maxHeaderBytes, maxFields: options.maxHeaderFields },
    // Connections of one address spread evenly over the workers.
    maxConnectionsPerAddress: Math.ceil(perAddress / (place?.workers ?? 1)),
    ...(place === undefined
      ? {}
      : {
          ticketSecret: place.ticketSecret,
          isIdentityKeptElsewhere: true,
          listensWhenFresh: true,
          leavesDomainsToOther: place.number !== 1,
        }),
    outward: outwardDialerOf(process.env),
    version,
    log,
  });
}

async function automaticOf(
  { acme, dataDir, place, version, log }: GatewayProgramOptions,
  certificates: CertificateStore,
): Promise<AutomaticCertificates | undefined> {
  if (place !== undefined) {
    const { automatic } = place;
    if (automatic === undefined) return undefined;
    const { thumbprint, hasWildcards } = automatic;
    return { thumbprint, hasWildcards, source: automatic.source(certificates) };
  }
  return acme && openIssuer({ settings: acme, dataDir, certificates, version, log });
}

/**
 * The metrics port of a worker: the second worker has the next port, and so on; 0 stays 0. A worker shares its port
 * with the worker that it replaces until that one has drained.
 */
function metricsOf({ metricsListen }: GatewayCommandOptions, place: WorkerPlace | undefined) {
  if (metricsListen === undefined || metricsListen.port === 0 || place === undefined) return metricsListen;
  return { ...metricsListen, port: metricsListen.port + place.number - 1, reusePort: true };
}
