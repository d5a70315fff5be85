/**
 * Composes the control plane: store, certificates, Management API with the token endpoint, edge client API,
 * overlay controller. There is one per data directory. It stops in the reverse order.
 */
import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { formatHostPort, FrontdoorError, isLoopbackHost, systemClock, type Clock, type Log } from '#base';
import type { AllowedNetwork, IpNetwork } from '#domain';
import { BodyIntake, EgressClient, NameRecordLookups } from '#net';
import type { Channel, MemoryPeer, MetricsWriter, ReadinessCheck } from '#net';
import { formatAddress } from '#wire';
import { createManagementApi, setApiTls, type ApiLimits, type ApiTls } from './management-api/mod.ts';
import {
  apiAddressesOf,
  createEdgeApi,
  openApiSessions,
  openEdgeTokens,
  SessionRevocations,
} from './edge-api/mod.ts';
import { ConsoleApp } from './console-app/mod.ts';
import { consoleOf } from './console/mod.ts';
import { addManagementRoutes } from './edge-management/mod.ts';
import { openLoginParts } from './login/mod.ts';
import { KeyRotation, TrustedIssuers, type TrustedIssuer } from './oauth/mod.ts';
import { attachModel, FabricEvents, GatewayCommands, OverlayModel, StateCounts } from './model/mod.ts';
import type { EdgeController } from './model/mod.ts';
import { FabricTerminatorWriter, type FirstStart, type MigrationCopies } from './store/mod.ts';
import { ApiMeter } from './api-meter.ts';
import { writeControlMetrics } from './control-metrics.ts';
import { controlCertificates, controlReadiness } from './control-readiness.ts';
import { startOverlayController, type LocalEnds } from './overlay/mod.ts';
import { openPki } from './pki/mod.ts';
import { controllerIdOf, Replicas } from './replica/mod.ts';
import type { PublicApiUrl } from './public-api-url.ts';
import { closeAll, type Closer } from './close-all.ts';
import { createFabricNode } from './fabric-node.ts';
import { meshState } from './mesh-state.ts';
import { listening } from './opened-port.ts';
import { startSweeps } from './store-sweeps.ts';
import { beginInstallation, inviteOperator, seedFirstStart } from './installation/mod.ts';

export interface ControlPlaneOptions {
  /** Created if absent. */
  readonly dataDir: string;
  /** A `postgres:` URL of the store, which replaces the file in the data directory. */
  readonly database?: string | undefined;
  /** Copies of the database from before migrations; by default three, in the data directory. */
  readonly copies?: MigrationCopies | undefined;
  readonly listenHost: string;
  /** Host that clients, agents and routers dial. */
  readonly advertiseHost: string;
  /** Further hosts at which agents, gateways and SDKs reach the edge API. */
  readonly moreAdvertiseHosts?: readonly string[] | undefined;
  /** Called for each dial. Undefined: gateways and routers run in processes of their own. */
  readonly localEnds?: (() => LocalEnds | undefined) | undefined;
  readonly edgeManagement?: boolean | undefined;
  /** Serves the console below `/console`, which it does by default. */
  readonly hasConsole?: boolean | undefined;
  /** 0 selects a free port. */
  readonly apiPort: number;
  readonly edgeApiPort: number;
  readonly ctrlPort: number;
  /** TLS for the Management API (PEM). Without it the API uses plain HTTP, on loopback only. */
  readonly apiTls?: ApiTls | undefined;
  /** {base_url} and {auth_url} behind a proxy; by default the address that it listens on. */
  readonly publicApiUrl?: PublicApiUrl | undefined;
  readonly trustedProxies?: readonly IpNetwork[] | undefined;
  /** Zone of the default frontend, set on the first start. */
  readonly zone: string;
  /** Domain of the addresses at which tunnelers find private shares; undefined: they have none. */
  readonly interceptDomain?: string | undefined;
  /** Shows or stores the secrets of the first start, before anything else can fail. */
  readonly onFirstStart?: ((first: FirstStart) => Promise<void> | void) | undefined;
  /** Returns the URLs under which gateways serve a public share's host. Called for each response. */
  readonly frontendUrls: (host: string) => readonly string[];
  /** Port of HTTPS as browsers see it, if no URL of `frontendUrls` has one; 443 if not known. */
  readonly securePort?: () => number | undefined;
  readonly limits?: Partial<ApiLimits> | undefined;
  /** Trusted token issuers besides our own. */
  readonly trustedIssuers?: readonly TrustedIssuer[] | undefined;
  /** Networks, besides the public internet, from which addresses named by others may be fetched. */
  readonly allowEgress?: readonly AllowedNetwork[] | undefined;
  readonly dnsServers?: readonly string[] | undefined;
  readonly clock?: Clock | undefined;
  readonly log: Log;
}

export interface ControlPlane {
  /** Address of the Management API on this machine: `http(s)://host:port`, and the path of {base_url}. */
  readonly apiUrl: string;
  /** {base_url}. */
  readonly baseUrl: string;
  /** `https://host:port` of the edge client API. */
  readonly edgeApiUrl: string;
  /** `tls:host:port`, which routers dial. */
  readonly ctrlAddress: string;
  /** Secrets and ids from the first start of this data directory. They are never shown again. */
  readonly firstStart: FirstStart | undefined;
  /** Undefined without a console. */
  readonly consoleUrl: string | undefined;
  /** Address with a code, at which one person becomes the first operator; after the first start only. */
  readonly consoleLink: string | undefined;
  /** Call it once this control plane is reported as ready, so that nothing waits for it (ADR 0045). Never rejects. */
  buildConsole(): Promise<void>;
  /** Creates a router or gateway of this installation, with its enrollment JWT. */
  createFabricNode(
    kind: 'router' | 'gateway',
    name: string,
  ): Promise<{ readonly id: string; readonly token: string }>;
  /**
   * Replaces the certificate of the Management API for new connections. Throws `invalid` and keeps the former one
   * if it cannot be used.
   */
  setApiTls(tls: ApiTls): void;
  /** Connects a router of this process. Rejects with `channel-refused`. */
  acceptRouter(peer: MemoryPeer): Promise<Channel>;
  /** What it needs to serve. */
  readonly readiness: readonly ReadinessCheck[];
  /** For Prometheus. */
  readonly writeMetrics: MetricsWriter;
  /** Issues a certificate of our own authority for every public share of the zone. Browsers do not trust it. */
  frontendCertificate(zone: string): Promise<{ readonly cert: string; readonly key: string }>;
  /**
   * With `drainMs`, it announces the stop first and continues to serve until routers have connected to another
   * control plane, for at most 10 s of that time.
   */
  close(drainMs?: number): Promise<void>;
}

/** Time for routers to connect to another control plane or, if there is none, for pending circuits. */
const LEAVE_MS = 10_000;
const LEAVE_ALONE_MS = 1_000;
const TRUST_DOMAIN = 'frontdoor.internal';

/** @throws FrontdoorError if a port is taken, the data directory cannot be used, or the database is damaged. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const closers: Closer[] = [];
  try {
    return await openAll(options, closers);
  } catch (error) {
    await closeAll(closers, options.log);
    throw error;
  }
}

async function openAll(options: ControlPlaneOptions, closers: Closer[]): Promise<ControlPlane> {
  const { dataDir, listenHost, advertiseHost, log, clock = systemClock } = options;
  const { maxUnproven, maxUnprovenPerAddress } = options.limits ?? {};
  const advertiseHosts = [advertiseHost, ...(options.moreAdvertiseHosts ?? [])];
  if (options.apiTls === undefined && !isLoopbackHost(listenHost)) {
    const message = `the Management API needs TLS on ${listenHost}: give --api-cert and --api-key`;
    throw new FrontdoorError('invalid', 'api-tls-missing', message);
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { store, secrets } = await beginInstallation({
    dataDir,
    database: options.database,
    copies: options.copies,
    clock,
    log,
  });
  closers.push(() => store.close());
  const firstStart = await seedFirstStart(store, secrets, { zone: options.zone, clock });
  // Called at once, because these secrets cannot be made again if a later step fails.
  if (firstStart !== undefined) await options.onFirstStart?.(firstStart);
  const controllerId = await controllerIdOf(store, dataDir, log);
  const pki = await openPki({
    dataDir,
    db: store.db,
    secrets,
    trustDomain: TRUST_DOMAIN,
    hosts: advertiseHosts,
    controllerId,
    clock,
    log,
  });
  closers.push(() => pki.close());

  const { dnsServers = [] } = options;
  closers.push(startSweeps({ store, secrets, dnsServers, clock, log }).close);
  const model = new OverlayModel();
  const attached = await attachModel(store, model, { log });
  closers.push(() => attached.close());
  const replicas = store.isShared ? new Replicas({ store, model, clock, log }) : undefined;
  const keyRotation = await KeyRotation.start({ store, secrets, clock, log });
  closers.push(() => keyRotation.close());
  const edgeTokens = await openEdgeTokens(store, secrets, clock, `https://${advertiseHost}`);
  const { tokens, tokenKeys, sessionTokens } = edgeTokens;
  const verifyAccess = (token: string) => sessionTokens.verifyAccess(token);
  const sessions = await openApiSessions({ store, secrets, model, clock, log, verifyAccess });
  closers.push(() => sessions.close());
  const endedSessions = await SessionRevocations.open({ store, clock, log });
  closers.push(() => endedSessions.close());

  const edgeUrlsAt = (port: number) => [
    ...new Set(advertiseHosts.map((host) => `https://${formatHostPort(host, port)}`)),
  ];
  // Routers may connect before the edge API listens.
  let edgeApiUrls = options.edgeApiPort === 0 ? [] : edgeUrlsAt(options.edgeApiPort);
  const events = new FabricEvents();
  const controlTls = () => {
    const { certPem: cert, keyPem: key } = pki.controlServer;
    return { cert, key, ca: pki.caBundlePem };
  };
  const overlay = await listening('--ctrl-port', options.ctrlPort, () =>
    startOverlayController({
      controllerId,
      listen: { host: listenHost, port: options.ctrlPort },
      tls: controlTls(),
      issuer: pki,
      model,
      sessions,
      endedSessions,
      store,
      fabricTerminators: new FabricTerminatorWriter(store, clock),
      secrets,
      verifyServiceToken: (token) => tokens.verify(token),
      serviceKeys: () => tokenKeys.keys(),
      apiAddresses: () => apiAddressesOf(edgeApiUrls),
      interceptDomain: options.interceptDomain,
      clock,
      log,
      localEnds: options.localEnds,
      events,
      ...(replicas === undefined
        ? {}
        : {
            isConnectedElsewhere: (id) => replicas.isConnectedElsewhere(id),
            cluster: replicas.cluster,
          }),
    }),
  );
  closers.push(() => overlay.close());
  const ctrlAddress = formatAddress({ type: 'tls', host: advertiseHost, port: overlay.port });
  const status = replicas?.board(overlay.status) ?? overlay.status;
  const counts = new StateCounts(model, status);
  tokenKeys.onChanged(() => overlay.keysChanged());
  pki.onServerRenewed(() => overlay.setTls(controlTls()));
  const egress = new EgressClient({ allowed: options.allowEgress ?? [] });
  const login = await openLoginParts({ store, secrets, model, egress, clock, log });
  closers.push(() => login.close());
  const edgeRouters = () => replicas?.routers(overlay.routers()) ?? overlay.routers();
  const meshParts = { mesh: meshState(overlay.fabric, edgeRouters), diagnostics: overlay.fabric };
  let edgeApiUrl = '';
  const edgeCertificatePem = () => pki.edgeServer.leafPem;
  const started = { startedAtMs: clock.nowMs(), isOnline: true };
  const ownController = (): EdgeController => ({
    ...{ id: controllerId, apiUrls: edgeApiUrls, certificatePem: edgeCertificatePem(), ...started },
  });
  const gatewayCommands = new GatewayCommands();
  const apis = new ApiMeter();
  const intake = new BodyIntake();
  const edge = await createEdgeApi({
    pki,
    store,
    secrets,
    model,
    loadIdentity: (id) => attached.loadIdentity(id),
    sessions,
    ...edgeTokens,
    status,
    login,
    egress,
    gatewayCommands,
    events,
    intake,
    onServer: (server) => apis.watch('edge', server),
    managementRoutes: options.edgeManagement
      ? (app, context) => addManagementRoutes(app, context, { ctrlAddress, controllerId, ...meshParts })
      : undefined,
    limits: { maxUnproven, maxUnprovenPerAddress },
    hasKeylessHost: (serviceId) => overlay.hasKeylessHost(serviceId),
    interceptDomain: options.interceptDomain,
    routers: edgeRouters,
    controllers: () => replicas?.controllers ?? [ownController()],
    frontendUrls: options.frontendUrls,
    apiUrl: () => edgeApiUrl,
    clock,
    log,
  });
  closers.push(() => edge.close());
  const edgeAddress = await listening('--edge-api-port', options.edgeApiPort, () =>
    edge.listen({ host: listenHost, port: options.edgeApiPort }),
  );
  edgeApiUrls = edgeUrlsAt(edgeAddress.port);
  edgeApiUrl = edgeApiUrls[0]!;

  type EnrollmentClaims = Omit<Parameters<typeof pki.mintEnrollmentJwt>[0], 'issuer' | 'controlAddresses'>;
  const mintEnrollmentJwt = async (claims: EnrollmentClaims): Promise<string> =>
    pki.mintEnrollmentJwt({ ...claims, issuer: edgeApiUrl, controlAddresses: [ctrlAddress] });

  let apiUrl = '';
  let apiCertPem = options.apiTls?.cert;
  let { apiPort } = options;
  const { trustedIssuers = [], publicApiUrl, hasConsole = true } = options;
  const baseUrl = (): string => publicApiUrl?.url ?? apiUrl;
  const own = () => ({ baseUrl: baseUrl(), port: apiPort, isTls: options.apiTls !== undefined });
  const fetch = (url: string) => egress.get(url);
  // Without trusted issuers, nothing is read from a token before it is verified.
  const issuers =
    trustedIssuers.length === 0
      ? undefined
      : new TrustedIssuers({ issuers: trustedIssuers, fetch, clock, log });
  void issuers?.warmUp();
  const app = hasConsole ? new ConsoleApp({ dataDir, log }) : undefined;
  closers.push(() => app?.close());
  const api = await createManagementApi({
    issuers,
    peerUrls: () => replicas?.apiUrls ?? [],
    store,
    secrets,
    model,
    ...{ status, counts },
    fabric: overlay.fabric,
    gatewayCommands,
    edgeRouters,
    intake,
    ...{ log, clock, providers: login.providers },
    baseUrl,
    authUrl: baseUrl,
    pathPrefix: publicApiUrl?.pathPrefix ?? '',
    frontendUrls: options.frontendUrls,
    installation: {
      securePort: () => options.securePort?.(),
      edgeApiUrl: () => edgeApiUrl,
      controlPlanes: () => replicas?.controlPlanes ?? [{ apiUrl: baseUrl(), silentSinceMs: undefined }],
      egress,
      names: new NameRecordLookups({ servers: dnsServers }),
    },
    authorities: { trustDomain: TRUST_DOMAIN, changed: () => pki.renewServers() },
    mintEnrollmentJwt,
    ...{ limits: options.limits, trustedProxies: options.trustedProxies, tls: options.apiTls },
    console: app && consoleOf({ ...{ store, secrets, clock, log, login }, own, app }),
  });
  closers.push(() => api.close());
  apis.watch('management', api.server);
  await listening('--api-port', options.apiPort, () =>
    api.listen({ host: listenHost, port: options.apiPort }),
  );
  apiPort = (api.server.address() as AddressInfo).port;
  const scheme = options.apiTls === undefined ? 'http' : 'https';
  const apiAddress = formatHostPort(scheme === 'http' ? listenHost : advertiseHost, apiPort);
  apiUrl = `${scheme}://${apiAddress}${publicApiUrl?.pathPrefix ?? ''}`;
  if (replicas !== undefined) {
    closers.push(() => replicas.close());
    await replicas.start({
      apiUrl: baseUrl(),
      ctrlAddress,
      controllerId,
      edgeApiUrls,
      edgeCertificatePem,
      measurements: overlay.status,
      routers: () => overlay.routers(),
    });
  }
  const consoleUrl = hasConsole ? `${baseUrl()}/console` : undefined;
  const firstCode = hasConsole && firstStart && (await inviteOperator(store, secrets, clock));
  log.info({ apiUrl, baseUrl: baseUrl(), edgeApiUrl, ctrlAddress, controllerId }, 'control plane is up');

  return {
    apiUrl,
    baseUrl: baseUrl(),
    edgeApiUrl,
    ctrlAddress,
    firstStart,
    consoleUrl,
    consoleLink: firstCode ? `${consoleUrl}/welcome#${firstCode}` : undefined,
    buildConsole: async () => app?.start(),
    createFabricNode: (kind, name) =>
      createFabricNode({ store, secrets, clock }, mintEnrollmentJwt, kind, name),
    acceptRouter: (peer) => overlay.acceptMemory(peer),
    readiness: controlReadiness({
      ...{ store, model },
      hasOnlineRouter: () => [...edgeRouters(), ...overlay.fabric.routers()].some(({ isOnline }) => isOnline),
    }),
    setApiTls: (tls) => {
      setApiTls(api, tls);
      apiCertPem = tls.cert;
    },
    writeMetrics: (to) =>
      writeControlMetrics(to, {
        ...{ model, counts },
        fabric: overlay.fabric,
        circuitCount: () => overlay.circuitCount,
        sessionCount: () => sessions.size,
        ...{ store, apis, log },
        certificates: () => controlCertificates(pki, apiCertPem),
      }),
    frontendCertificate: async (zone) => {
      const { certPem: cert, keyPem: key } = await pki.frontendServer(zone);
      return { cert, key };
    },
    close: async (drainMs = 0) => {
      const elsewhere = replicas?.routerElsewhere;
      const mostMs = elsewhere === undefined ? LEAVE_ALONE_MS : LEAVE_MS;
      if (drainMs > 0) await overlay.leave(Math.min(drainMs, mostMs), elsewhere);
      await closeAll(closers, log);
    },
  };
}
