/** Options of channels and of circuits, which several sections share. */
import { XGRESS_DEFAULTS } from '#wire';
import {
  duration,
  flag,
  integer,
  number,
  optional,
  section,
  timerMs,
  unread,
  type Field,
} from '../schema-field.ts';

const CONNECT_TIMEOUT = { least: 30, most: 60_000 };

const OUT_QUEUE_SIZE = 4;
/** OpenZiti takes this where a link or edge listener leaves `outQueueSize` at 4, which is too small for data. */
const DATA_OUT_QUEUE_SIZE = 64;

/** `ctrl` and edge listeners bound how many may connect at once; links are bounded below only. */
export function channelFields(use: 'ctrl' | 'link' | 'link dialer' | 'edge', bindings?: readonly string[]) {
  const only = bindings === undefined ? {} : { bindings };
  const isLink = use === 'link' || use === 'link dialer';
  // Who dials takes nothing in.
  const ofListeners = use === 'link dialer' ? { isUnsupported: true } : {};
  return {
    outQueueSize: integer({
      about: 'Messages that may wait while the connection takes none.',
      default: use === 'ctrl' ? OUT_QUEUE_SIZE : DATA_OUT_QUEUE_SIZE,
      decode: (size) => (use !== 'ctrl' && size === OUT_QUEUE_SIZE ? DATA_OUT_QUEUE_SIZE : size),
      least: 0,
      isFractionAllowed: true,
      ...only,
    }),
    maxQueuedConnects: integer({
      about: 'Connections that may wait to be greeted.',
      default: 1,
      least: isLink ? 0 : 1,
      ...(isLink ? {} : { most: 5_000 }),
      ...ofListeners,
      ...only,
    }),
    maxOutstandingConnects: integer({
      about: 'Connections that may be greeting at once.',
      default: 16,
      least: 1,
      ...(isLink ? {} : { most: 1_000 }),
      ...ofListeners,
      ...only,
    }),
    // `connectTimeoutMs` holds it once the file is read.
    connectTimeout: unread(
      optional(
        duration({
          about: 'How long connecting and greeting may take. Wins over connectTimeoutMs.',
          millisecondsIn: 'connectTimeoutMs',
          ...CONNECT_TIMEOUT,
          ...only,
          example: '5s',
          isCommented: true,
        }),
      ),
    ),
    connectTimeoutMs: integer({
      about: 'The same in milliseconds.',
      default: 5_000,
      ...CONNECT_TIMEOUT,
      boundsYieldTo: 'connectTimeout',
      ...only,
    }),
    writeTimeout: duration({
      about: 'How long a write may stand still before the connection is given up; 0: for ever.',
      default: 0,
      as: 'writeTimeoutMs',
      least: 0,
      beyond: 'clamp',
      ...only,
    }),
  };
}

export function channelOptions(use: 'ctrl' | 'link' | 'link dialer') {
  return section(channelFields(use), {
    about: 'How the channel queues, connects and writes.',
    as: 'channel',
    isFilled: true,
  });
}

export const heartbeatFields = {
  sendInterval: duration({
    about: 'Between two heartbeats.',
    default: 10_000,
    as: 'sendIntervalMs',
    least: 1,
    beyond: 'default',
  }),
  checkInterval: duration({
    about: 'Between two looks at whether the peer still answers.',
    default: 1_000,
    as: 'checkIntervalMs',
    least: 1,
    beyond: 'default',
  }),
  closeUnresponsiveTimeout: duration({
    about: 'How long a peer may be silent before the connection is closed; 0: for ever.',
    default: 30_000,
    as: 'closeUnresponsiveMs',
    least: 0,
    beyond: 'clamp',
  }),
};

const X = XGRESS_DEFAULTS;
const POSITIVE = { least: 1, beyond: 'default' } as const;

export const xgressFields = {
  mtu: integer({
    about: 'Largest payload in bytes; 0: as it was read.',
    default: 0,
    least: 0,
    beyond: 'clamp',
  }),
  randomDrops: flag({ about: 'Drops payloads by chance: for tests of a network.', default: false }),
  drop1InN: integer({
    about: 'With randomDrops: one payload in so many.',
    default: 100,
    least: 1,
    beyond: 'default',
  }),
  txQueueSize: integer({
    about: 'Payloads in order that may wait for the local connection.',
    default: 1,
    least: 0,
    beyond: 'default',
  }),
  txPortalStartSize: bytes('Bytes that may be on their way at first.', X.txPortalStartSize),
  txPortalMinSize: bytes('The window does not shrink below.', X.txPortalMinSize),
  txPortalMaxSize: bytes('The window does not grow beyond.', X.txPortalMaxSize),
  txPortalIncreaseThresh: count('Acknowledgements after which the window grows.', X.txPortalIncreaseThresh),
  txPortalIncreaseScale: factor(
    'Of what was acknowledged since, so much is added to the window.',
    X.txPortalIncreaseScale,
  ),
  txPortalRetxThresh: count('Payloads sent again after which the window shrinks.', X.txPortalRetxThresh),
  txPortalRetxScale: factor('To so much of its size.', X.txPortalRetxScale),
  txPortalDupAckThresh: count(
    'Acknowledgements seen twice after which payloads wait longer.',
    X.txPortalDupAckThresh,
  ),
  txPortalDupAckScale: unread(factor('By so much of the round trip.', 0.9)),
  rxBufferSize: bytes('Bytes received that may wait for the local connection.', X.rxBufferSize),
  retxStartMs: milliseconds('Milliseconds before a payload is first sent again.', X.retxStartMs),
  retxScale: factor('A payload is sent again after so many round trips.', X.retxScale),
  retxAddMs: integer({
    about: 'And so many milliseconds more.',
    default: X.retxAddMs,
    decode: timerMs,
    least: 0,
    beyond: 'clamp',
  }),
  retxMaxMs: integer({
    about: 'Longest wait in milliseconds before a payload is sent again.',
    default: X.retxMaxMs,
    decode: timerMs,
    least: 1,
    beyond: 'default',
    isExtra: true,
  }),
  maxRttScale: integer({
    about: 'The wait grows to at most so many round trips; 0: without end, 1 counts as 2.',
    default: X.maxRttScale,
    decode: (scale) => (scale === 1 ? 2 : scale),
    least: 0,
    beyond: 'default',
    isExtra: true,
  }),
  maxCloseWaitMs: milliseconds(
    'Milliseconds that a closed circuit may take to deliver what is on its way.',
    30_000,
  ),
  getCircuitTimeout: duration({
    about: 'How long a controller may take to make a circuit.',
    default: 30_000,
    as: 'getCircuitTimeoutMs',
    ...POSITIVE,
  }),
  circuitStartTimeout: duration({
    about: 'How long a circuit may take to be started.',
    default: 180_000,
    as: 'circuitStartTimeoutMs',
    ...POSITIVE,
  }),
};

function bytes(about: string, value: number): Field<number, number, never> {
  return integer({ about, default: value, ...POSITIVE });
}

function count(about: string, value: number): Field<number, number, never> {
  return integer({ about, default: value, ...POSITIVE });
}

function milliseconds(about: string, value: number): Field<number, number, never> {
  return integer({ about, default: value, decode: timerMs, ...POSITIVE });
}

function factor(about: string, value: number): Field<number, number, never> {
  return number({ about, default: value, least: 0, beyond: 'default' });
}

/** Of the connection that a dialer opens; of a listener's it is the channel's. */
export const dialTimeout = duration({
  about: 'How long a connection may take to be made; 0: as the system has it.',
  default: 0,
  as: 'connectTimeoutMs',
  least: 0,
  beyond: 'clamp',
});
