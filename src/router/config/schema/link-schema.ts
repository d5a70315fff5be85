/** `link`: the mesh of routers. */
import { duration, flag, integer, list, number, oneOf, section, text, unread } from '../schema-field.ts';
import { findInterface } from '../text-kinds.ts';
import { channelOptions, heartbeatFields } from './channel-schema.ts';
import { groupsField } from './ctrl-schema.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

const binding = unread(
  oneOf('The kind of link; transport is the only one.', ['transport'], { example: 'transport' }),
);

const interfaceField = (about: string) =>
  text(about, 'interface', { isExtra: true, isCommented: true, example: 'lo' });

const listener = section('One address at which routers connect.')(
  {
    binding,
    bind: text('Listen address.', 'address', { example: 'tls:0.0.0.0:6000' }),
    advertise: text(
      'Address for other routers; the protocol is that of bind unless it is given.',
      'advertised',
      { example: 'router.example:6000' },
    ),
    'bindInterface?': interfaceField(
      'Network interface of the listener; by default determined from the address of bind.',
    ),
    groups: groupsField,
    options: channelOptions('link'),
  },
  ({ bindInterface, ...fields }, { path, interfaces }) => ({
    path,
    ...fields,
    advertise: { type: fields.bind.type, ...fields.advertise },
    // The name of the interface with this address, or '' for all interfaces. It is part of the key of a link.
    localBinding: (bindInterface ?? findInterface(fields.bind.host, interfaces))?.name ?? '',
  }),
);

function backoff<Name extends string>(about: string, as: Name, minMs: number, maxMs: number, factor: number) {
  const bounds = { least: 10, most: DAY_MS };
  return section(about, { as, isFilled: true })({
    minRetryInterval: duration('The first and minimum wait.', { as: 'minMs', default: minMs, ...bounds }),
    maxRetryInterval: duration('The maximum wait.', { as: 'maxMs', default: maxMs, ...bounds }),
    retryBackoffFactor: number('Factor by which each wait grows, randomized by up to a half.', {
      as: 'factor',
      default: factor,
      least: 1,
      most: 100,
    }),
  });
}

export const linkDialer = section('One way to dial routers.')(
  {
    binding,
    split: flag('Separate connections for payloads and acknowledgements; false: one connection for both.', {
      default: true,
    }),
    'bind?': text('Network interface, by name or address, from which links are dialed.', 'interface', {
      overriddenBy: 'bindInterface',
      isCommented: true,
      example: 'lo',
    }),
    'bindInterface?': interfaceField('The same, with precedence.'),
    groups: groupsField,
    options: channelOptions('link dialer'),
    healthyDialBackoff: backoff(
      'Applies while the other router is connected to the controllers.',
      'healthyBackoff',
      5_000,
      5 * MINUTE_MS,
      1.5,
    ),
    unhealthyDialBackoff: backoff(
      'Applies while it is not; it is dialed at once when it reconnects.',
      'unhealthyBackoff',
      MINUTE_MS,
      60 * MINUTE_MS,
      10,
    ),
    maxDefaultConnections: integer('Connections of a link for payloads.', {
      default: 3,
      least: 1,
      most: 100,
      isFractionAllowed: true,
      isExtra: true,
    }),
    maxAckConnections: integer('Connections of a link for acknowledgements only.', {
      default: 1,
      least: 0,
      most: 100,
      isFractionAllowed: true,
      isExtra: true,
    }),
    startupDelay: duration('Delay between a link’s first connection and its others.', {
      default: 3_000,
      as: 'startupDelayMs',
      least: 0,
      isExtra: true,
    }),
  },
  ({ bindInterface, ...fields }, { path }) => ({
    path,
    ...fields,
    bind: bindInterface ?? fields.bind,
  }),
);

export const linkSection = section(
  'The mesh; without this section the router neither dials nor accepts routers.',
  { isEmptyAllowed: true },
)({
  'listeners?': list('Addresses at which other routers connect.', listener),
  'dialers?': list('How other routers are dialed.', linkDialer),
  heartbeats: section('Heartbeats on links. Missing fields have the values of ctrl.heartbeats.', {
    as: 'heartbeat',
    isExtra: true,
    default: { sendInterval: '10s', checkInterval: '1s', closeUnresponsiveTimeout: '1m' },
  })(heartbeatFields),
  payloadSenderQueueSize: integer(
    'Payloads that may wait for a link; further ones are dropped and retransmitted.',
    { default: 128, as: 'payloadQueueSize', least: 1, isExtra: true },
  ),
  ackSenderQueueSize: integer('Acknowledgements that may wait for a link.', {
    default: 64,
    as: 'ackQueueSize',
    least: 1,
    isExtra: true,
  }),
});
