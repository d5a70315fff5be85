/** `dialers` and `listeners`: how traffic leaves and enters the network at this router. */
import {
  duration,
  legacy,
  list,
  oneOf,
  partOf,
  section,
  text,
  unsupported,
  withPath,
  type ConfigFields,
  type DecodePlace,
} from '../schema-field.ts';
import { parseDatagramAddress, parseFileAddress, parseHostPort } from '../text-kinds.ts';
import { channelFields, dialTimeout, xgressFields } from './channel-schema.ts';
import { tunnelDialerFields, tunnelFields } from './tunnel-schema.ts';

const EDGE = ['edge'];
const edgeChannelFields = channelFields('edge', EDGE);

const legacyOptions = {
  'retransmission?': legacy('Only in older files.'),
  'getSessionTimeout?': legacy('Only in generated files.'),
};

/** Bindings of dialers. Any other binding causes a warning. */
export const DIALER_BINDINGS: readonly string[] = [
  'transport',
  'edge_transport',
  'transport_udp',
  'proxy',
  'proxy_udp',
];
/** A listener with this binding, or the edge section, also provides a dialer. */
export const IMPLIED_DIALER_BINDINGS: readonly string[] = ['edge', 'tunnel'];

export const xgressDialer = section('One way to reach services.')(
  {
    binding: text(
      'transport, which includes edge_transport; edge_transport, transport_udp, proxy or proxy_udp.',
      'text',
      { example: 'transport' },
    ),
    options: section('Flow control of its circuits.', { as: 'xgress', isFilled: true })({
      ...xgressFields,
      connectTimeout: dialTimeout,
      ...tunnelDialerFields,
      ...legacyOptions,
    }),
  },
  withPath,
);

export const dialersSection = list(
  'Destinations that the router itself may dial; without this section it dials no service.',
  xgressDialer,
  {
    // The last of several dialers with one binding is used.
    decode: (all) =>
      all.filter(({ binding }, i) => all.findLastIndex((other) => other.binding === binding) === i),
    isEmptyAllowed: true,
  },
);

/** The rules for `address` and `advertise` depend on the binding; `listener-rules.ts` checks them. */
const listenerFields = {
  binding: oneOf(
    'The kind of clients: SDKs (edge), programs that name a service (transport), programs of one service (proxy), a tunnel.',
    ['edge', 'transport', 'transport_udp', 'proxy', 'proxy_udp', 'tunnel'],
    { example: 'edge' },
  ),
  'address?': text('Listen address.', 'text', { example: 'tls:0.0.0.0:3022' }),
  'bind?': text('Another name of address.', 'text', {
    overriddenBy: 'address',
    isCommented: true,
    example: 'tls:0.0.0.0:3022',
  }),
  'advertise?': text('Address for clients, <host>:<port>; also accepted inside options.', 'text', {
    isCommented: true,
    example: 'router.example:3022',
  }),
  'service?': text('With proxy: the service, by name or id.', 'text', {
    bindings: ['proxy', 'proxy_udp'],
    isExtra: true,
  }),
  options: section('Flow control of its circuits, and options of its binding.', { isFilled: true })(
    {
      'advertise?': text('Address for clients, <host>:<port>.', 'text', { example: 'router.example:3022' }),
      ...xgressFields,
      ...edgeChannelFields,
      // Other bindings use this timeout for the connection of the circuit.
      'connectTimeout?': duration('Time limit for connecting and the hello.', {
        as: 'dialTimeoutMs',
        millisecondsIn: 'connectTimeoutMs',
        example: '5s',
        isCommented: true,
      }),
      lookupApiSessionTimeout: duration('Time limit for looking up an API session that is not known here.', {
        default: 5_000,
        as: 'lookupApiSessionTimeoutMs',
        least: 1,
        beyond: 'default',
        bindings: EDGE,
        isExtra: true,
      }),
      // Controllers manage the sessions of services, so routers do not look them up.
      'lookupSessionTimeout?': unsupported(
        duration('Time limit for looking up a session.', { bindings: EDGE, isExtra: true }),
      ),
      ...tunnelFields,
      ...legacyOptions,
    },
    (all) => ({
      advertise: all.advertise,
      lookupApiSessionTimeoutMs: all.lookupApiSessionTimeoutMs,
      channel: partOf(edgeChannelFields, all),
      tunnel: partOf(tunnelFields, all),
      xgress: { ...partOf(xgressFields, all), connectTimeoutMs: Math.max(0, all.dialTimeoutMs ?? 0) },
    }),
  ),
};

function listenerOf(fields: ConfigFields<typeof listenerFields>, { path }: DecodePlace) {
  const { binding, service, options } = fields;
  const { xgress, channel, lookupApiSessionTimeoutMs, tunnel } = options;
  const base = { path, xgress };
  if (binding === 'tunnel') return { ...base, binding, ...tunnel };
  const place = (fields.address ?? fields.bind)!;
  const advertise = (options.advertise ?? fields.advertise)!;
  if (binding === 'proxy_udp')
    return { ...base, binding, address: parseDatagramAddress(place)!, service: service! };
  if (binding === 'transport_udp')
    return { ...base, binding, address: parseDatagramAddress(place)!, advertise };
  const address = parseFileAddress(place)!;
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

const listener = section('One address at which programs connect.')(listenerFields, listenerOf);

export const listenersSection = list(
  'Addresses at which programs connect; without this section none can.',
  listener,
  { isEmptyAllowed: true },
);
