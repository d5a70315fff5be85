/** Options of channels and of circuits, which several sections share. */
import type { TInteger, TObject, TOptional, TString } from 'typebox';
import {
  CHANNEL_DEFAULTS,
  CTRL_DEFAULTS,
  DATA_OUT_QUEUE_SIZE,
  XGRESS_CONFIG_DEFAULTS,
} from '../router-default-table.ts';
import { duration, flag, integer, number, optional, section } from '../schema-field.ts';

const CONNECT_TIMEOUT = { least: 30, most: 60_000 };

export type ChannelFields = {
  outQueueSize: TInteger;
  maxQueuedConnects: TInteger;
  maxOutstandingConnects: TInteger;
  connectTimeout: TOptional<TString>;
  connectTimeoutMs: TInteger;
  writeTimeout: TString;
};

/** `ctrl` and edge listeners bound how many may connect at once; links are bounded below only. */
export function channelFields(
  use: 'ctrl' | 'link' | 'link dialer' | 'edge',
  bindings?: readonly string[],
): ChannelFields {
  const only = bindings === undefined ? {} : { bindings };
  const isLink = use === 'link' || use === 'link dialer';
  // Who dials takes nothing in.
  const ofListeners = use === 'link dialer' ? { isUnsupported: true } : {};
  return {
    outQueueSize: integer({
      about: 'Messages that may wait while the connection takes none.',
      default: use === 'ctrl' ? CHANNEL_DEFAULTS.outQueueSize : DATA_OUT_QUEUE_SIZE,
      least: 0,
      isFractionAllowed: true,
      ...only,
    }),
    maxQueuedConnects: integer({
      about: 'Connections that may wait to be greeted.',
      default: CHANNEL_DEFAULTS.maxQueuedConnects,
      least: isLink ? 0 : 1,
      ...(isLink ? {} : { most: 5_000 }),
      ...ofListeners,
      ...only,
    }),
    maxOutstandingConnects: integer({
      about: 'Connections that may be greeting at once.',
      default: CHANNEL_DEFAULTS.maxOutstandingConnects,
      least: 1,
      ...(isLink ? {} : { most: 1_000 }),
      ...ofListeners,
      ...only,
    }),
    connectTimeout: optional(
      duration({
        about: 'How long connecting and greeting may take. Wins over connectTimeoutMs.',
        millisecondsIn: 'connectTimeoutMs',
        ...CONNECT_TIMEOUT,
        ...only,
        example: '5s',
        isCommented: true,
      }),
    ),
    connectTimeoutMs: integer({
      about: 'The same in milliseconds.',
      default: CHANNEL_DEFAULTS.connectTimeoutMs,
      ...CONNECT_TIMEOUT,
      boundsYieldTo: 'connectTimeout',
      ...only,
    }),
    writeTimeout: duration({
      about: 'How long a write may stand still before the connection is given up; 0: for ever.',
      default: CHANNEL_DEFAULTS.writeTimeoutMs,
      least: 0,
      beyond: 'clamp',
      ...only,
    }),
  };
}

export function channelOptions(use: 'ctrl' | 'link' | 'link dialer'): TObject<ChannelFields> {
  return section(channelFields(use), {
    about: 'How the channel queues, connects and writes.',
    isFilled: true,
  });
}

const HEARTBEAT = CTRL_DEFAULTS.heartbeat;

export const heartbeatFields = {
  sendInterval: duration({
    about: 'Between two heartbeats.',
    default: HEARTBEAT.sendIntervalMs,
    least: 1,
    beyond: 'default',
  }),
  checkInterval: duration({
    about: 'Between two looks at whether the peer still answers.',
    default: HEARTBEAT.checkIntervalMs,
    least: 1,
    beyond: 'default',
  }),
  closeUnresponsiveTimeout: duration({
    about: 'How long a peer may be silent before the connection is closed; 0: for ever.',
    default: HEARTBEAT.closeUnresponsiveMs,
    least: 0,
    beyond: 'clamp',
  }),
};

const X = XGRESS_CONFIG_DEFAULTS;

export const xgressFields = {
  mtu: integer({
    about: 'Largest payload in bytes; 0: as it was read.',
    default: X.mtu,
    least: 0,
    beyond: 'clamp',
  }),
  randomDrops: flag({ about: 'Drops payloads by chance: for tests of a network.', default: X.randomDrops }),
  drop1InN: integer({
    about: 'With randomDrops: one payload in so many.',
    default: X.drop1InN,
    least: 1,
    beyond: 'default',
  }),
  txQueueSize: integer({
    about: 'Payloads in order that may wait for the local connection.',
    default: X.txQueueSize,
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
  txPortalDupAckScale: factor('By so much of the round trip.', 0.9),
  rxBufferSize: bytes('Bytes received that may wait for the local connection.', X.rxBufferSize),
  retxStartMs: count('Milliseconds before a payload is first sent again.', X.retxStartMs),
  retxScale: factor('A payload is sent again after so many round trips.', X.retxScale),
  retxAddMs: integer({
    about: 'And so many milliseconds more.',
    default: X.retxAddMs,
    least: 0,
    beyond: 'clamp',
  }),
  retxMaxMs: integer({
    about: 'Longest wait in milliseconds before a payload is sent again.',
    default: X.retxMaxMs,
    least: 1,
    beyond: 'default',
    isExtra: true,
  }),
  maxRttScale: integer({
    about: 'The wait grows to at most so many round trips; 0: without end, 1 counts as 2.',
    default: X.maxRttScale,
    least: 0,
    beyond: 'default',
    isExtra: true,
  }),
  maxCloseWaitMs: count(
    'Milliseconds that a closed circuit may take to deliver what is on its way.',
    X.maxCloseWaitMs,
  ),
  getCircuitTimeout: wait('How long a controller may take to make a circuit.', X.getCircuitTimeoutMs),
  circuitStartTimeout: wait('How long a circuit may take to be started.', X.circuitStartTimeoutMs),
};

function bytes(about: string, value: number): TInteger {
  return integer({ about, default: value, least: 1, beyond: 'default' });
}

function count(about: string, value: number): TInteger {
  return integer({ about, default: value, least: 1, beyond: 'default' });
}

function factor(about: string, value: number) {
  return number({ about, default: value, least: 0, beyond: 'default' });
}

function wait(about: string, ms: number): TString {
  return duration({ about, default: ms, least: 1, beyond: 'default' });
}

/** Of the connection that a dialer opens; of a listener's it is the channel's. */
export const dialTimeout = duration({
  about: 'How long a connection may take to be made; 0: as the system has it.',
  default: X.connectTimeoutMs,
  least: 0,
  beyond: 'clamp',
});
