/**
 * The values of a router file's keys that are not given: the requirement's first, OpenZiti's where it is silent.
 * Milliseconds, bytes, counts. The schema of the file and the tests' configurations take them from here.
 */
import { XGRESS_DEFAULTS } from '#wire';
import type {
  BackoffConfig,
  ChannelConfig,
  ConnectEventsConfig,
  ForwarderConfig,
  HealthChecksConfig,
  HeartbeatConfig,
  InterfaceDiscoveryConfig,
  MetricsConfig,
  XgressConfig,
} from './router-config.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const CHANNEL_DEFAULTS: ChannelConfig = {
  outQueueSize: 4,
  maxQueuedConnects: 1,
  maxOutstandingConnects: 16,
  connectTimeoutMs: 5 * SECOND,
  writeTimeoutMs: 0,
};

/** OpenZiti takes this where a link or edge listener leaves `outQueueSize` at 4. */
export const DATA_OUT_QUEUE_SIZE = 64;

export const CTRL_DEFAULTS = {
  requestTimeoutMs: 5 * SECOND,
  heartbeat: {
    sendIntervalMs: 10 * SECOND,
    checkIntervalMs: SECOND,
    closeUnresponsiveMs: 30 * SECOND,
    unresponsiveAfterMs: 5 * SECOND,
  },
} as const;

/** Without `link.heartbeats`; when that is given, what it leaves out is `CTRL_DEFAULTS.heartbeat`'s. */
export const LINK_HEARTBEAT_DEFAULTS: HeartbeatConfig = {
  sendIntervalMs: 10 * SECOND,
  checkIntervalMs: SECOND,
  closeUnresponsiveMs: 60 * SECOND,
};

export const LINK_DEFAULTS = {
  payloadQueueSize: 128,
  ackQueueSize: 64,
  groups: ['default'],
  split: true,
  maxDefaultConnections: 3,
  maxAckConnections: 1,
  startupDelayMs: 3 * SECOND,
} as const;

export const HEALTHY_BACKOFF_DEFAULTS: BackoffConfig = { minMs: 5 * SECOND, maxMs: 5 * MINUTE, factor: 1.5 };
export const UNHEALTHY_BACKOFF_DEFAULTS: BackoffConfig = { minMs: MINUTE, maxMs: HOUR, factor: 10 };

export const XGRESS_CONFIG_DEFAULTS: XgressConfig = {
  ...XGRESS_DEFAULTS,
  mtu: 0,
  randomDrops: false,
  drop1InN: 100,
  txQueueSize: 1,
  maxCloseWaitMs: 30 * SECOND,
  getCircuitTimeoutMs: 30 * SECOND,
  circuitStartTimeoutMs: 3 * MINUTE,
  connectTimeoutMs: 0,
};

export const EDGE_DEFAULTS = {
  dbSaveIntervalMs: 30 * SECOND,
  heartbeatIntervalMs: MINUTE,
  lookupApiSessionTimeoutMs: 5 * SECOND,
} as const;

export const FORWARDER_DEFAULTS: ForwarderConfig = {
  faultTxIntervalMs: 15_000,
  idleCircuitTimeoutMs: 60_000,
  idleTxIntervalMs: 60_000,
  linkDialQueueLength: 1_000,
  linkDialWorkerCount: 32,
  rateLimitedQueueLength: 5_000,
  rateLimitedWorkerCount: 5,
  xgressCloseCheckIntervalMs: 5_000,
  xgressDialDwellMs: 0,
  xgressDialQueueLength: 1_000,
  xgressDialWorkerCount: 128,
};

export const HEALTH_CHECK_DEFAULTS: HealthChecksConfig = {
  ctrlPing: { intervalMs: 30 * SECOND, timeoutMs: 15 * SECOND, initialDelayMs: 15 * SECOND },
  link: { intervalMs: 5 * SECOND, initialDelayMs: SECOND, minLinks: 0 },
};

export const METRICS_DEFAULTS: MetricsConfig = {
  reportIntervalMs: MINUTE,
  messageQueueSize: 10,
  intervalAgeThresholdMs: 80 * SECOND,
};

export const MEMORY_PROFILE_INTERVAL_MS = 15_000;

export const HANDSHAKE_TIMEOUT_MS = 5 * SECOND;

export const WEB_OPTION_DEFAULTS = {
  readTimeoutMs: 5 * SECOND,
  writeTimeoutMs: 10 * SECOND,
  idleTimeoutMs: 5 * SECOND,
  minTlsVersion: 'TLSv1.2',
  maxTlsVersion: 'TLSv1.3',
} as const;

export const CONNECT_EVENTS_DEFAULTS: ConnectEventsConfig = {
  isEnabled: true,
  batchIntervalMs: 3 * SECOND,
  fullSyncIntervalMs: 5 * MINUTE,
  maxQueuedEvents: 100_000,
};

export const INTERFACE_DISCOVERY_DEFAULTS: InterfaceDiscoveryConfig = {
  isDisabled: false,
  checkIntervalMs: MINUTE,
  minReportIntervalMs: 24 * HOUR,
};
