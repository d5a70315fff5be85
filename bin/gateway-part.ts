/** The gateway with its overlay identity: enrolled once, attached to routers, fed with the shares to serve. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { FrontdoorError, type Log } from '#base';
import {
  createGateway,
  GatewayAccess,
  Observation,
  openShareFeed,
  startTrafficReporter,
  TICKET_SECRET_BYTES,
  writeGatewayMetrics,
  type CertificateStore,
  type Gateway,
  type GatewayLimits,
  type ListenAddress,
  type TlsSettings,
} from '#gateway';
import {
  loadIdentityFile,
  openMetricsEndpoint,
  saveIdentityFile,
  waitAtMost,
  type IdentityFile,
  type MetricsAddress,
  type MetricsWriter,
  type TextEndpoint,
} from '#net';
import {
  EdgeApiClient,
  enrollIdentity,
  GatewayApiClient,
  OverlayClient,
  startIdentityRenewal,
  type ChannelOpener,
} from '#sdk';

export interface GatewayPartOptions {
  /** Last good share list, and the identity file unless somebody else keeps it. */
  readonly dataDir: string;
  readonly plain?: ListenAddress | undefined;
  readonly secure?: ListenAddress & { readonly certificates: CertificateStore };
  /** The port of HTTPS as browsers see it, where it is another than the one listened on. */
  readonly publicHttpsPort?: number | undefined;
  /** What tickets of TLS sessions are sealed by: shared by gateways that resume each other's sessions. */
  readonly ticketSecret?: Uint8Array | undefined;
  /** Somebody else renews the identity, and tells it to `useIdentity`. */
  readonly isIdentityKeptElsewhere?: boolean | undefined;
  /** Ports are opened when the control plane has sent the shares, or is late: others serve until then. */
  readonly listensWhenFresh?: boolean | undefined;
  readonly openChannel?: ChannelOpener | undefined;
  readonly maxConnectionsPerAddress?: number | undefined;
  /** Response timeout of services whose policy names none; undefined: the gateway's default. */
  readonly responseTimeoutMs?: number | undefined;
  /** A file, or `-` for standard output; undefined: none. */
  readonly accessLog?: string | undefined;
  /** Where operators' tools read metrics; undefined: nowhere. */
  readonly metrics?: MetricsAddress | undefined;
  /** Of other parts in this process, served at the same place. */
  readonly otherMetrics?: readonly MetricsWriter[];
  /** Bounds other than the defaults; no option of the command line. */
  readonly limits?: Partial<GatewayLimits> | undefined;
  readonly version: string;
  readonly log: Log;
}

export interface GatewayPart {
  readonly gateway: Gateway;
  /** Undefined: HTTPS is off. */
  readonly certificates: CertificateStore | undefined;
  /** Resolves when the control plane has sent the shares, or has not for a while: the last good list serves then. */
  readonly freshOrLate: Promise<void>;
  /** A renewed certificate of the same identity. */
  useIdentity(identity: IdentityFile): Promise<void>;
  /** Reads its files again, without a connection noticing. Never rejects: what is bad is logged and stays as it was. */
  reload(): Promise<void>;
  /** Lets requests finish; nothing new comes in. Called again, or `close`, without a time: what is left is cut. */
  drain(drainMs: number): Promise<void>;
  close(drainMs: number): Promise<void>;
}

const FRESH_MS = 10_000;
/** For the last traffic report: short of what a stop may take. */
const LAST_REPORT_MS = 2_500;
export const IDENTITY_FILE = 'identity.json';

/** Loads the gateway's identity, or makes it with `enroll`'s JWT. `edgeApiUrl` replaces an address that has moved. */
export async function gatewayIdentity(
  dataDir: string,
  enroll: () => Promise<string>,
  edgeApiUrl?: string,
): Promise<IdentityFile> {
  const path = join(dataDir, IDENTITY_FILE);
  let identity: IdentityFile;
  try {
    identity = await loadIdentityFile(path);
  } catch (error) {
    if (!(error instanceof FrontdoorError) || error.kind !== 'notFound') throw error;
    ({ identity } = await enrollIdentity({ jwt: await enroll(), name: 'gateway' }));
    await saveIdentityFile(path, identity);
  }
  if (edgeApiUrl === undefined || identity.apiUrl === edgeApiUrl) return identity;
  const moved = { ...identity, apiUrl: edgeApiUrl };
  await saveIdentityFile(path, moved);
  return moved;
}

export async function startGatewayPart(
  identity: IdentityFile,
  options: GatewayPartOptions,
): Promise<GatewayPart> {
  const { dataDir, log, version, plain, secure } = options;
  const api = new EdgeApiClient({ identity, log, version, configTypes: [] });
  const control = new GatewayApiClient(api.connection);
  const overlay = new OverlayClient({
    api,
    log,
    name: 'gateway',
    openChannel: options.openChannel,
  });
  const limits: Partial<GatewayLimits> = {
    ...options.limits,
    ...(options.maxConnectionsPerAddress === undefined
      ? {}
      : { maxConnectionsPerAddress: options.maxConnectionsPerAddress }),
    ...(options.responseTimeoutMs === undefined ? {} : { answerTimeoutMs: options.responseTimeoutMs }),
  };
  // The TLS listener and access control depend on each other: the guards of a share decide which certificate the
  // handshake requests.
  let securePort: number | undefined;
  const access = new GatewayAccess({
    control,
    publicHttpsPort: () => options.publicHttpsPort ?? securePort,
    certifiedZones: () =>
      access.kept().zones.filter((zone) => secure?.certificates.covers(`share.${zone}`) === true),
    log,
  });
  const observation = new Observation({
    reportFailures: (failures) => control.reportFailures(failures),
    reportInspections: (inspected) => control.reportInspections(inspected),
    provider: (id) => access.provider(id),
    accessLog: options.accessLog,
    hasMetrics: options.metrics !== undefined,
    log,
  });
  const gateway: Gateway = createGateway({
    dialer: overlay,
    access,
    observer: observation.observer,
    log,
    limits,
    plain,
    ...(secure === undefined
      ? {}
      : {
          secure: {
            ...secure,
            tls: tlsSettings(secure.certificates, () => gateway.table, options.ticketSecret),
          },
        }),
  });
  const renewal =
    options.isIdentityKeptElsewhere === true
      ? undefined
      : startIdentityRenewal({ client: api, path: join(dataDir, IDENTITY_FILE), log });
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
  let metrics: TextEndpoint | undefined;
  let closing: Promise<void> | undefined;
  async function closeAll(drainMs: number): Promise<void> {
    await gateway.close({ drainMs });
    await Promise.all([reporter.close(LAST_REPORT_MS), observation.close(LAST_REPORT_MS)]);
    await metrics?.close();
    renewal?.close();
    await feed.close();
    await access.close();
    overlay.close();
    await api.close();
  }
  const part: GatewayPart = {
    gateway,
    certificates: secure?.certificates,
    freshOrLate: waitAtMost(feed.fresh, FRESH_MS),
    useIdentity: async (renewed) => {
      await api.useIdentity(renewed);
      await api.session();
    },
    reload: async () => {
      observation.reopen();
      await secure?.certificates.reload();
    },
    drain: async (drainMs) => {
      await gateway.close({ drainMs });
      await reporter.report(LAST_REPORT_MS);
    },
    close: (drainMs) => {
      if (closing !== undefined) void gateway.close({ drainMs });
      closing ??= closeAll(drainMs);
      return closing;
    },
  };
  try {
    if (options.metrics !== undefined) {
      const lastContactMs = (): number => feed.lastContactMs;
      const own: MetricsWriter = (to) => writeGatewayMetrics(to, { gateway, observation, lastContactMs });
      metrics = await openMetricsEndpoint(options.metrics, [own, ...(options.otherMetrics ?? [])], log);
      log.info({ host: options.metrics.host, port: metrics.port }, 'metrics are served');
    }
    if (options.listensWhenFresh === true) await part.freshOrLate;
    await gateway.listen();
    securePort = gateway.securePort;
  } catch (error) {
    await part.close(0);
    throw error;
  }
  return part;
}

function tlsSettings(
  certificates: CertificateStore,
  table: () => Gateway['table'],
  ticketSecret: Uint8Array = randomBytes(TICKET_SECRET_BYTES),
): TlsSettings {
  return {
    certificateFor: (serverName, authorities) => certificates.certificateFor(serverName, authorities),
    get defaultCertificate() {
      return certificates.defaultCertificate;
    },
    onChange: (listener) => certificates.onChange(listener),
    clientAuthorities: (serverName) => table().clientAuthorities(serverName),
    hasClientAuthorities: () => table().hasClientAuthorities,
    ticketSecret,
  };
}
