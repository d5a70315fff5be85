/** A complete configuration for tests: all defaults, no optional sections, and files in `folder`. */
import { join } from 'node:path';
import { Secret } from '#base';
import {
  CHANNEL_DEFAULTS,
  CONNECT_EVENTS_DEFAULTS,
  CTRL_DEFAULTS,
  FORWARDER_DEFAULTS,
  HANDSHAKE_TIMEOUT_MS,
  HEALTH_CHECK_DEFAULTS,
  INTERFACE_DISCOVERY_DEFAULTS,
  METRICS_DEFAULTS,
} from '../config/testing/router-config-defaults.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { DEFAULT_WEB_SOCKET_TIMES } from '../config/schema/transport-schema.ts';

export function routerConfigFixture(folder: string, more: Partial<RouterConfig> = {}): RouterConfig {
  return {
    file: join(folder, 'router.yml'),
    identity: {
      cert: join(folder, 'cert.pem'),
      key: new Secret(join(folder, 'key.pem')),
      serverCert: undefined,
      serverKey: undefined,
      ca: join(folder, 'ca.pem'),
      alternates: [],
    },
    ctrl: {
      endpoints: [],
      bind: undefined,
      requestTimeoutMs: CTRL_DEFAULTS.requestTimeoutMs,
      startupTimeoutMs: undefined,
      endpointsFile: join(folder, 'endpoints.yml'),
      channel: CHANNEL_DEFAULTS,
      heartbeat: CTRL_DEFAULTS.heartbeat,
      listeners: [],
    },
    csr: undefined,
    edge: undefined,
    link: undefined,
    dialers: [],
    listeners: [],
    forwarder: FORWARDER_DEFAULTS,
    healthChecks: HEALTH_CHECK_DEFAULTS,
    metrics: METRICS_DEFAULTS,
    trace: undefined,
    profile: { cpuPath: undefined, memory: undefined },
    web: [],
    proxy: undefined,
    webSockets: DEFAULT_WEB_SOCKET_TIMES,
    handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
    connectEvents: CONNECT_EVENTS_DEFAULTS,
    interfaceDiscovery: INTERFACE_DISCOVERY_DEFAULTS,
    warnings: [],
    placeOf: (path) => path,
    ...more,
  };
}
