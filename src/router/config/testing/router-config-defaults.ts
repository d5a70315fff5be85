/** The decoded defaults of the schema, for tests. */
import { decodeConfig } from '../config-decoding.ts';
import { emptyMap } from '../file-tree.ts';
import { ProblemList } from '../problem-list.ts';
import { SchemaCheck } from '../schema-check.ts';
import type { ConfigOf, Field } from '../schema-field.ts';
import { ctrlSection } from '../schema/ctrl-schema.ts';
import { linkDialer, linkSection } from '../schema/link-schema.ts';
import { xgressDialer } from '../schema/listener-schema.ts';
import { forwarderSection, healthChecksSection, metricsSection } from '../schema/operation-schema.ts';
import { connectEventsSection, interfaceDiscoverySection, tlsSection } from '../schema/transport-schema.ts';
import { webServer } from '../schema/web-schema.ts';

/** Decodes the section as if it were empty; required keys are undefined. */
function defaultsOf<F extends Field>(section: F): ConfigOf<F> {
  const root = emptyMap();
  const values = new SchemaCheck(new ProblemList(root), {}).check(section, root);
  return decodeConfig(section, values, { path: '', interfaces: {} });
}

export const CTRL_DEFAULTS = defaultsOf(ctrlSection);
export const CHANNEL_DEFAULTS = CTRL_DEFAULTS.channel;
export const LINK_DEFAULTS = defaultsOf(linkSection);
export const LINK_DIALER_DEFAULTS = defaultsOf(linkDialer);
export const HEALTHY_BACKOFF_DEFAULTS = LINK_DIALER_DEFAULTS.healthyBackoff;
export const UNHEALTHY_BACKOFF_DEFAULTS = LINK_DIALER_DEFAULTS.unhealthyBackoff;
export const XGRESS_CONFIG_DEFAULTS = defaultsOf(xgressDialer).xgress;
export const FORWARDER_DEFAULTS = defaultsOf(forwarderSection);
export const HEALTH_CHECK_DEFAULTS = defaultsOf(healthChecksSection);
export const METRICS_DEFAULTS = defaultsOf(metricsSection);
export const HANDSHAKE_TIMEOUT_MS = defaultsOf(tlsSection).handshakeTimeoutMs;
export const WEB_OPTION_DEFAULTS = defaultsOf(webServer).options;
export const CONNECT_EVENTS_DEFAULTS = defaultsOf(connectEventsSection);
export const INTERFACE_DISCOVERY_DEFAULTS = defaultsOf(interfaceDiscoverySection);
