/**
 * Makes what the router works with from what a valid file says, defaults of the file's place filled in: addresses taken
 * apart, milliseconds, absolute paths.
 */
import { resolve } from 'node:path';
import { rootCertificates } from 'node:tls';
import { addressOf, channelOf, interfaceOf, ms, timer } from './file-values.ts';
import { buildDialers, buildListeners } from './listener-builder.ts';
import { buildLink } from './link-builder.ts';
import type {
  ConfigProblem,
  CsrConfig,
  CtrlConfig,
  IdentityConfig,
  RouterConfig,
  WebServerConfig,
} from './router-config.ts';
import type { RouterFile, WebFile } from './schema/router-file-schema.ts';
import { identityLocation, parseHostPort, type NetworkInterfaces } from './text-kinds.ts';

type Identity = RouterFile['identity'];

const TLS_VERSIONS = {
  'TLS1.0': 'TLSv1',
  'TLS1.1': 'TLSv1.1',
  'TLS1.2': 'TLSv1.2',
  'TLS1.3': 'TLSv1.3',
} as const;

export function buildRouterConfig(
  said: RouterFile,
  file: string,
  interfaces: NetworkInterfaces,
  warnings: readonly ConfigProblem[],
): RouterConfig {
  const { forwarder, healthChecks, metrics, trace, profile, connectEvents, interfaceDiscovery, proxy } = said;
  return {
    file,
    identity: identityOf(said.identity),
    ctrl: ctrlOf(said, interfaces),
    csr: csrOf(said.csr ?? said.edge?.csr),
    edge: edgeOf(said.edge),
    link: buildLink(said, interfaces),
    dialers: buildDialers(said),
    listeners: buildListeners(said),
    forwarder: {
      faultTxIntervalMs: timer(forwarder.faultTxInterval),
      idleCircuitTimeoutMs: timer(forwarder.idleCircuitTimeout),
      idleTxIntervalMs: timer(forwarder.idleTxInterval),
      linkDialQueueLength: forwarder.linkDialQueueLength,
      linkDialWorkerCount: forwarder.linkDialWorkerCount,
      rateLimitedQueueLength: forwarder.rateLimitedQueueLength,
      rateLimitedWorkerCount: forwarder.rateLimitedWorkerCount,
      xgressCloseCheckIntervalMs: timer(forwarder.xgressCloseCheckInterval),
      xgressDialDwellMs: timer(forwarder.xgressDialDwellTime),
      xgressDialQueueLength: forwarder.xgressDialQueueLength,
      xgressDialWorkerCount: forwarder.xgressDialWorkerCount,
    },
    healthChecks: {
      ctrlPing: {
        intervalMs: ms(healthChecks.ctrlPingCheck.interval),
        timeoutMs: ms(healthChecks.ctrlPingCheck.timeout),
        initialDelayMs: ms(healthChecks.ctrlPingCheck.initialDelay),
      },
      link: {
        intervalMs: ms(healthChecks.linkCheck.interval),
        initialDelayMs: ms(healthChecks.linkCheck.initialDelay),
        minLinks: healthChecks.linkCheck.minLinks,
      },
    },
    metrics: {
      reportIntervalMs: ms(metrics.reportInterval),
      messageQueueSize: metrics.messageQueueSize,
      intervalAgeThresholdMs: ms(metrics.intervalAgeThreshold),
    },
    trace: trace === undefined ? undefined : { path: trace.path },
    profile: {
      cpuPath: profile?.cpu?.path,
      memory:
        profile?.memory === undefined
          ? undefined
          : { path: profile.memory.path, intervalMs: timer(profile.memory.intervalMs) },
    },
    web: (said.web ?? []).map(webOf),
    proxy:
      proxy.type === 'none' || proxy.address === undefined
        ? undefined
        : { ...parseHostPort(proxy.address)!, username: proxy.username, password: proxy.password },
    handshakeTimeoutMs: ms(said.tls.handshakeTimeout),
    connectEvents: {
      isEnabled: connectEvents.enabled,
      batchIntervalMs: ms(connectEvents.batchInterval),
      fullSyncIntervalMs: ms(connectEvents.fullSyncInterval),
      maxQueuedEvents: connectEvents.maxQueuedEvents,
    },
    interfaceDiscovery: {
      isDisabled: interfaceDiscovery.disabled,
      checkIntervalMs: ms(interfaceDiscovery.checkInterval),
      minReportIntervalMs: ms(interfaceDiscovery.minReportInterval),
    },
    warnings,
  };
}

function ctrlOf({ ctrl }: RouterFile, interfaces: NetworkInterfaces): CtrlConfig {
  const { heartbeats } = ctrl;
  const endpoints = ctrl.endpoint === undefined ? (ctrl.endpoints ?? []) : [ctrl.endpoint];
  const startupMs = ctrl.startupTimeout === undefined ? 0 : ms(ctrl.startupTimeout);
  return {
    endpoints: endpoints.map(addressOf),
    bind: interfaceOf(ctrl.bind, interfaces),
    requestTimeoutMs: ms(ctrl.defaultRequestTimeout),
    startupTimeoutMs: startupMs > 0 ? startupMs : undefined,
    endpointsFile: resolve(ctrl.endpointsFile!),
    channel: channelOf(ctrl.options),
    heartbeat: {
      sendIntervalMs: ms(heartbeats.sendInterval),
      checkIntervalMs: ms(heartbeats.checkInterval),
      closeUnresponsiveMs: ms(heartbeats.closeUnresponsiveTimeout),
      unresponsiveAfterMs: ms(heartbeats.unresponsiveAfter),
    },
    listeners: (ctrl.listeners ?? []).map((one, i) => ({
      path: `ctrl.listeners[${i}]`,
      bind: addressOf(one.bind),
      advertise: addressOf(one.advertise ?? one.bind),
      groups: one.groups,
      channel: channelOf(one.options),
    })),
  };
}

function identityOf(said: Identity): IdentityConfig {
  const at = (text: string): string => identityLocation(text)!;
  const maybe = (text: string | undefined): string | undefined => (text === undefined ? undefined : at(text));
  return {
    cert: at(said.cert),
    key: at(said.key),
    serverCert: maybe(said.server_cert),
    // Alone it says nothing: `cert` serves then, with its own key.
    serverKey: said.server_cert === undefined ? undefined : maybe(said.server_key),
    ca: maybe(said.ca) ?? `pem:${rootCertificates.join('\n')}`,
    alternates: (said.alt_server_certs ?? []).map(({ server_cert, server_key }) => ({
      serverCert: at(server_cert),
      serverKey: maybe(server_key),
    })),
  };
}

function csrOf(said: RouterFile['csr']): CsrConfig | undefined {
  if (said === undefined) return undefined;
  const { sans = {}, ...subject } = said;
  return {
    subject,
    hosts: [...(sans.dns ?? []), ...(sans.ip ?? [])],
    uris: sans.uri ?? [],
    emails: sans.email ?? [],
  };
}

function edgeOf(said: RouterFile['edge']): RouterConfig['edge'] {
  if (said === undefined) return undefined;
  return {
    db: resolve(said.db!),
    dbSaveIntervalMs: ms(said.dbSaveIntervalSeconds),
    heartbeatIntervalMs: said.heartbeatIntervalSeconds * 1_000,
  };
}

function webOf(said: WebFile, index: number): WebServerConfig {
  const path = `web[${index}]`;
  const { options } = said;
  return {
    path,
    name: said.name,
    bindPoints: said.bindPoints.map((point, i) => ({
      path: `${path}.bindPoints[${i}]`,
      ...parseHostPort(point.interface)!,
      address: point.address,
      newAddress: point.newAddress,
    })),
    identity: said.identity === undefined ? undefined : identityOf(said.identity),
    options: {
      readTimeoutMs: ms(options.readTimeout),
      writeTimeoutMs: ms(options.writeTimeout),
      idleTimeoutMs: ms(options.idleTimeout),
      minTlsVersion: TLS_VERSIONS[options.minTLSVersion],
      maxTlsVersion: TLS_VERSIONS[options.maxTLSVersion],
    },
    apis: said.apis.map(({ binding }) => binding),
  };
}
