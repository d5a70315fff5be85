/** `link`: the mesh of routers. */
import type { TObject, TOptional, TString, TNumber } from 'typebox';
import {
  HEALTHY_BACKOFF_DEFAULTS,
  LINK_DEFAULTS,
  LINK_HEARTBEAT_DEFAULTS,
  UNHEALTHY_BACKOFF_DEFAULTS,
} from '../router-default-table.ts';
import type { BackoffConfig } from '../router-config.ts';
import { formatGoDuration } from '../go-duration.ts';
import { duration, flag, integer, list, number, oneOf, optional, section, text } from '../schema-field.ts';
import { channelOptions, heartbeatFields } from './channel-schema.ts';
import { groupsField } from './ctrl-schema.ts';

const DAY_MS = 24 * 3_600_000;

const binding = oneOf(['transport'], { about: 'The kind of link; there is one.', example: 'transport' });

const interfaceField = (about: string): TOptional<TString> =>
  optional(text({ about, kind: 'interface', isExtra: true, isCommented: true, example: 'lo' }));

const listener = section(
  {
    binding,
    bind: text({ about: 'Where to listen.', kind: 'address', example: 'tls:0.0.0.0:6000' }),
    advertise: text({
      about: 'How other routers reach it; the protocol is that of bind unless it is given.',
      kind: 'advertised',
      example: 'router.example:6000',
    }),
    bindInterface: interfaceField(
      'Network interface it belongs to; found by the address of bind when missing.',
    ),
    groups: groupsField,
    options: channelOptions('link'),
  },
  { about: 'One place where routers connect.' },
);

function backoff(
  about: string,
  { minMs, maxMs, factor }: BackoffConfig,
): TObject<{ minRetryInterval: TString; maxRetryInterval: TString; retryBackoffFactor: TNumber }> {
  const bounds = { least: 10, most: DAY_MS };
  return section(
    {
      minRetryInterval: duration({ about: 'The first wait, and the shortest.', default: minMs, ...bounds }),
      maxRetryInterval: duration({ about: 'The longest wait.', default: maxMs, ...bounds }),
      retryBackoffFactor: number({
        about: 'By which each wait grows, give or take a half.',
        default: factor,
        least: 1,
        most: 100,
      }),
    },
    { about, isFilled: true },
  );
}

const dialer = section(
  {
    binding,
    split: flag({
      about:
        'Payloads and acknowledgements on connections of their own, towards routers that know no groups of connections.',
      default: LINK_DEFAULTS.split,
    }),
    bind: optional(
      text({
        about: 'Network interface, by name or address, to dial from.',
        kind: 'interface',
        overriddenBy: 'bindInterface',
        isCommented: true,
        example: 'lo',
      }),
    ),
    bindInterface: interfaceField('The same; it wins.'),
    groups: groupsField,
    options: channelOptions('link dialer'),
    healthyDialBackoff: backoff(
      'While the other router is connected to the controllers.',
      HEALTHY_BACKOFF_DEFAULTS,
    ),
    unhealthyDialBackoff: backoff(
      'While it is not; it is dialed at once when it comes back.',
      UNHEALTHY_BACKOFF_DEFAULTS,
    ),
    maxDefaultConnections: integer({
      about: 'Connections of a link for payloads.',
      default: LINK_DEFAULTS.maxDefaultConnections,
      least: 1,
      most: 100,
      isFractionAllowed: true,
      isExtra: true,
    }),
    maxAckConnections: integer({
      about: 'Connections of a link for acknowledgements alone.',
      default: LINK_DEFAULTS.maxAckConnections,
      least: 0,
      most: 100,
      isFractionAllowed: true,
      isExtra: true,
    }),
    startupDelay: duration({
      about: 'Between a link’s first connection and its others.',
      default: LINK_DEFAULTS.startupDelayMs,
      least: 0,
      isExtra: true,
    }),
  },
  { about: 'One way to dial routers.' },
);

export const linkSection = section(
  {
    listeners: optional(list(listener, { about: 'Where other routers connect.' })),
    dialers: optional(list(dialer, { about: 'How other routers are dialed.' })),
    heartbeats: section(heartbeatFields, {
      about: 'Heartbeats on links. Given in part, the rest is that of ctrl.heartbeats.',
      isExtra: true,
      default: {
        sendInterval: formatGoDuration(LINK_HEARTBEAT_DEFAULTS.sendIntervalMs),
        checkInterval: formatGoDuration(LINK_HEARTBEAT_DEFAULTS.checkIntervalMs),
        closeUnresponsiveTimeout: formatGoDuration(LINK_HEARTBEAT_DEFAULTS.closeUnresponsiveMs),
      },
    }),
    payloadSenderQueueSize: integer({
      about: 'Payloads that may wait for a link; more are dropped, and sent again by their circuit.',
      default: LINK_DEFAULTS.payloadQueueSize,
      least: 1,
      isExtra: true,
    }),
    ackSenderQueueSize: integer({
      about: 'Acknowledgements that may wait for a link.',
      default: LINK_DEFAULTS.ackQueueSize,
      least: 1,
      isExtra: true,
    }),
  },
  {
    about: 'The mesh; without this section the router neither dials routers nor lets them in.',
    isEmptyAllowed: true,
  },
);
