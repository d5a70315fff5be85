/**
 * What a router does, as its file says it: every section with its defaults filled in, durations in milliseconds,
 * addresses taken apart. Made by `router-file.ts` from a file that has no error; a section whose absence is a role is
 * undefined (or an empty list) here.
 */
import type { OverlayAddress, XgressOptions } from '#wire';

export interface RouterConfig {
  /** Absolute path. */
  readonly file: string;
  readonly identity: IdentityConfig;
  readonly ctrl: CtrlConfig;
  /** Root `csr`, or `edge.csr`; without one the router can neither enroll nor renew. */
  readonly csr: CsrConfig | undefined;
  /** Undefined: fabric only, no SDKs. */
  readonly edge: EdgeConfig | undefined;
  /** Undefined: neither dials nor accepts routers. */
  readonly link: LinkConfig | undefined;
  /** What the router itself may dial, by binding. */
  readonly dialers: readonly DialerConfig[];
  readonly listeners: readonly ListenerConfig[];
  readonly forwarder: ForwarderConfig;
  readonly healthChecks: HealthChecksConfig;
  readonly metrics: MetricsConfig;
  readonly trace: { readonly path: string } | undefined;
  readonly profile: ProfileConfig;
  readonly web: readonly WebServerConfig[];
  /** HTTP CONNECT, for control channels and links. */
  readonly proxy: HttpProxyConfig | undefined;
  /** `tls.handshakeTimeout`: of every listener. */
  readonly handshakeTimeoutMs: number;
  readonly connectEvents: ConnectEventsConfig;
  readonly interfaceDiscovery: InterfaceDiscoveryConfig;
  readonly warnings: readonly ConfigProblem[];
}

export interface ConfigProblem {
  readonly severity: 'error' | 'warning';
  /** `listeners[0].options.advertise`; the root is ''. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** Which rule it breaks, stable: `required`, `type`, `minimum`, `maximum`, `unknown-key`, … */
  readonly rule: string;
  /** As written; undefined when nothing was. */
  readonly value?: unknown;
  readonly message: string;
}

/** PEM texts (`pem:…` or from `-----BEGIN`) or paths, `file:` forms already made paths. */
export interface IdentityConfig {
  readonly cert: string;
  readonly key: string;
  readonly serverCert: string | undefined;
  readonly serverKey: string | undefined;
  readonly ca: string;
  readonly alternates: readonly { readonly serverCert: string; readonly serverKey: string | undefined }[];
}

/** What the router's certificates are asked for with. */
export interface CsrConfig {
  readonly subject: {
    readonly country?: string;
    readonly province?: string;
    readonly locality?: string;
    readonly organization?: string;
    readonly organizationalUnit?: string;
  };
  /** DNS names and addresses: what others dial this router by. */
  readonly hosts: readonly string[];
  readonly uris: readonly string[];
  readonly emails: readonly string[];
}

export interface HeartbeatConfig {
  readonly sendIntervalMs: number;
  readonly checkIntervalMs: number;
  /** 0: never closed. */
  readonly closeUnresponsiveMs: number;
}

/** Options of a channel. */
export interface ChannelConfig {
  /** Frames that may wait while the connection takes none. */
  readonly outQueueSize: number;
  /** Handshakes not taken up yet. */
  readonly maxQueuedConnects: number;
  /** Hellos not finished yet. */
  readonly maxOutstandingConnects: number;
  readonly connectTimeoutMs: number;
  /** How long a write may stand still; 0: for ever. */
  readonly writeTimeoutMs: number;
}

/** A network interface that connections go out from. */
export interface InterfaceBinding {
  readonly name: string;
  readonly address: string;
}

export interface CtrlConfig {
  /** Empty when the endpoints file or `listeners` supply the controllers. */
  readonly endpoints: readonly OverlayAddress[];
  readonly bind: InterfaceBinding | undefined;
  /** How long a controller may take to answer. */
  readonly requestTimeoutMs: number;
  /** Undefined: waits for ever, with a failing health check. */
  readonly startupTimeoutMs: number | undefined;
  /** Absolute path. */
  readonly endpointsFile: string;
  readonly channel: ChannelConfig;
  readonly heartbeat: HeartbeatConfig & { readonly unresponsiveAfterMs: number };
  readonly listeners: readonly CtrlListenerConfig[];
}

/** Controllers dial the router here. */
export interface CtrlListenerConfig {
  readonly path: string;
  readonly bind: OverlayAddress;
  readonly advertise: OverlayAddress;
  readonly groups: readonly string[];
  readonly channel: ChannelConfig;
}

export interface EdgeConfig {
  /** Absolute path. */
  readonly db: string;
  readonly dbSaveIntervalMs: number;
  readonly heartbeatIntervalMs: number;
}

export interface LinkConfig {
  readonly listeners: readonly LinkListenerConfig[];
  readonly dialers: readonly LinkDialerConfig[];
  readonly heartbeat: HeartbeatConfig;
  readonly payloadQueueSize: number;
  readonly ackQueueSize: number;
}

export interface LinkListenerConfig {
  /** `link.listeners[0]`. */
  readonly path: string;
  readonly bind: OverlayAddress;
  readonly advertise: OverlayAddress;
  /** Name of the interface that owns the bind address; '' for all. Part of a link's key. */
  readonly localBinding: string;
  readonly groups: readonly string[];
  readonly channel: ChannelConfig;
}

export interface LinkDialerConfig {
  /** `link.dialers[0]`. */
  readonly path: string;
  /** Payloads and acknowledgements on connections of their own, towards peers that know no groups of connections. */
  readonly split: boolean;
  readonly bind: InterfaceBinding | undefined;
  readonly groups: readonly string[];
  readonly channel: ChannelConfig;
  readonly healthyBackoff: BackoffConfig;
  readonly unhealthyBackoff: BackoffConfig;
  readonly maxDefaultConnections: number;
  readonly maxAckConnections: number;
  /** Between a link's first connection and its others. */
  readonly startupDelayMs: number;
}

export interface BackoffConfig {
  readonly minMs: number;
  readonly maxMs: number;
  readonly factor: number;
}

/** Flow control of circuits that begin or end at this router, and how long their stages may take. */
export interface XgressConfig extends XgressOptions {
  /** Largest payload in bytes; 0: as read. */
  readonly mtu: number;
  /** Drops one payload in `drop1InN`: for tests of networks. */
  readonly randomDrops: boolean;
  readonly drop1InN: number;
  /** Payloads in order that may wait for the local connection. */
  readonly txQueueSize: number;
  readonly maxCloseWaitMs: number;
  readonly getCircuitTimeoutMs: number;
  readonly circuitStartTimeoutMs: number;
  /** 0: the system's. */
  readonly connectTimeoutMs: number;
}

export interface DialerConfig {
  /** `dialers[0]`. */
  readonly path: string;
  readonly binding: string;
  readonly xgress: XgressConfig;
}

interface ListenerBase {
  /** `listeners[0]`. */
  readonly path: string;
  readonly xgress: XgressConfig;
}

export interface EdgeListenerConfig extends ListenerBase {
  readonly binding: 'edge';
  readonly address: OverlayAddress;
  readonly advertise: { readonly host: string; readonly port: number };
  readonly channel: ChannelConfig;
  readonly lookupApiSessionTimeoutMs: number;
}

export interface TransportListenerConfig extends ListenerBase {
  readonly binding: 'transport';
  readonly address: OverlayAddress;
  readonly advertise: string;
}

export interface ProxyListenerConfig extends ListenerBase {
  readonly binding: 'proxy';
  readonly address: OverlayAddress;
  /** Name or id. */
  readonly service: string;
}

/** Valid, but this version cannot run it: refused by name at the start. */
export interface LaterListenerConfig extends ListenerBase {
  readonly binding: 'tunnel' | 'transport_udp' | 'proxy_udp';
}

export type ListenerConfig =
  EdgeListenerConfig | TransportListenerConfig | ProxyListenerConfig | LaterListenerConfig;

export interface ForwarderConfig {
  /** 0: faults are not reported. */
  readonly faultTxIntervalMs: number;
  readonly idleCircuitTimeoutMs: number;
  /** 0: circuits are not scanned. */
  readonly idleTxIntervalMs: number;
  readonly linkDialQueueLength: number;
  readonly linkDialWorkerCount: number;
  readonly rateLimitedQueueLength: number;
  readonly rateLimitedWorkerCount: number;
  readonly xgressCloseCheckIntervalMs: number;
  readonly xgressDialDwellMs: number;
  readonly xgressDialQueueLength: number;
  readonly xgressDialWorkerCount: number;
}

export interface HealthChecksConfig {
  readonly ctrlPing: {
    readonly intervalMs: number;
    readonly timeoutMs: number;
    readonly initialDelayMs: number;
  };
  readonly link: { readonly intervalMs: number; readonly initialDelayMs: number; readonly minLinks: number };
}

export interface MetricsConfig {
  readonly reportIntervalMs: number;
  readonly messageQueueSize: number;
  readonly intervalAgeThresholdMs: number;
}

export interface ProfileConfig {
  readonly cpuPath: string | undefined;
  readonly memory: { readonly path: string; readonly intervalMs: number } | undefined;
}

export interface WebServerConfig {
  /** `web[0]`. */
  readonly path: string;
  readonly name: string;
  readonly bindPoints: readonly WebBindPointConfig[];
  /** Of its own; undefined: the router's. */
  readonly identity: IdentityConfig | undefined;
  readonly options: {
    readonly readTimeoutMs: number;
    readonly writeTimeoutMs: number;
    readonly idleTimeoutMs: number;
    readonly minTlsVersion: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
    readonly maxTlsVersion: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
  };
  /** Names of the APIs it serves; `health-checks` is the one that there is. */
  readonly apis: readonly string[];
}

export interface WebBindPointConfig {
  /** `web[0].bindPoints[0]`. */
  readonly path: string;
  readonly host: string;
  readonly port: number;
  /** `host:port` that others use. */
  readonly address: string;
  /** Announced in the header `ziti-ctrl-address` of every answer. */
  readonly newAddress: string | undefined;
}

export interface HttpProxyConfig {
  readonly host: string;
  readonly port: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

export interface ConnectEventsConfig {
  readonly isEnabled: boolean;
  readonly batchIntervalMs: number;
  readonly fullSyncIntervalMs: number;
  readonly maxQueuedEvents: number;
}

export interface InterfaceDiscoveryConfig {
  readonly isDisabled: boolean;
  readonly checkIntervalMs: number;
  readonly minReportIntervalMs: number;
}
