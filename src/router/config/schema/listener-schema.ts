/** `dialers` and `listeners`: how traffic leaves and enters the network at this router. */
import { EDGE_DEFAULTS } from '../router-default-table.ts';
import { duration, legacy, list, oneOf, optional, section, text } from '../schema-field.ts';
import { channelFields, dialTimeout, xgressFields } from './channel-schema.ts';

const EDGE = ['edge'];
const TUNNEL = ['tunnel'];

const tunnelFields = {
  mode: text({
    about: 'host: hosts services; proxy: also listens for them; tproxy: also intercepts them.',
    kind: 'tunnel-mode',
    default: 'host',
    bindings: TUNNEL,
  }),
  svcPollRate: duration({
    about: 'Between two looks for services.',
    default: 15_000,
    bindings: TUNNEL,
    isExtra: true,
  }),
  resolver: list(text({ about: 'A resolver.', kind: 'resolver' }), {
    about: 'Where the name server of tproxy listens.',
    default: ['udp://127.0.0.1:53'],
    isSingleAllowed: true,
    bindings: TUNNEL,
  }),
  dnsSvcIpRange: text({
    about: 'Addresses that tproxy gives to the names of services.',
    kind: 'cidr',
    default: '100.64.0.1/10',
    bindings: TUNNEL,
  }),
  dnsUpstream: optional(
    list(text({ about: 'A name server.', kind: 'upstream' }), {
      about: 'Name servers for what is no service.',
      example: ['udp://192.0.2.53:53'],
      isSingleAllowed: true,
      bindings: TUNNEL,
      isExtra: true,
    }),
  ),
  dnsUpstreamMode: oneOf(['parallel', 'serial', 'failover', 'random'], {
    about: 'How several of them are asked.',
    default: 'parallel',
    isAnyCase: true,
    bindings: TUNNEL,
    isExtra: true,
  }),
  dnsUnanswerable: oneOf(['refused', 'servfail', 'timeout'], {
    about: 'What the name server answers when it does not know.',
    default: 'refused',
    bindings: TUNNEL,
    isExtra: true,
  }),
  lanIf: optional(
    list(text({ about: 'An interface.', kind: 'interface' }), {
      about: 'Network interfaces whose traffic is intercepted too.',
      example: ['lo'],
      isSingleAllowed: true,
      bindings: TUNNEL,
      isExtra: true,
    }),
  ),
  services: optional(
    list(text({ about: 'A service.', kind: 'tunnel-service' }), {
      about: 'Services that proxy listens for, each with its port.',
      example: ['web:8080', 'dns:5353:udp'],
      bindings: TUNNEL,
    }),
  ),
  udpIdleTimeout: duration({
    about: 'After which an idle UDP session ends; below 5s: 5m.',
    default: 300_000,
    least: 5_000,
    beyond: 'default',
    bindings: TUNNEL,
    isExtra: true,
  }),
  udpCheckInterval: duration({
    about: 'Between two looks for idle UDP sessions; below 1s: 30s.',
    default: 30_000,
    least: 1_000,
    beyond: 'default',
    bindings: TUNNEL,
    isExtra: true,
  }),
};

const legacyOptions = {
  retransmission: optional(legacy('Older files have it.')),
  getSessionTimeout: optional(legacy('Generated files have it.')),
};

/** Bindings that a dialer may have; of any other there is a warning only. */
export const DIALER_BINDINGS: readonly string[] = ['transport', 'transport_udp', 'proxy', 'proxy_udp'];
/** A listener of theirs, or the edge section, brings its dialer along. */
export const IMPLIED_DIALER_BINDINGS: readonly string[] = ['edge', 'tunnel'];

const dialer = section(
  {
    binding: text({
      about: 'transport, transport_udp, proxy or proxy_udp.',
      kind: 'text',
      example: 'transport',
    }),
    options: section(
      { ...xgressFields, connectTimeout: dialTimeout, ...tunnelFields, ...legacyOptions },
      { about: 'Flow control of its circuits.', isFilled: true },
    ),
  },
  { about: 'One way to reach services.' },
);

export const dialersSection = list(dialer, {
  about: 'What the router itself may dial; without this section it dials no service.',
  isEmptyAllowed: true,
});

/** `address` and `advertise` differ from binding to binding: `listener-rules.ts` checks them. */
const listener = section(
  {
    binding: oneOf(['edge', 'transport', 'transport_udp', 'proxy', 'proxy_udp', 'tunnel'], {
      about:
        'Who connects: SDKs (edge), programs that name a service (transport), programs of one service (proxy), a tunnel.',
      example: 'edge',
    }),
    address: optional(text({ about: 'Where to listen.', kind: 'text', example: 'tls:0.0.0.0:3022' })),
    bind: optional(
      text({
        about: 'The same.',
        kind: 'text',
        overriddenBy: 'address',
        isCommented: true,
        example: 'tls:0.0.0.0:3022',
      }),
    ),
    advertise: optional(
      text({
        about: 'How others reach it, <host>:<port>; also taken inside options.',
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
            about: 'How others reach it, <host>:<port>.',
            kind: 'text',
            example: 'router.example:3022',
          }),
        ),
        ...xgressFields,
        ...channelFields('edge', EDGE),
        // Other bindings take the timeout too: it is that of the circuit's own connection.
        connectTimeout: optional(
          duration({
            about: 'How long connecting and greeting may take.',
            millisecondsIn: 'connectTimeoutMs',
            example: '5s',
            isCommented: true,
          }),
        ),
        lookupApiSessionTimeout: duration({
          about: 'How long an API session that is not known here may take to be looked up.',
          default: EDGE_DEFAULTS.lookupApiSessionTimeoutMs,
          least: 1,
          beyond: 'default',
          bindings: EDGE,
          isExtra: true,
        }),
        // Sessions of services are the controllers' matter: nothing is looked up here.
        lookupSessionTimeout: optional(
          duration({ about: 'The same of a session.', bindings: EDGE, isUnsupported: true, isExtra: true }),
        ),
        ...tunnelFields,
        ...legacyOptions,
      },
      { about: 'Flow control of its circuits, and what its binding needs.', isFilled: true },
    ),
  },
  { about: 'One place where programs connect.' },
);

export const listenersSection = list(listener, {
  about: 'Where programs connect; without this section none can.',
  isEmptyAllowed: true,
});
