/** `frontdoor gateway` in one process, from the options of its command: alone, or as one of several workers. */
import type { Log } from '#base';
import type { GatewayCommandOptions } from '#cli';
import { CertificateStore, DEFAULT_GATEWAY_LIMITS, type KeptCertificate } from '#gateway';
import type { IdentityFile } from '#net';
import { startGatewayPart, type GatewayPart } from './gateway-part.ts';
import { tlsFilesOf } from './tls-files.ts';

/** What a worker has from its supervisor. */
export interface WorkerPlace {
  /** From 1 on. */
  readonly number: number;
  readonly workers: number;
  /** Its own, below the gateway's. */
  readonly dataDir: string;
  readonly plain: BoundPort;
  readonly secure: BoundPort | undefined;
  readonly ticketSecret: Uint8Array;
  /** What the supervisor has: files that are bad by now keep no worker from starting. Undefined: HTTPS is off. */
  readonly certificates: readonly KeptCertificate[] | undefined;
}

export interface BoundPort {
  readonly port: number;
  /** Of a socket that is bound to it. */
  readonly fd: number;
}

export interface GatewayProgramOptions {
  readonly options: GatewayCommandOptions;
  /** Absolute. */
  readonly dataDir: string;
  readonly identity: IdentityFile;
  readonly version: string;
  readonly log: Log;
  readonly place?: WorkerPlace;
}

/** Undefined: HTTPS is off. Without `lastGood` it rejects with `invalid` that tells every problem of the files. */
export function openCertificates(
  options: Pick<GatewayCommandOptions, 'tlsCert' | 'tlsKey' | 'tlsDir'>,
  log: Log,
  lastGood?: readonly KeptCertificate[],
): Promise<CertificateStore | undefined> {
  const files = tlsFilesOf(options.tlsCert, options.tlsKey, '--tls-cert');
  if (files === undefined && options.tlsDir === undefined) return Promise.resolve(undefined);
  return CertificateStore.open({ folder: options.tlsDir, default: files, lastGood, log });
}

export async function startGatewayProgram(program: GatewayProgramOptions): Promise<GatewayPart> {
  const { options, place, version, log } = program;
  const { listen: host, httpPort, httpsPort } = options;
  const certificates = await openCertificates(options, log, place?.certificates);
  if (certificates === undefined) log.info({}, 'no --tls-cert or --tls-dir: HTTPS is off');
  const perAddress = options.maxConnectionsPerAddress ?? DEFAULT_GATEWAY_LIMITS.maxConnectionsPerAddress;
  return startGatewayPart(program.identity, {
    dataDir: place?.dataDir ?? program.dataDir,
    plain: { host, port: httpPort, ...place?.plain },
    ...(certificates === undefined
      ? {}
      : { secure: { host, port: httpsPort, ...place?.secure, certificates } }),
    publicHttpsPort: options.publicHttpsPort,
    accessLog: options.accessLog,
    metrics: metricsOf(options, place),
    responseTimeoutMs: options.responseTimeout === undefined ? undefined : options.responseTimeout * 1_000,
    // Connections of one address spread evenly over the workers.
    maxConnectionsPerAddress: Math.ceil(perAddress / (place?.workers ?? 1)),
    ...(place === undefined
      ? {}
      : { ticketSecret: place.ticketSecret, isIdentityKeptElsewhere: true, listensWhenFresh: true }),
    version,
    log,
  });
}

/**
 * Of the second worker at the next port, and so on; any port is any port. A worker shares it with the one that it
 * replaces, until that one has drained.
 */
function metricsOf({ metricsListen }: GatewayCommandOptions, place: WorkerPlace | undefined) {
  if (metricsListen === undefined || metricsListen.port === 0 || place === undefined) return metricsListen;
  return { ...metricsListen, port: metricsListen.port + place.number - 1, reusePort: true };
}
