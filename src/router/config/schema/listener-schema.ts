/** `dialers` and `listeners`: how traffic leaves and enters the network at this router. */
import {
  duration,
  legacy,
  list,
  oneOf,
  optional,
  section,
  text,
  unread,
  unsupported,
  withPath,
  type ConfigFields,
  type DecodePlace,
  type Field,
  type FileValueOf,
} from '../schema-field.ts';
import { parseFileAddress, parseHostPort } from '../text-kinds.ts';
import { channelFields, dialTimeout, xgressFields } from './channel-schema.ts';

const EDGE = ['edge'];
const TUNNEL = ['tunnel'];

const tunnelFields = unreadAll({
  mode: text({
    about: 'host: hosts services; proxy: also listens for them; tproxy: also intercepts them.',
    kind: 'tunnel-mode',
    default: 'host',
    bindings: TUNNEL,
  }),
  svcPollRate: duration({
    about: 'Interval of polling for services.',
    default: 15_000,
    bindings: TUNNEL,
    isExtra: true,
  }),
  resolver: list(text({ about: 'A resolver.', kind: 'resolver' }), {
    about: "Listen address of tproxy's name server.",
    default: ['udp://127.0.0.1:53'],
    isSingleAllowed: true,
    bindings: TUNNEL,
  }),
  dnsSvcIpRange: text({
    about: 'Addresses that tproxy assigns to names of services.',
    kind: 'cidr',
    default: '100.64.0.1/10',
    bindings: TUNNEL,
  }),
  dnsUpstream: optional(
    list(text({ about: 'A name server.', kind: 'upstream' }), {
      about: 'Name servers for other names than services.',
      example: ['udp://192.0.2.53:53'],
      isSingleAllowed: true,
      bindings: TUNNEL,
      isExtra: true,
    }),
  ),
  dnsUpstreamMode: oneOf(['parallel', 'serial', 'failover', 'random'], {
    about: 'Order in which several name servers are queried.',
    default: 'parallel',
    isAnyCase: true,
    bindings: TUNNEL,
    isExtra: true,
  }),
  dnsUnanswerable: oneOf(['refused', 'servfail', 'timeout'], {
    about: 'Response of the name server for an unknown name.',
    default: 'refused',
    bindings: TUNNEL,
    isExtra: true,
  }),
  lanIf: optional(
    list(text({ about: 'An interface.', kind: 'interface' }), {
      about: 'Further network interfaces whose traffic is intercepted.',
      example: ['lo'],
      isSingleAllowed: true,
      bindings: TUNNEL,
      isExtra: true,
    }),
  ),
  services: optional(
    list(text({ about: 'A service.', kind: 'tunnel-service' }), {
      about: 'Services for which proxy listens, each with its port.',
      example: ['web:8080', 'dns:5353:udp'],
      bindings: TUNNEL,
    }),
  ),
  udpIdleTimeout: duration({
    about: 'Ends a UDP session that was idle for this time; below 5s: 5m.',
    default: 300_000,
    least: 5_000,
    beyond: 'default',
    bindings: TUNNEL,
    isExtra: true,
  }),
  udpCheckInterval: duration({
    about: 'Interval of checks for idle UDP sessions; below 1s: 30s.',
    default: 30_000,
    least: 1_000,
    beyond: 'default',
    bindings: TUNNEL,
    isExtra: true,
  }),
});

/** This version runs no tunnels, so these fields are not part of the configuration. */
function unreadAll<F extends Readonly<Record<string, object>>>(
  fields: F,
): { readonly [K in keyof F]: Field<FileValueOf<F[K]>, never, never> } {
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, unread(field)])) as never;
}

const legacyOptions = {
  retransmission: legacy('Only in older files.'),
  getSessionTimeout: legacy('Only in generated files.'),
};

/** Bindings of dialers. Any other binding causes a warning. */
export const DIALER_BINDINGS: readonly string[] = ['transport', 'transport_udp', 'proxy', 'proxy_udp'];
/** A listener with this binding, or the edge section, also provides a dialer. */
export const IMPLIED_DIALER_BINDINGS: readonly string[] = ['edge', 'tunnel'];

export const xgressDialer = section(
  {
    binding: text({
      about: 'transport, transport_udp, proxy or proxy_udp.',
      kind: 'text',
      example: 'transport',
    }),
    options: section(
      { ...xgressFields, connectTimeout: dialTimeout, ...tunnelFields, ...legacyOptions },
      { about: 'Flow control of its circuits.', as: 'xgress', isFilled: true },
    ),
  },
  { about: 'One way to reach services.', decode: withPath },
);

export const dialersSection = list(xgressDialer, {
  about: 'Destinations that the router itself may dial; without this section it dials no service.',
  // Of several dialers with one binding, the last one is used.
  decode: (all) =>
    all.filter(({ binding }, i) => all.findLastIndex((other) => other.binding === binding) === i),
  isEmptyAllowed: true,
});

/** The rules for `address` and `advertise` depend on the binding; `listener-rules.ts` checks them. */
const listenerFields = {
  binding: oneOf(['edge', 'transport', 'transport_udp', 'proxy', 'proxy_udp', 'tunnel'], {
    about:
      'The kind of clients: SDKs (edge), programs that name a service (transport), programs of one service (proxy), a tunnel.',
    example: 'edge',
  }),
  address: optional(text({ about: 'Listen address.', kind: 'text', example: 'tls:0.0.0.0:3022' })),
  bind: optional(
    text({
      about: 'Another name of address.',
      kind: 'text',
      overriddenBy: 'address',
      isCommented: true,
      example: 'tls:0.0.0.0:3022',
    }),
  ),
  advertise: optional(
    text({
      about: 'Address for clients, <host>:<port>; also accepted inside options.',
      kind: 'text',
      isCommented: true,
      example: 'router.example:3022',
    }),
  ),
  service: optional(
    text({
      about: 'With proxy: the service, by name or id.',
      kind: 'text',
      bindings: ['proxy', 'proxy_udp'],
      isExtra: true,
    }),
  ),
  options: section(
    {
      advertise: optional(
        text({
          about: 'Address for clients, <host>:<port>.',
          kind: 'text',
          example: 'router.example:3022',
        }),
      ),
      ...xgressFields,
      ...channelFields('edge', EDGE),
      // Other bindings use this timeout for the connection of the circuit.
      connectTimeout: optional(
        duration({
          about: 'Time limit for connecting and the hello.',
          as: 'dialTimeoutMs',
          millisecondsIn: 'connectTimeoutMs',
          example: '5s',
          isCommented: true,
        }),
      ),
      lookupApiSessionTimeout: duration({
        about: 'Time limit for looking up an API session that is not known here.',
        default: 5_000,
        as: 'lookupApiSessionTimeoutMs',
        least: 1,
        beyond: 'default',
        bindings: EDGE,
        isExtra: true,
      }),
      // Controllers manage the sessions of services, so routers do not look them up.
      lookupSessionTimeout: unsupported(
        optional(duration({ about: 'Time limit for looking up a session.', bindings: EDGE, isExtra: true })),
      ),
      ...tunnelFields,
      ...legacyOptions,
    },
    {
      about: 'Flow control of its circuits, and options of its binding.',
      isFilled: true,
      decode: ({
        advertise,
        lookupApiSessionTimeoutMs,
        dialTimeoutMs = 0,
        outQueueSize,
        maxQueuedConnects,
        maxOutstandingConnects,
        connectTimeoutMs,
        writeTimeoutMs,
        ...xgress
      }) => ({
        advertise,
        lookupApiSessionTimeoutMs,
        channel: {
          outQueueSize,
          maxQueuedConnects,
          maxOutstandingConnects,
          connectTimeoutMs,
          writeTimeoutMs,
        },
        xgress: { ...xgress, connectTimeoutMs: Math.max(0, dialTimeoutMs) },
      }),
    },
  ),
};

function listenerOf(fields: ConfigFields<typeof listenerFields>, { path }: DecodePlace) {
  const { binding, service, options } = fields;
  const { xgress, channel, lookupApiSessionTimeoutMs } = options;
  const base = { path, xgress };
  // Addresses of datagrams have their own syntax, and their listeners are refused at the start.
  if (binding === 'tunnel' || binding === 'transport_udp' || binding === 'proxy_udp')
    return { ...base, binding };
  const address = parseFileAddress((fields.address ?? fields.bind)!)!;
  const advertise = (options.advertise ?? fields.advertise)!;
  if (binding === 'proxy') return { ...base, binding, address, service: service! };
  if (binding === 'transport') return { ...base, binding, address, advertise };
  return {
    ...base,
    binding,
    address,
    advertise: parseHostPort(advertise)!,
    channel,
    lookupApiSessionTimeoutMs,
  };
}

const listener = section(listenerFields, {
  about: 'One address at which programs connect.',
  decode: listenerOf,
});

export const listenersSection = list(listener, {
  about: 'Addresses at which programs connect; without this section none can.',
  isEmptyAllowed: true,
});
