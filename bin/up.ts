/**
 * `frontdoor up`: control plane, router and gateway in one process, joined as they would be on machines of their
 * own, but for the channels of the router to the control plane and to the gateway, which carry frames in memory.
 */
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { FrontdoorError, messageOf, systemClock, type Clock, type Log } from '#base';
import { startControlPlane, type ControlPlane, type FirstStart, type LocalEnds } from '#control';
import type { SharePortRange } from '#domain/gateway-shapes';
import type { OutwardDialer } from '#net';
import { enrollRouterIdentity, loadRouterConfig, type Router } from '#router';
import { CertificateStore, type AcmeSettings, type GatewayLimits, type HeadLimits } from '#gateway';
import type { AccessSettings } from './access-options.ts';
import { apiNamesOf, followApiCertificate } from './api-certificate.ts';
import { openIssuer } from './automatic-certificates.ts';
import type { AutomaticCertificates } from './gateway-demand.ts';
import {
  gatewayIdentity,
  startGatewayPart,
  type GatewayPart,
  type GatewayPartOptions,
} from './gateway-part.ts';
import { dialerToItself, inProcess } from './in-process.ts';
import { refuseTakenPorts, rememberedPorts, rememberPorts, type PortChoice } from './port-memory.ts';
import { setDamagedAside, startRouter, writeRouterFile } from './router-part.ts';
import { SharedPort, sharedNamesOf, type SharedNames } from './shared-port.ts';
import type { TlsFiles } from './tls-files.ts';
import { HTTPS_PORT, onePortOf, publicApiUrlOf, secureUrl } from './up-addresses.ts';

export interface UpOptions {
  readonly dataDir: string;
  readonly listenHost: string;
  readonly advertiseHost: string;
  /** See `ControlPlaneOptions`. */
  readonly moreAdvertiseHosts?: readonly string[] | undefined;
  readonly ports: PortChoice;
  /** Free ports, and those of the last start, for all that `givenPorts` does not name. */
  readonly anyPort: boolean;
  /** Router, edge API, Management API and gateway share the port of HTTPS. */
  readonly onePort?: boolean | undefined;
  readonly givenPorts?: Partial<PortChoice> | undefined;
  /** URL of a PostgreSQL database; an embedded one in `dataDir` when absent. */
  readonly database?: string | undefined;
  /** Copies of the database from before migrations. */
  readonly copies?: Parameters<typeof startControlPlane>[0]['copies'];
  readonly zone: string;
  /** See `ControlPlaneOptions`. */
  readonly interceptDomain?: string | undefined;
  /** Issuers, networks and limits of the control plane. */
  readonly access?: AccessSettings | undefined;
  readonly apiTls?: { readonly cert: string; readonly key: string };
  /** See `ControlPlaneOptions`. */
  readonly ownApiAuthorityFile?: string | undefined;
  /** The Management API has the gateway's certificate of this name, at the shared port. */
  readonly apiName?: string | undefined;
  /** Folder of certificates by server name. */
  readonly gatewayTlsDir?: string | undefined;
  /** Certificate for other names; one of the installation's own authority when absent. */
  readonly gatewayTls?: TlsFiles | undefined;
  /** Undefined: the gateway obtains no certificates. */
  readonly acme?: AcmeSettings | undefined;
  readonly maxConnectionsPerAddress?: number | undefined;
  readonly heads?: HeadLimits | undefined;
  /** Response timeout of services whose policy names none; undefined: the gateway's default. */
  readonly responseTimeoutMs?: number | undefined;
  /** Access log of the gateway. */
  readonly accessLog?: string | undefined;
  /** The port of HTTPS as browsers see it, where it differs from the gateway's. */
  readonly publicHttpsPort?: number | undefined;
  /** Ports for shares that do not speak HTTP; undefined: none. */
  readonly tcpPorts?: SharePortRange | undefined;
  readonly udpPorts?: SharePortRange | undefined;
  /** See `GatewayPartOptions`. */
  readonly redirectsToHttps?: boolean | undefined;
  /** At which ports of the gateway connections of trusted proxies begin with a PROXY header; by default at none. */
  readonly proxyProtocol?: { readonly http: boolean; readonly https: boolean } | undefined;
  readonly metrics?: { readonly host: string; readonly port: number } | undefined;
  readonly h2c?: boolean | undefined; // HTTP/2 at the port of HTTP, too.
  /** As in `GatewayPartOptions`. */
  readonly readyListAgeMs?: number | undefined;
  /** Bounds that replace the gateway's defaults; the command line has no option for them. */
  readonly gatewayLimits?: Partial<GatewayLimits> | undefined;
  readonly version: string;
  /** Shows or keeps the secrets of a first start, before anything else can fail. */
  readonly onFirstStart?: ((first: FirstStart) => Promise<void> | void) | undefined;
  /** Called when the control plane serves, before the router and the gateway start. */
  readonly onControl?: ((control: ControlPlane) => void) | undefined;
  /** The control plane's clock; the system's when absent. */
  readonly clock?: Clock | undefined;
  readonly log: Log;
}

export interface Up {
  readonly control: ControlPlane;
  readonly router: Router;
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly firstStart: FirstStart | undefined;
  /** From now on it is not ready, and serves as before. */
  announceStop(): void;
  /** The gateway takes nothing new and lets requests finish. */
  drainGateway(drainMs: number): Promise<void>;
  /** The gateway reads its files again. */
  reload(): Promise<void>;
  close(drainMs: number): Promise<void>;
}

/** @throws FrontdoorError that names the obstacle and the options that avoid it. */
export async function startUp(options: UpOptions): Promise<Up> {
  const { anyPort, givenPorts = {}, dataDir, listenHost } = options;
  await refuseTakenPorts(anyPort ? givenPorts : options.ports, listenHost);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const chosen = anyPort
    ? await rememberedPorts(dataDir, listenHost, options.log, givenPorts)
    : options.ports;
  const ports = options.onePort === true ? onePortOf(chosen) : chosen;
  const closers: ((drainMs: number) => Promise<void>)[] = [];
  const close = async (drainMs: number): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer(drainMs);
  };
  try {
    const up = await startParts({ ...options, ports }, closers, close);
    let closing: Promise<void> | undefined;
    return {
      ...up,
      close: (drainMs) => {
        // A second signal cuts the gateway's drain short.
        if (closing !== undefined) void up.drainGateway(drainMs);
        closing ??= close(drainMs);
        return closing;
      },
    };
  } catch (error) {
    await close(0);
    throw error;
  }
}

/** What parts learn from others that start after them. */
interface Starting {
  readonly options: UpOptions;
  readonly closers: ((drainMs: number) => Promise<void>)[];
  ends: LocalEnds | undefined;
  certificates: CertificateStore | undefined;
  httpPort: number;
  securePort: number | undefined;
}

async function startParts(options: UpOptions, closers: Starting['closers'], close: Up['close']): Promise<Up> {
  const { dataDir, ports, publicHttpsPort: securePort } = options;
  const starting: Starting = {
    options,
    closers,
    ends: undefined,
    certificates: undefined,
    httpPort: ports.http,
    securePort,
  };
  const names = options.onePort === true ? sharedNamesOf(hostsOf(options), apiNamesOf(options)) : undefined;
  const control = await startControl(starting, names);
  const edgeApiPort = Number(new URL(control.edgeApiUrl).port || HTTPS_PORT);
  const outward = dialerToItself(hostsOf(options), edgeApiPort, options.listenHost);
  const shared = names && (await openSharedPort(starting, control, names));
  const router = await startOwnRouter(starting, { control, shared, outward });
  const part = await startOwnGateway(starting, { control, router, shared, outward });
  const httpPort = part.gateway.plainPort ?? 0;
  const httpsPort = part.gateway.securePort ?? 0;
  starting.httpPort = httpPort;
  starting.securePort ??= part.gateway.securePort;
  await part.freshOrLate;
  // A later start with --any-port keeps them, and commands on this machine find the API by them.
  await rememberPorts(dataDir, {
    http: httpPort,
    https: httpsPort,
    api: Number(new URL(control.apiUrl).port),
    edgeApi: edgeApiPort,
    ctrl: Number(control.ctrlAddress.slice(control.ctrlAddress.lastIndexOf(':') + 1)),
    edge: router.edgePort,
  });
  return {
    control,
    router,
    httpPort,
    httpsPort,
    firstStart: control.firstStart,
    announceStop: () => part.announceStop(),
    drainGateway: (drainMs) => part.drain(drainMs),
    reload: () => part.reload(),
    close,
  };
}

async function startControl(starting: Starting, names: SharedNames | undefined): Promise<ControlPlane> {
  const { options, closers } = starting;
  const { ports, access } = options;
  const control = await startControlPlane({
    dataDir: options.dataDir,
    version: options.version,
    localEnds: () => starting.ends,
    listenHost: options.listenHost,
    advertiseHost: options.advertiseHost,
    moreAdvertiseHosts: options.moreAdvertiseHosts,
    apiPort: ports.api,
    edgeApiPort: ports.edgeApi,
    isEdgeApiPortShared: options.onePort,
    ctrlPort: ports.ctrl,
    database: options.database,
    copies: options.copies,
    zone: options.zone,
    interceptDomain: options.interceptDomain,
    frontendUrls: (host) => frontendUrls(starting, host),
    securePort: () => starting.securePort,
    log: options.log.child({ part: 'control' }),
    ...access,
    publicApiUrl: access?.publicApiUrl ?? publicApiUrlOf(names, ports.https),
    clock: options.clock,
    apiTls: options.apiTls,
    ownApiAuthorityFile: options.ownApiAuthorityFile,
    apiName: options.apiName,
    onFirstStart: options.onFirstStart,
  });
  closers.push(() => control.close());
  options.onControl?.(control);
  return control;
}

/** HTTPS where browsers accept the certificate of the name, or of names below the zone. */
function frontendUrls({ certificates, httpPort, securePort }: Starting, host: string): string[] {
  const plain = `http://${host}:${httpPort}`;
  const isSecure = certificates?.isProvided(host.replace('{token}', '*')) === true;
  return isSecure && securePort !== undefined ? [secureUrl(host, securePort), plain] : [plain];
}

async function openSharedPort(
  { options, closers }: Starting,
  control: ControlPlane,
  names: SharedNames,
): Promise<SharedPort> {
  const shared = await SharedPort.open({
    host: options.listenHost,
    port: options.ports.https,
    tls: await control.frontendCertificate(options.zone),
    names,
    acceptEdge: (socket) => control.acceptEdge(socket),
    acceptApi: (socket) => control.acceptApi(socket),
    log: options.log,
  });
  closers.push(() => shared.close());
  return shared;
}

async function startOwnRouter(
  { options, closers }: Starting,
  { control, shared, outward }: Omit<GatewayPeers, 'router'>,
): Promise<Router> {
  const { dataDir, listenHost, advertiseHost, ports } = options;
  const { ctrlAddress } = control;
  const log = options.log.child({ part: 'router' });
  const file = { dataDir, listenHost, advertiseHost, edgePort: ports.edge, ctrlAddress };
  const routerFile = await writeRouterFile(file);
  const config = loadRouterConfig(routerFile);
  const isEnrolled = existsSync(config.identity.cert);
  const nowMs = (options.clock ?? systemClock).nowMs();
  if (!isEnrolled || (await setDamagedAside(config, nowMs, log))) {
    const { token } = await control.createFabricNode('router', 'router');
    await enrollRouterIdentity({
      config,
      jwt: token,
      force: false,
      log: options.log,
      outward,
    });
  }
  const router = await startRouter(routerFile, options.version, log, {
    openChannel: inProcess((endpoint) =>
      endpoint === ctrlAddress ? (peer) => control.acceptRouter(peer) : undefined,
    ),
    sharedPort: shared?.tlsPort,
  }).catch((error: unknown) => {
    const hint = `port ${ports.edge} is taken: choose another with --edge-port, or any with --any-port`;
    throw portHint(error, () => hint);
  });
  closers.push(() => router.close());
  return router;
}

interface GatewayPeers {
  readonly control: ControlPlane;
  readonly router: Router;
  readonly shared: SharedPort | undefined;
  /** To the control plane. */
  readonly outward: OutwardDialer;
}

/** What only its gateway has. */
interface GatewayOwn {
  readonly dataDir: string;
  readonly certificates: CertificateStore;
  readonly automatic: AutomaticCertificates | undefined;
  readonly log: Log;
}

async function startOwnGateway(starting: Starting, peers: GatewayPeers): Promise<GatewayPart> {
  const { options, closers } = starting;
  const { control, router, outward } = peers;
  const log = options.log.child({ part: 'gateway' });
  const dataDir = join(options.dataDir, 'gateway');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const tokenOf = async (): Promise<string> => (await control.createFabricNode('gateway', 'gateway')).token;
  const clock = options.clock ?? systemClock;
  const own = { edgeApiUrl: control.edgeApiUrl, clock, log };
  const identity = await gatewayIdentity(dataDir, tokenOf, own, outward);
  starting.ends = { gatewayId: commonNameOf(identity.certPem), routerId: router.id };
  const certificates = await CertificateStore.open({
    folder: options.gatewayTlsDir,
    default: options.gatewayTls ?? (await control.frontendCertificate(options.zone)),
    isDefaultStandIn: options.gatewayTls === undefined,
    log,
  });
  starting.certificates = certificates;
  const { acme: settings, version, apiName } = options;
  const issuer = settings && (await openIssuer({ settings, dataDir, certificates, version, log }));
  const automatic = issuer && { ...issuer, ownHosts: apiName === undefined ? [] : [apiName] };
  const part = await startGatewayPart(
    identity,
    gatewayPartOptions(options, peers, { dataDir, certificates, automatic, log }),
  ).catch((error: unknown) => {
    throw portHint(
      error,
      (message) => `${message}: choose others with --http-port and --https-port, or any with --any-port`,
    );
  });
  closers.push((drainMs) => part.close(drainMs));
  if (apiName !== undefined) followApiCertificate(apiName, control, certificates, automatic);
  return part;
}

function gatewayPartOptions(
  options: UpOptions,
  { control, router, shared, outward }: GatewayPeers,
  { dataDir, certificates, automatic, log }: GatewayOwn,
): GatewayPartOptions {
  const { listenHost: host, ports, proxyProtocol } = options;
  const ownPort = { host, port: ports.https, hasProxyHeaders: proxyProtocol?.https };
  return {
    dataDir,
    plain: { host, port: ports.http, hasProxyHeaders: proxyProtocol?.http, speaksH2c: options.h2c },
    secure: { ...(shared?.forGateway ?? ownPort), certificates, automatic },
    proxies: options.access?.trustedProxies,
    sharePorts: { host, tcp: options.tcpPorts, udp: options.udpPorts, isShared: false },
    redirectsToHttps: options.redirectsToHttps,
    openChannel: inProcess((name) =>
      name === router.id || name === 'router' ? (peer) => router.acceptMemory(peer) : undefined,
    ),
    outward,
    version: options.version,
    publicHttpsPort: options.publicHttpsPort,
    accessLog: options.accessLog,
    metrics: options.metrics,
    otherMetrics: [control.writeMetrics, router.writeMetrics],
    otherReadiness: control.readiness,
    readyListAgeMs: options.readyListAgeMs,
    log,
    responseTimeoutMs: options.responseTimeoutMs,
    limits: options.gatewayLimits,
    maxConnectionsPerAddress: options.maxConnectionsPerAddress,
    heads: options.heads,
  };
}

function hostsOf({ advertiseHost, moreAdvertiseHosts = [] }: UpOptions): string[] {
  return [advertiseHost, ...moreAdvertiseHosts];
}

function commonNameOf(certPem: string): string {
  return /^CN=(.+)$/m.exec(new X509Certificate(certPem).subject)?.[1] ?? '';
}

/** Adds the options that choose another port to the error of a taken port; returns any other error as it is. */
function portHint(error: unknown, hint: (message: string) => string): unknown {
  if (!(error instanceof FrontdoorError) || error.code !== 'port-taken') return error;
  return new FrontdoorError('conflict', 'port-taken', hint(messageOf(error)), { cause: error });
}
