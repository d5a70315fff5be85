/** The gateway with its overlay identity: enrolled once, attached to routers, fed with the shares to serve. */
import { randomBytes, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { definedFields, FrontdoorError, validityProblem, type Clock, type Log } from '#base';
import {
  type CertificateDemand,
  createGateway,
  DomainCertificates,
  DEFAULT_GATEWAY_LIMITS,
  GatewayAccess,
  headLimits,
  Observation,
  openShareFeed,
  startTrafficReporter,
  TICKET_SECRET_BYTES,
  writeGatewayMetrics,
  type CertificateStore,
  type Gateway,
  type GatewayLimits,
  type HeadLimits,
  type SharedPlace,
  type PortAddress,
  type TlsSettings,
} from '#gateway';
import type { IpNetwork } from '#domain';
import { descriptorLimit, validityOf, waitAtMost, type OutwardDialer } from '#net';
import type { ChannelOpener } from '#net/channel';
import { loadIdentityFile, saveIdentityFile, setAside, type IdentityFile } from '#net/files';
import type { TextEndpoint } from '#net/http';
import {
  ProgramHealth,
  openMetricsEndpoint,
  type Exposition,
  type MetricsAddress,
  type MetricsWriter,
  type ReadinessCheck,
  writeBuildInformation,
} from '#net/metrics';
import {
  CONTROL_PLANES_FILE,
  EdgeApiClient,
  enrollIdentity,
  GatewayApiClient,
  KeptControlPlanes,
  OverlayClient,
  IdentityRenewal,
} from '#sdk';
import { portPlacesOf, type ShareRanges } from './share-ports.ts';
import { challengesOf, demandOf, nameOwner, type AutomaticCertificates } from './gateway-demand.ts';
import { writeConnectionMetrics } from './metrics-option.ts';

export interface GatewayPartOptions {
  /** Folder of the last good share list, and of the identity file unless the supervisor keeps it. */
  readonly dataDir: string;
  readonly plain?: PortAddress | undefined;
  readonly secure?: (PortAddress | SharedPlace) & {
    readonly certificates: CertificateStore;
    /** Undefined: certificates are files alone. */
    readonly automatic?: AutomaticCertificates | undefined;
  };
  /** Ports for shares that do not speak HTTP; undefined: none. */
  readonly sharePorts?: ShareRanges | undefined;
  /** The port of HTTPS as browsers see it, where it differs from the one listened on. */
  readonly publicHttpsPort?: number | undefined;
  /** Proxies in front of the gateway; undefined: none is trusted. */
  readonly proxies?: readonly IpNetwork[] | undefined;
  /** Whether requests over plain HTTP are redirected where a name has a certificate; true by default. */
  readonly redirectsToHttps?: boolean | undefined;
  /** Secret that seals the tickets of TLS sessions; gateways that share it resume each other's sessions. */
  /** Opens the connections to control planes and routers; by default directly. */
  readonly outward?: OutwardDialer | undefined;
  readonly ticketSecret?: Uint8Array | undefined;
  /** Whether the supervisor renews the identity and passes it to `useIdentity`. */
  readonly isIdentityKeptElsewhere?: boolean | undefined;
  /** Whether ports open only when the control plane has sent the shares, or is late; others serve until then. */
  readonly listensWhenFresh?: boolean | undefined;
  /** Whether another process of the gateway reports the certificates of shares' domains. */
  readonly leavesDomainsToOther?: boolean | undefined;
  readonly openChannel?: ChannelOpener | undefined;
  readonly maxConnectionsPerAddress?: number | undefined;
  readonly heads?: HeadLimits | undefined;
  /** Response timeout of services whose policy names none; undefined: the gateway's default. */
  readonly responseTimeoutMs?: number | undefined;
  /** A file, or `-` for standard output; undefined writes no access log. */
  readonly accessLog?: string | undefined;
  /** Address of the metrics endpoint; undefined opens none. */
  readonly metrics?: MetricsAddress | undefined;
  /** Metrics of other parts in this process, served at the same address. */
  readonly otherMetrics?: readonly MetricsWriter[] | undefined;
  /** What else has to be ready in this process. */
  readonly otherReadiness?: readonly ReadinessCheck[] | undefined;
  /** Age of the last message of a control plane at which the gateway is no longer ready. */
  readonly readyListAgeMs?: number | undefined;
  /** Bounds that replace the defaults; the command line has no option for them. */
  readonly limits?: Partial<GatewayLimits> | undefined;
  readonly version: string;
  readonly log: Log;
}

export interface GatewayPart {
  readonly gateway: Gateway;
  /** Undefined when HTTPS is off. */
  readonly certificates: CertificateStore | undefined;
  /** Resolves to true when a control plane has sent the shares; to false when it is late and the last good list serves. */
  readonly freshOrLate: Promise<boolean>;
  /** Takes a renewed certificate of the same identity. */
  useIdentity(identity: IdentityFile): Promise<void>;
  /** Reads its files again and keeps all connections. It never rejects: a bad file is logged and the old one stays. */
  reload(): Promise<void>;
  /** From now on the gateway is not ready. It serves as before. */
  announceStop(): void;
  /** Refuses new requests and lets others finish. A second call without a time, or `close`, cuts what is left. */
  drain(drainMs: number): Promise<void>;
  close(drainMs: number): Promise<void>;
}

const FRESH_MS = 10_000;
const READY_LIST_AGE_MS = 3_600_000;
/** Time for the last traffic report, shorter than a stop may take. */
const LAST_REPORT_MS = 2_500;
export const IDENTITY_FILE = 'identity.json';

const REMADE: ReadonlySet<string> = new Set(['identity-file-damaged', 'identity-out-of-date']);

/** Loads the gateway's identity, or enrolls it with `enroll`'s JWT. An address that has moved is replaced by `edgeApiUrl`. */
export async function gatewayIdentity(
  dataDir: string,
  enroll: () => Promise<string>,
  /** Given if the gateway can enroll by itself. */
  own?: { readonly edgeApiUrl: string; readonly clock: Clock; readonly log: Log },
  outward?: OutwardDialer,
): Promise<IdentityFile> {
  const path = join(dataDir, IDENTITY_FILE);
  let identity: IdentityFile;
  try {
    identity = await loadIdentityFile(path);
    if (own !== undefined) checkDates(path, identity, own.clock.nowMs());
  } catch (error) {
    if (!(error instanceof FrontdoorError)) throw error;
    const isRemade = own !== undefined && REMADE.has(error.code);
    if (isRemade)
      own.log.warn(
        { cause: error.message, movedTo: await setAside(path) },
        'the identity of the gateway cannot be used: it enrolls again',
      );
    else if (error.code !== 'identity-file-missing') throw error;
    ({ identity } = await enrollIdentity({ jwt: await enroll(), name: 'gateway', outward }));
    await saveIdentityFile(path, identity);
  }
  if (own === undefined || identity.apiUrl === own.edgeApiUrl) return identity;
  const moved = { ...identity, apiUrl: own.edgeApiUrl };
  await saveIdentityFile(path, moved);
  return moved;
}

/** Its certificate could not be renewed in time, or it was issued while the clock was wrong. */
function checkDates(path: string, { certPem }: IdentityFile, nowMs: number): void {
  const problem = validityProblem(validityOf(new X509Certificate(certPem)), nowMs);
  if (problem === undefined) return;
  const message = `the certificate of identity file ${path} ${problem}`;
  throw new FrontdoorError('invalid', 'identity-out-of-date', message);
}

export async function startGatewayPart(
  identity: IdentityFile,
  options: GatewayPartOptions,
): Promise<GatewayPart> {
  const part = new RunningGateway(options, await openParts(identity, options));
  try {
    await part.start();
  } catch (error) {
    await part.close(0);
    throw error;
  }
  return part;
}

type OpenParts = Awaited<ReturnType<typeof openParts>>;

async function openParts(identity: IdentityFile, options: GatewayPartOptions) {
  const { dataDir, log, version, secure, outward, openChannel } = options;
  const controlPlanes = await KeptControlPlanes.load(join(dataDir, CONTROL_PLANES_FILE), log);
  const api = new EdgeApiClient({ identity, log, version, configTypes: [], controlPlanes, outward });
  const control = new GatewayApiClient(api.connection);
  const overlay = new OverlayClient({ api, log, name: 'gateway', openChannel });
  const domains =
    secure === undefined || options.leavesDomainsToOther === true
      ? undefined
      : new DomainCertificates({ table: () => gateway.table, certificates: secure.certificates });
  // The TLS listener and access control depend on each other: the guards of a share decide which certificate the
  // handshake requests.
  const access = new GatewayAccess({
    control,
    publicHttpsPort: () => options.publicHttpsPort ?? gateway.securePort,
    isCertified:
      options.redirectsToHttps === false
        ? undefined
        : (host) => secure?.certificates.isProvided(host) === true,
    certifiedZones: () =>
      access.kept().zones.filter((zone) => secure?.certificates.isCertified(zone) === true),
    domains: domains && (() => domains.next()),
    onZonesChanged: () => demand?.check(),
    tcpPorts: options.sharePorts?.tcp,
    udpPorts: options.sharePorts?.udp,
    log,
  });
  const ownHosts = secure?.automatic?.ownHosts;
  const ownerOf = (host: string) => nameOwner(gateway.table, access.loginHosts, ownHosts, host);
  const demand = demandOf(secure, ownerOf, () => access.kept().zones);
  const automatic = secure?.automatic;
  // A custom frontend is active from now on, and not only after the next report.
  automatic?.source.follow((event) => {
    const isNews = domains?.note(event) === true;
    if (isNews || event.outcome === 'obtained') access.reportUsageSoon();
  });
  const observation = new Observation({
    reportFailures: (failures) => control.reportFailures(failures),
    reportInspections: (inspected) => control.reportInspections(inspected),
    reportRequests: (requests) => control.reportRequests(requests),
    provider: (id) => access.provider(id),
    accessLog: options.accessLog,
    hasMetrics: options.metrics !== undefined,
    log,
  });
  const tls = secure && tlsSettings(secure.certificates, () => gateway.table, options.ticketSecret, demand);
  const gateway: Gateway = createGateway({
    dialer: overlay,
    access,
    proxies: options.proxies,
    challenges: automatic && challengesOf(automatic, ownerOf),
    observer: observation.observer,
    log,
    limits: limitsOf(options),
    plain: options.plain,
    ports: options.sharePorts && portPlacesOf(options.sharePorts),
    secure: secure && tls && { ...secure, tls },
  });
  const renewal =
    options.isIdentityKeptElsewhere === true
      ? undefined
      : new IdentityRenewal({ client: api, path: join(dataDir, IDENTITY_FILE), log });
  const feed = await openShareFeed({
    table: gateway.table,
    access,
    onReplay: (command) => void gateway.replay(command)?.then((inspected) => observation.replayed(inspected)),
    subscribe: (subscription) => control.subscribeGatewayFeed(subscription),
    snapshotFile: join(dataDir, 'shares.json'),
    log,
  });
  const reporter = startTrafficReporter({
    meter: gateway.traffic,
    send: (report) => control.reportTraffic(report),
    log,
  });
  return { api, overlay, access, demand, observation, gateway, renewal, feed, reporter };
}

class RunningGateway implements GatewayPart {
  readonly gateway: Gateway;
  readonly certificates: CertificateStore | undefined;
  readonly freshOrLate: Promise<boolean>;
  readonly #options: GatewayPartOptions;
  readonly #parts: OpenParts;
  readonly #health: ProgramHealth;
  #metrics: TextEndpoint | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: GatewayPartOptions, parts: OpenParts) {
    this.#options = options;
    this.#parts = parts;
    this.#health = new ProgramHealth(options.version);
    this.gateway = parts.gateway;
    this.certificates = options.secure?.certificates;
    this.freshOrLate = waitAtMost(parts.feed.fresh, FRESH_MS);
    void this.freshOrLate.then((isFresh) => {
      if (isFresh) return;
      const tell = (): void => options.log.info({}, 'a control plane has sent the shares: gateway is up');
      void parts.feed.fresh.then(tell);
    });
  }

  async start(): Promise<void> {
    const { metrics, listensWhenFresh, otherReadiness = [] } = this.#options;
    if (metrics !== undefined) await this.#openMetrics(metrics);
    if (listensWhenFresh === true) await this.freshOrLate;
    await this.gateway.listen();
    // Shares get ports of this gateway from now on, or no longer.
    void this.#parts.access.reportUsage();
    // From now on challenges of the certificate authority are answered.
    this.#parts.demand?.check();
    const shares = (): ReadinessCheck => listReadiness(this.#parts.feed, this.#options);
    void this.freshOrLate.then(() => this.#health.add(shares(), ...otherReadiness));
  }

  async useIdentity(renewed: IdentityFile): Promise<void> {
    this.#parts.api.useIdentity(renewed);
    await this.#parts.api.session();
  }

  async reload(): Promise<void> {
    this.#parts.observation.reopen();
    await this.certificates?.reload();
    this.#parts.demand?.retry();
  }

  announceStop(): void {
    this.#health.stop();
  }

  async drain(drainMs: number): Promise<void> {
    this.#health.stop();
    await this.gateway.close({ drainMs });
    await this.#parts.reporter.report(LAST_REPORT_MS);
  }

  close(drainMs: number): Promise<void> {
    if (this.#closing !== undefined) void this.gateway.close({ drainMs });
    this.#closing ??= this.#closeAll(drainMs);
    return this.#closing;
  }

  async #closeAll(drainMs: number): Promise<void> {
    const { api, overlay, access, demand, observation, renewal, feed, reporter } = this.#parts;
    this.#health.stop();
    demand?.close();
    await this.#options.secure?.automatic?.source.close();
    await this.gateway.close({ drainMs });
    await Promise.all([reporter.close(LAST_REPORT_MS), observation.close(LAST_REPORT_MS)]);
    await this.#metrics?.close();
    renewal?.close();
    await feed.close();
    await access.close();
    overlay.close();
    await api.close();
  }

  async #openMetrics(address: MetricsAddress): Promise<void> {
    const { log, version, otherMetrics = [] } = this.#options;
    const { api, overlay, demand, observation, feed } = this.#parts;
    const lastContactMs = (): number => feed.lastContactMs;
    const own: MetricsWriter = (to) => {
      writeGatewayMetrics(to, { gateway: this.gateway, observation, lastContactMs });
      demand?.write(to);
      this.certificates?.write(to);
      writeConnectionMetrics(to, 'gateway', overlay, api.identity.certPem);
    };
    const writers = [(to: Exposition) => writeBuildInformation(to, version), own, ...otherMetrics];
    this.#metrics = await openMetricsEndpoint(address, writers, log, this.#health);
    log.info({ host: address.host, port: this.#metrics.port }, 'metrics are served');
  }
}

function limitsOf(options: GatewayPartOptions): Partial<GatewayLimits> {
  return {
    maxConnections: connectionLimit(descriptorLimit()),
    ...options.limits,
    ...headLimits(options.heads ?? {}),
    ...definedFields({
      maxConnectionsPerAddress: options.maxConnectionsPerAddress,
      answerTimeoutMs: options.responseTimeoutMs,
    }),
  };
}

/** A quarter of the descriptors is left for everything else, so that surplus clients are refused before none is left. */
function connectionLimit(descriptors = Infinity): number {
  return Math.min(DEFAULT_GATEWAY_LIMITS.maxConnections, Math.max(1, Math.floor(descriptors * 0.75)));
}

/** The list of shares may be the kept one, which serves while no control plane responds, but not for any time. */
function listReadiness(
  feed: { readonly lastContactMs: number },
  { readyListAgeMs = READY_LIST_AGE_MS }: GatewayPartOptions,
): ReadinessCheck {
  const startedMs = Date.now();
  const isReady = (): boolean => Date.now() - Math.max(startedMs, feed.lastContactMs) <= readyListAgeMs;
  return { name: 'shares', isReady };
}

function tlsSettings(
  certificates: CertificateStore,
  table: () => Gateway['table'],
  ticketSecret: Uint8Array = randomBytes(TICKET_SECRET_BYTES),
  demand?: CertificateDemand,
): TlsSettings {
  return {
    certificateFor: (serverName, authorities) => certificates.certificateFor(serverName, authorities),
    get defaultCertificate() {
      return certificates.defaultCertificate;
    },
    onChange: (listener) => certificates.onChange(listener),
    clientAuthorities: (serverName) => table().clientAuthorities(serverName),
    hasClientAuthorities: () => table().hasClientAuthorities,
    missing: demand && ((host) => demand.missing(host)),
    ticketSecret,
  };
}
