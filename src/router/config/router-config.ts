/**
 * The configuration of a router. Its types are inferred from the schema, whose fields document, default and decode each
 * value. Durations are in milliseconds, addresses are parsed. An optional section that is missing is undefined or an
 * empty list.
 */
import type { FileProblem } from '#base/shapes';
import type { ConfigOf } from './schema-field.ts';
import type { channelOptions } from './schema/channel-schema.ts';
import type { ctrlSection } from './schema/ctrl-schema.ts';
import type { edgeSection } from './schema/edge-schema.ts';
import type { identitySection } from './schema/identity-schema.ts';
import type { linkSection } from './schema/link-schema.ts';
import type { dialersSection, listenersSection } from './schema/listener-schema.ts';
import type { forwarderSection, healthChecksSection, metricsSection } from './schema/operation-schema.ts';
import type { routerFileSchema } from './schema/router-file-schema.ts';
import type {
  connectEventsSection,
  interfaceDiscoverySection,
  proxySection,
} from './schema/transport-schema.ts';
import type { webSection } from './schema/web-schema.ts';

export interface RouterConfig extends ConfigOf<typeof routerFileSchema> {
  /** Absolute path. */
  readonly file: string;
  readonly warnings: readonly ConfigProblem[];
  /**
   * Returns the place of a setting for messages: `/etc/router.yml:12: listeners[0].address`. If keys are given, it is that
   * of the first one that the file has in the section at `path`.
   */
  placeOf(path: string, ...keys: readonly string[]): string;
}

export interface ConfigProblem extends FileProblem {
  /** The violated rule: `required`, `type`, `minimum`, `maximum`, `unknown-key`, … */
  readonly rule: string;
}

export type IdentityConfig = ConfigOf<typeof identitySection>;
/** The subject and names for certificate requests of the router. */
export type CsrConfig = NonNullable<RouterConfig['csr']>;
export type CtrlConfig = ConfigOf<typeof ctrlSection>;
/** Options of a channel. */
export type ChannelConfig = ConfigOf<ReturnType<typeof channelOptions>>;
export type EdgeConfig = Omit<ConfigOf<typeof edgeSection>, 'csr'>;
export type LinkConfig = ConfigOf<typeof linkSection>;
export type LinkListenerConfig = LinkConfig['listeners'][number];
export type LinkDialerConfig = LinkConfig['dialers'][number];
export type DialerConfig = ConfigOf<typeof dialersSection>[number];
/** Flow control of circuits that begin or end at this router, and the time limits of their phases. */
export type XgressConfig = DialerConfig['xgress'];
export type ListenerConfig = ConfigOf<typeof listenersSection>[number];
export type EdgeListenerConfig = Extract<ListenerConfig, { readonly binding: 'edge' }>;
export type TransportListenerConfig = Extract<ListenerConfig, { readonly binding: 'transport' }>;
export type ProxyListenerConfig = Extract<ListenerConfig, { readonly binding: 'proxy' }>;
export type TunnelListenerConfig = Extract<ListenerConfig, { readonly binding: 'tunnel' }>;
export type ProxyUdpListenerConfig = Extract<ListenerConfig, { readonly binding: 'proxy_udp' }>;
export type TransportUdpListenerConfig = Extract<ListenerConfig, { readonly binding: 'transport_udp' }>;
export type ForwarderConfig = ConfigOf<typeof forwarderSection>;
export type HealthChecksConfig = ConfigOf<typeof healthChecksSection>;
export type MetricsConfig = ConfigOf<typeof metricsSection>;
export type WebServerConfig = ConfigOf<typeof webSection>[number];
export type WebBindPointConfig = WebServerConfig['bindPoints'][number];
/** An HTTP CONNECT proxy for control channels and links. */
export type HttpProxyConfig = NonNullable<ConfigOf<typeof proxySection>>;
export type ConnectEventsConfig = ConfigOf<typeof connectEventsSection>;
export type InterfaceDiscoveryConfig = ConfigOf<typeof interfaceDiscoverySection>;
