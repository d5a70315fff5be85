/**
 * `frontdoor up`: control plane, router and gateway in one process, joined as they would be on machines of their
 * own, but for the channels of the router to the control plane and to the gateway, which carry frames in memory.
 */
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { formatHostPort, FrontdoorError, messageOf, systemClock, type Clock, type Log } from '#base';
import { startControlPlane, type ControlPlane, type FirstStart, type LocalEnds } from '#control';
import type { Channel, ChannelOpener, MemoryPeer } from '#net/channel';
import { setAside } from '#net/files';
import {
  enrollRouterIdentity,
  identityProblem,
  loadRouterConfig,
  type Router,
  type RouterConfig,
} from '#router';
import { CertificateStore, type AcmeSettings, type GatewayLimits, type HeadLimits } from '#gateway';
import type { AccessSettings } from './access-options.ts';
import { openIssuer } from './automatic-certificates.ts';
import { gatewayIdentity, startGatewayPart } from './gateway-part.ts';
import { refuseTakenPorts, rememberedPorts, rememberPorts, type PortChoice } from './port-memory.ts';
import { startRouter, writeRouterFile } from './router-part.ts';
import { SharedPort, sharedNamesOf, type SharedNames } from './shared-port.ts';
import type { TlsFiles } from './tls-files.ts';

/** URLs leave it out. */
const HTTPS_PORT = 443;

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
  /** See `GatewayPartOptions`. */
  readonly redirectsToHttps?: boolean | undefined;
  /** At which ports of the gateway connections of trusted proxies begin with a PROXY header; by default at none. */
  readonly proxyProtocol?: { readonly http: boolean; readonly https: boolean } | undefined;
  readonly metrics?: { readonly host: string; readonly port: number } | undefined;
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

async function startParts(
  options: UpOptions,
  closers: ((drainMs: number) => Promise<void>)[],
  close: Up['close'],
): Promise<Up> {
  const { dataDir, listenHost, advertiseHost, ports, log, zone } = options;
  let httpPort = ports.http;
  let securePort = options.publicHttpsPort;
  const local: { ends?: LocalEnds; certificates?: CertificateStore } = {};
  const names = options.onePort === true ? sharedNamesOf(hostsOf(options), options.apiTls?.cert) : undefined;
  // HTTPS where browsers accept the certificate of the name, or of names below the zone.
  const frontendUrls = (host: string): string[] => {
    const plain = `http://${host}:${httpPort}`;
    const isSecure = local.certificates?.isProvided(host.replace('{token}', '*')) === true;
    return isSecure && securePort !== undefined ? [secureUrl(host, securePort), plain] : [plain];
  };
  const control = await startControlPlane({
    dataDir,
    localEnds: () => local.ends,
    listenHost,
    advertiseHost,
    moreAdvertiseHosts: options.moreAdvertiseHosts,
    apiPort: ports.api,
    edgeApiPort: ports.edgeApi,
    isEdgeApiPortShared: options.onePort,
    ctrlPort: ports.ctrl,
    database: options.database,
    copies: options.copies,
    zone,
    interceptDomain: options.interceptDomain,
    frontendUrls,
    securePort: () => securePort,
    log: log.child({ part: 'control' }),
    ...options.access,
    publicApiUrl: options.access?.publicApiUrl ?? publicApiUrlOf(names, ports.https),
    clock: options.clock,
    apiTls: options.apiTls,
    onFirstStart: options.onFirstStart,
  });
  closers.push(() => control.close());
  options.onControl?.(control);
  const shared =
    names &&
    (await SharedPort.open({
      host: listenHost,
      port: ports.https,
      tls: await control.frontendCertificate(zone),
      names,
      acceptEdge: (socket) => control.acceptEdge(socket),
      acceptApi: (socket) => control.acceptApi(socket),
      log,
    }));
  if (shared !== undefined) closers.push(() => shared.close());

  const { ctrlAddress } = control;
  const routerFile = await writeRouterFile({
    dataDir,
    listenHost,
    advertiseHost,
    edgePort: ports.edge,
    ctrlAddress,
  });
  const routerConfig = loadRouterConfig(routerFile);
  const isEnrolled = existsSync(routerConfig.identity.cert);
  const isDamaged =
    isEnrolled &&
    (await setDamagedAside(
      routerConfig,
      (options.clock ?? systemClock).nowMs(),
      log.child({ part: 'router' }),
    ));
  if (!isEnrolled || isDamaged) {
    const { token } = await control.createFabricNode('router', 'router');
    await enrollRouterIdentity({ config: routerConfig, jwt: token, force: false, log });
  }
  const router = await startRouter(routerFile, options.version, log.child({ part: 'router' }), {
    openChannel: inProcess((endpoint) =>
      endpoint === ctrlAddress ? (peer) => control.acceptRouter(peer) : undefined,
    ),
    sharedPort: shared?.tlsPort,
  }).catch((error: unknown) => {
    const hint = `port ${ports.edge} is taken: choose another with --edge-port, or any with --any-port`;
    throw portHint(error, () => hint);
  });
  closers.push(() => router.close());

  const gatewayDir = join(dataDir, 'gateway');
  mkdirSync(gatewayDir, { recursive: true, mode: 0o700 });
  const identity = await gatewayIdentity(
    gatewayDir,
    async () => (await control.createFabricNode('gateway', 'gateway')).token,
    {
      edgeApiUrl: control.edgeApiUrl,
      clock: options.clock ?? systemClock,
      log: log.child({ part: 'gateway' }),
    },
  );
  local.ends = { gatewayId: commonNameOf(identity.certPem), routerId: router.id };
  const openChannel = inProcess((name) =>
    name === router.id || name === 'router' ? (peer) => router.acceptMemory(peer) : undefined,
  );
  const gatewayLog = log.child({ part: 'gateway' });
  const certificates = await CertificateStore.open({
    folder: options.gatewayTlsDir,
    default: options.gatewayTls ?? (await control.frontendCertificate(zone)),
    isDefaultStandIn: options.gatewayTls === undefined,
    log: gatewayLog,
  });
  local.certificates = certificates;
  const { acme: settings, version } = options;
  const automatic =
    settings && (await openIssuer({ settings, dataDir: gatewayDir, certificates, version, log: gatewayLog }));
  const part = await startGatewayPart(identity, {
    dataDir: gatewayDir,
    plain: { host: listenHost, port: ports.http, hasProxyHeaders: options.proxyProtocol?.http },
    secure: {
      ...(shared?.forGateway ?? {
        host: listenHost,
        port: ports.https,
        hasProxyHeaders: options.proxyProtocol?.https,
      }),
      certificates,
      automatic,
    },
    proxies: options.access?.trustedProxies,
    redirectsToHttps: options.redirectsToHttps,
    openChannel,
    version,
    publicHttpsPort: options.publicHttpsPort,
    accessLog: options.accessLog,
    metrics: options.metrics,
    otherMetrics: [control.writeMetrics, router.writeMetrics],
    otherReadiness: control.readiness,
    readyListAgeMs: options.readyListAgeMs,
    log: gatewayLog,
    responseTimeoutMs: options.responseTimeoutMs,
    limits: options.gatewayLimits,
    maxConnectionsPerAddress: options.maxConnectionsPerAddress,
    heads: options.heads,
  }).catch((error: unknown) => {
    throw portHint(
      error,
      (message) => `${message}: choose others with --http-port and --https-port, or any with --any-port`,
    );
  });
  closers.push((drainMs) => part.close(drainMs));
  httpPort = part.gateway.plainPort ?? 0;
  const httpsPort = part.gateway.securePort ?? 0;
  securePort ??= part.gateway.securePort;
  await part.freshOrLate;
  // A later start with --any-port keeps them, and commands on this machine find the API by them.
  await rememberPorts(dataDir, {
    http: httpPort,
    https: httpsPort,
    api: Number(new URL(control.apiUrl).port),
    edgeApi: Number(new URL(control.edgeApiUrl).port || HTTPS_PORT),
    ctrl: Number(ctrlAddress.slice(ctrlAddress.lastIndexOf(':') + 1)),
    edge: router.edgePort,
  });
  const drainGateway = (drainMs: number): Promise<void> => part.drain(drainMs);
  const reload = (): Promise<void> => part.reload();
  const announceStop = (): void => part.announceStop();
  return {
    control,
    router,
    httpPort,
    httpsPort,
    firstStart: control.firstStart,
    announceStop,
    drainGateway,
    reload,
    close,
  };
}

/** Tokens and identities name the port, so it has to be known before anything starts. */
function onePortOf(ports: PortChoice): PortChoice {
  const { https } = ports;
  if (https !== 0) return { ...ports, edge: https, edgeApi: https };
  const message = '--one-port needs a port that stays the same: choose it with --https-port';
  throw new FrontdoorError('invalid', 'one-port-unknown', message);
}

function hostsOf({ advertiseHost, moreAdvertiseHosts = [] }: UpOptions): string[] {
  return [advertiseHost, ...moreAdvertiseHosts];
}

/** The Management API is reached under its first name, at the port that is shared. */
function publicApiUrlOf(names: SharedNames | undefined, port: number): AccessSettings['publicApiUrl'] {
  const name = names?.api[0];
  if (name === undefined) return undefined;
  return { url: new URL(`https://${formatHostPort(name, port)}`).origin, pathPrefix: '' };
}

/** Whether the router's identity was damaged or out of date, and has been set aside so that it can enroll again. */
async function setDamagedAside({ identity }: RouterConfig, nowMs: number, log: Log): Promise<boolean> {
  const cause = identityProblem(identity, nowMs);
  if (cause === undefined) return false;
  const files = [identity.cert, identity.serverCert, identity.key.reveal(), identity.ca];
  const movedTo: string[] = [];
  for (const file of files) {
    const moved = file === undefined ? undefined : await setAside(file);
    if (moved !== undefined) movedTo.push(moved);
  }
  log.warn({ cause, movedTo }, 'the identity of the router cannot be used: it enrolls again');
  return true;
}

function secureUrl(host: string, port: number): string {
  return port === HTTPS_PORT ? `https://${host}` : `https://${host}:${port}`;
}

type Accept = (peer: MemoryPeer) => Promise<Channel>;

/** Certificates of memory channels are proven here and nowhere else: this process holds their keys. */
function inProcess(acceptOf: (place: string) => Accept | undefined): ChannelOpener {
  return (place, helloId, helloHeaders, certPem) =>
    acceptOf(place)?.({ helloId, helloHeaders, certificate: new X509Certificate(certPem) });
}

function commonNameOf(certPem: string): string {
  return /^CN=(.+)$/m.exec(new X509Certificate(certPem).subject)?.[1] ?? '';
}

/** Adds the options that choose another port to the error of a taken port; returns any other error as it is. */
function portHint(error: unknown, hint: (message: string) => string): unknown {
  if (!(error instanceof FrontdoorError) || error.code !== 'port-taken') return error;
  return new FrontdoorError('conflict', 'port-taken', hint(messageOf(error)), { cause: error });
}
