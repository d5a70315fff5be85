/** Options of channels and of circuits, which several sections share. */
import { XGRESS_DEFAULTS } from '#wire/xgress';
import { duration, flag, integer, number, section, timerMs, unread, type Field } from '../schema-field.ts';

const CONNECT_TIMEOUT = { least: 30, most: 60_000 };

const OUT_QUEUE_SIZE = 4;
/** OpenZiti uses this value where a link or edge listener sets `outQueueSize` to 4, which is too small for data. */
const DATA_OUT_QUEUE_SIZE = 64;

/** `ctrl` and edge listeners limit the concurrent connects; for links there is only a lower bound. */
export function channelFields(use: 'ctrl' | 'link' | 'link dialer' | 'edge', bindings?: readonly string[]) {
  const only = bindings === undefined ? {} : { bindings };
  const isLink = use === 'link' || use === 'link dialer';
  // A dialer accepts no connections.
  const ofListeners = use === 'link dialer' ? { isUnsupported: true } : {};
  return {
    outQueueSize: integer('Messages that may wait while the connection is full.', {
      default: use === 'ctrl' ? OUT_QUEUE_SIZE : DATA_OUT_QUEUE_SIZE,
      decode: (size) => (use !== 'ctrl' && size === OUT_QUEUE_SIZE ? DATA_OUT_QUEUE_SIZE : size),
      least: 0,
      isFractionAllowed: true,
      ...only,
    }),
    maxQueuedConnects: integer('Connections that may wait for their hello.', {
      default: 1,
      least: isLink ? 0 : 1,
      ...(isLink ? {} : { most: 5_000 }),
      ...ofListeners,
      ...only,
    }),
    maxOutstandingConnects: integer('Connections with a pending hello.', {
      default: 16,
      least: 1,
      ...(isLink ? {} : { most: 1_000 }),
      ...ofListeners,
      ...only,
    }),
    // The decoded value is part of `connectTimeoutMs`.
    'connectTimeout?': unread(
      duration('Time limit for connecting and the hello. Has precedence over connectTimeoutMs.', {
        millisecondsIn: 'connectTimeoutMs',
        ...CONNECT_TIMEOUT,
        ...only,
        example: '5s',
        isCommented: true,
      }),
    ),
    connectTimeoutMs: integer('Time limit for connecting and the hello, in milliseconds.', {
      default: 5_000,
      ...CONNECT_TIMEOUT,
      boundsYieldTo: 'connectTimeout',
      ...only,
    }),
    writeTimeout: duration('Closes a connection whose write makes no progress for this time; 0: never.', {
      default: 0,
      as: 'writeTimeoutMs',
      least: 0,
      beyond: 'clamp',
      ...only,
    }),
  };
}

export function channelOptions(use: 'ctrl' | 'link' | 'link dialer') {
  return section('Queues and time limits of the channel.', { as: 'channel', isFilled: true })(
    channelFields(use),
  );
}

export const heartbeatFields = {
  sendInterval: duration('Interval of heartbeats.', {
    default: 10_000,
    as: 'sendIntervalMs',
    least: 1,
    beyond: 'default',
  }),
  checkInterval: duration('Interval of the checks whether the peer still responds.', {
    default: 1_000,
    as: 'checkIntervalMs',
    least: 1,
    beyond: 'default',
  }),
  closeUnresponsiveTimeout: duration('Closes a connection whose peer was silent for this time; 0: never.', {
    default: 30_000,
    as: 'closeUnresponsiveMs',
    least: 0,
    beyond: 'clamp',
  }),
};

const X = XGRESS_DEFAULTS;
const POSITIVE = { least: 1, beyond: 'default' } as const;

export const xgressFields = {
  mtu: integer('Largest payload in bytes; 0: as it was read.', { default: 0, least: 0, beyond: 'clamp' }),
  randomDrops: flag('Drops payloads at random, for tests of a network.', { default: false }),
  drop1InN: count('With randomDrops: one payload in this many.', 100),
  txQueueSize: integer('Payloads in order that may wait for the local connection.', {
    default: 1,
    least: 0,
    beyond: 'default',
  }),
  txPortalStartSize: count('Initial window: bytes that may be unacknowledged.', X.txPortalStartSize),
  txPortalMinSize: count('Minimum size of the window.', X.txPortalMinSize),
  txPortalMaxSize: count('Maximum size of the window.', X.txPortalMaxSize),
  txPortalIncreaseThresh: count('Acknowledgements after which the window grows.', X.txPortalIncreaseThresh),
  txPortalIncreaseScale: factor(
    'The fraction of the acknowledged bytes since then that is added to the window.',
    X.txPortalIncreaseScale,
  ),
  txPortalRetxThresh: count('Retransmissions after which the window shrinks.', X.txPortalRetxThresh),
  txPortalRetxScale: factor('Factor by which it shrinks.', X.txPortalRetxScale),
  txPortalDupAckThresh: count(
    'Duplicate acknowledgements after which payloads wait longer.',
    X.txPortalDupAckThresh,
  ),
  txPortalDupAckScale: unread(factor('Factor of the round trip by which they wait longer.', 0.9)),
  rxBufferSize: count('Received bytes that may wait for the local connection.', X.rxBufferSize),
  retxStartMs: milliseconds('Milliseconds before the first retransmission of a payload.', X.retxStartMs),
  retxScale: factor('A payload is retransmitted after this many round trips.', X.retxScale),
  retxAddMs: integer('Milliseconds that are added to that.', {
    default: X.retxAddMs,
    decode: timerMs,
    least: 0,
    beyond: 'clamp',
  }),
  retxMaxMs: integer('Maximum milliseconds before a payload is retransmitted.', {
    default: X.retxMaxMs,
    decode: timerMs,
    least: 1,
    beyond: 'default',
    isExtra: true,
  }),
  maxRttScale: integer('Limit for the growth of the wait, in round trips; 0: none, 1 counts as 2.', {
    default: X.maxRttScale,
    decode: (scale) => (scale === 1 ? 2 : scale),
    least: 0,
    beyond: 'default',
    isExtra: true,
  }),
  maxCloseWaitMs: milliseconds('Milliseconds for a closed circuit to deliver its remaining data.', 30_000),
  getCircuitTimeout: duration('Time limit for a controller to create a circuit.', {
    default: 30_000,
    as: 'getCircuitTimeoutMs',
    ...POSITIVE,
  }),
  circuitStartTimeout: duration('Time limit for a circuit to be started.', {
    default: 180_000,
    as: 'circuitStartTimeoutMs',
    ...POSITIVE,
  }),
};

function count(about: string, value: number): Field<number, number, never> {
  return integer(about, { default: value, ...POSITIVE });
}

function milliseconds(about: string, value: number): Field<number, number, never> {
  return integer(about, { default: value, decode: timerMs, ...POSITIVE });
}

function factor(about: string, value: number): Field<number, number, never> {
  return number(about, { default: value, least: 0, beyond: 'default' });
}

/** For a dialer, the timeout of the connection that it opens; for a listener, that of the channel. */
export const dialTimeout = duration("Time limit for a connection to be made; 0: the system's.", {
  default: 0,
  as: 'connectTimeoutMs',
  least: 0,
  beyond: 'clamp',
});
