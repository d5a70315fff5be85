/** The options of listeners with the binding `tunnel`: what they host, and how programs reach services through them. */
import {
  duration,
  list,
  oneOf,
  text,
  unread,
  type ConfigFields,
  type Field,
  type FileValueOf,
} from '../schema-field.ts';
import { parseHostPort } from '../text-kinds.ts';

const TUNNEL = ['tunnel'];

export type TunnelMode = 'host' | 'proxy' | 'tproxy';

/** The mode, and of `tproxy` the program that sets its rules, if one is named. */
export interface TunnelModeConfig {
  readonly name: TunnelMode;
  readonly diverter: string | undefined;
}

/** The listen address of a name server, or a hosts file that takes its place. */
export type ResolverConfig =
  | { readonly kind: 'udp'; readonly host: string; readonly port: number }
  | { readonly kind: 'file'; readonly path: string };

export interface UpstreamConfig {
  readonly protocol: 'udp' | 'tcp';
  readonly host: string;
  readonly port: number;
}

/** An entry of `services`: the port at which mode proxy listens for one service. */
export interface ProxiedServiceConfig {
  /** The path of the entry in the file. */
  readonly path: string;
  /** Name of the service. */
  readonly name: string;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
}

export const tunnelFields = {
  mode: text(
    'host: hosts services; proxy: also listens for them; tproxy: also intercepts them.',
    'tunnel-mode',
    { default: 'host', bindings: TUNNEL, decode: modeOf },
  ),
  // Services come with the data model.
  svcPollRate: unread(
    duration('Interval of polling for services.', { default: 15_000, bindings: TUNNEL, isExtra: true }),
  ),
  resolver: list(
    "Listen address of tproxy's name server.",
    text('A resolver.', 'resolver', { decode: resolverOf }),
    { default: ['udp://127.0.0.1:53'], isSingleAllowed: true, bindings: TUNNEL, as: 'resolvers' },
  ),
  dnsSvcIpRange: text('Addresses that tproxy assigns to names of services.', 'cidr', {
    default: '100.64.0.1/10',
    bindings: TUNNEL,
  }),
  'dnsUpstream?': list(
    'Name servers for other names than services.',
    text('A name server.', 'upstream', { decode: upstreamOf }),
    {
      example: ['udp://192.0.2.53:53'],
      isSingleAllowed: true,
      bindings: TUNNEL,
      isExtra: true,
      as: 'dnsUpstreams',
    },
  ),
  dnsUpstreamMode: oneOf(
    'Order in which several name servers are queried.',
    ['parallel', 'serial', 'failover', 'random'],
    { default: 'parallel', isAnyCase: true, bindings: TUNNEL, isExtra: true },
  ),
  dnsUnanswerable: oneOf(
    'Response of the name server for an unknown name.',
    ['refused', 'servfail', 'timeout'],
    { default: 'refused', bindings: TUNNEL, isExtra: true },
  ),
  'lanIf?': list(
    'Further network interfaces whose traffic is intercepted.',
    text('An interface.', 'interface'),
    {
      example: ['lo'],
      isSingleAllowed: true,
      bindings: TUNNEL,
      isExtra: true,
      as: 'lanInterfaces',
    },
  ),
  'services?': list(
    'Services for which proxy listens, each with its port.',
    text('A service.', 'tunnel-service', {
      decode: (value, { path }): ProxiedServiceConfig => ({ path, ...proxiedServiceOf(value) }),
    }),
    { example: ['web:8080', 'dns:5353:udp'], bindings: TUNNEL },
  ),
  udpIdleTimeout: duration('Ends a UDP session that was idle for this time; below 5s: 5m.', {
    default: 300_000,
    least: 5_000,
    beyond: 'default',
    bindings: TUNNEL,
    isExtra: true,
    as: 'udpIdleTimeoutMs',
  }),
  udpCheckInterval: duration('Interval of checks for idle UDP sessions; below 1s: 30s.', {
    default: 30_000,
    least: 1_000,
    beyond: 'default',
    bindings: TUNNEL,
    isExtra: true,
    as: 'udpCheckIntervalMs',
  }),
};

/** The options of a listener with the binding `tunnel`. */
export type TunnelOptions = ConfigFields<typeof tunnelFields>;

/** A dialer can repeat the options of its listener, which alone have an effect. */
export const tunnelDialerFields = unreadAll(tunnelFields);

export function proxiedServiceOf(value: string): Omit<ProxiedServiceConfig, 'path'> {
  const [name = '', port = '', protocol = 'tcp'] = value.split(':');
  return { name, port: Number(port), protocol: protocol === 'udp' ? 'udp' : 'tcp' };
}

function modeOf(value: string): TunnelModeConfig {
  const diverter = value.startsWith('tproxy:') ? value.slice('tproxy:'.length) : undefined;
  return { name: diverter === undefined ? (value as TunnelMode) : 'tproxy', diverter };
}

/** The query of a URL has no effect, because `dnsUnanswerable` always has a value. */
function resolverOf(value: string): ResolverConfig {
  if (!value.startsWith('udp://')) return { kind: 'file', path: value.replace(/^file:\/\//, '') };
  return { kind: 'udp', ...parseHostPort(value.slice('udp://'.length).replace(/\?.*$/, ''))! };
}

function upstreamOf(value: string): UpstreamConfig {
  const protocol = value.startsWith('tcp://') ? 'tcp' : 'udp';
  return { protocol, ...parseHostPort(value.slice('udp://'.length))! };
}

function unreadAll<F extends Readonly<Record<string, object>>>(
  fields: F,
): { readonly [K in keyof F]: Field<FileValueOf<F[K]>, never, never> } {
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, unread(field)])) as never;
}
