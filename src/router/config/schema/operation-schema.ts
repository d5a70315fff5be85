/** Sections about the router's operation: forwarding, checks, metrics, and files that it writes. */
import {
  duration,
  flag,
  integer,
  legacy,
  section,
  text,
  timerMs,
  unread,
  unsupported,
  type Field,
} from '../schema-field.ts';

const pool = (about: string, value: number, most: number): Field<number, number, never> =>
  integer(about, { default: value, least: 1, most });

export const forwarderSection = section('Forwarding and supervision of circuits.', {
  isFilled: true,
  isKindLenient: true,
})({
  faultTxInterval: milliseconds(
    'faultTxIntervalMs',
    'Interval of fault reports; 0: faults are not reported.',
    15_000,
  ),
  idleCircuitTimeout: milliseconds(
    'idleCircuitTimeoutMs',
    'Time without traffic after which a circuit counts as idle.',
    60_000,
  ),
  idleTxInterval: milliseconds(
    'idleTxIntervalMs',
    'Interval of checks for idle circuits; 0: no checks.',
    60_000,
  ),
  linkDialQueueLength: pool('Dials of links that may wait.', 1_000, 10_000),
  linkDialWorkerCount: pool('Concurrent dials of links.', 32, 10_000),
  rateLimitedQueueLength: pool(
    'Rate-limited requests that may wait, including those about terminators.',
    5_000,
    50_000,
  ),
  rateLimitedWorkerCount: pool('Concurrent rate-limited requests.', 5, 10_000),
  xgressCloseCheckInterval: integer('Milliseconds without traffic after which an ended circuit is removed.', {
    default: 5_000,
    as: 'xgressCloseCheckIntervalMs',
    decode: timerMs,
    least: 1,
    beyond: 'default',
  }),
  xgressDialDwellTime: milliseconds(
    'xgressDialDwellMs',
    'Delay before every dial of a service, for debugging.',
    0,
  ),
  xgressDialQueueLength: pool('Dials of services that may wait.', 1_000, 10_000),
  xgressDialWorkerCount: pool('Concurrent dials of services.', 128, 10_000),
  'latencyProbeInterval?': unread(
    integer("Interval in milliseconds of a link's heartbeats, unless link.heartbeats is set.", {
      least: 0,
      beyond: 'clamp',
      isCommented: true,
      example: 10_000,
    }),
  ),
  'unresponsiveLinkTimeout?': unsupported(
    duration('Read by OpenZiti without effect.', { least: 5_000, integerUnitMs: 1, isExtra: true }),
  ),
  'latencyProbeTimeout?': legacy('Only in older files.'),
  'idleSessionTimeout?': legacy('Only in older files.'),
  'retransmission?': legacy('Only in older files.'),
});

function milliseconds<Name extends string>(as: Name, about: string, value: number) {
  return integer(`Milliseconds. ${about}`, {
    default: value,
    as,
    decode: timerMs,
    least: 0,
    beyond: 'clamp',
  });
}

export const healthChecksSection = section('Health checks, whose results the web section serves.', {
  isFilled: true,
  isKindLenient: true,
})({
  ctrlPingCheck: section('Checks whether controllers respond.', {
    as: 'ctrlPing',
    isFilled: true,
    isKindLenient: true,
  })({
    interval: every('intervalMs', 'Interval of pings to the controllers.', 30_000),
    timeout: duration('Time limit for a ping.', {
      as: 'timeoutMs',
      default: 15_000,
      least: 1e-6,
      beyond: 'default',
      isZeroAllowed: true,
    }),
    initialDelay: delay('initialDelayMs', 'Delay before the first ping.', 15_000),
  }),
  linkCheck: section('Checks whether there are links.', { as: 'link', isFilled: true, isKindLenient: true })({
    interval: every('intervalMs', 'Interval of counting the links.', 5_000),
    initialDelay: delay('initialDelayMs', 'Delay before the first count.', 1_000),
    minLinks: integer('With fewer links the check fails; with 0 it only reports the links.', {
      default: 0,
      least: 0,
      beyond: 'clamp',
    }),
  }),
});

function every<Name extends string>(as: Name, about: string, ms: number) {
  return duration(about, { as, default: ms, least: 1e-6, isZeroAllowed: true });
}

function delay<Name extends string>(as: Name, about: string, ms: number) {
  return duration(about, { as, default: ms, least: 0, beyond: 'clamp', isZeroAllowed: true });
}

export const metricsSection = section('Metrics for the controllers.', {
  isFilled: true,
  isEmptyAllowed: true,
})({
  reportInterval: duration('Interval of reports to the controllers.', {
    default: 60_000,
    as: 'reportIntervalMs',
    least: 1e-6,
  }),
  intervalAgeThreshold: duration('Age at which a batch of usage counters is sent; 0: the default.', {
    default: 80_000,
    as: 'intervalAgeThresholdMs',
    least: 1e-6,
    beyond: 'default',
  }),
  messageQueueSize: integer('Reports that are kept while no controller accepts them.', {
    default: 10,
    least: 0,
  }),
  'eventQueueSize?': unsupported(
    integer('Events that may wait to be counted.', { least: 16, beyond: 'clamp', isExtra: true }),
  ),
  'enableDataDelayMetric?': unsupported(flag('Measures delays of data.', { isExtra: true })),
});

export const traceSection = section('Records the decoded messages of the control channels, for debugging.', {
  isCommented: true,
})({
  path: text('Path of the file, which is overwritten at every start.', 'path', { example: 'router.trace' }),
});

export const profileSection = section('For debugging.', { isEmptyAllowed: true, isCommented: true })({
  'cpu?': section('Profiles of CPU time.')({
    path: text('A V8 CPU profile, written at the end or on SIGUSR2.', 'path', {
      example: 'router.cpuprofile',
    }),
  }),
  'memory?': section('Profiles of memory.')({
    path: text('Path of heap snapshots, <path>-0 and <path>-1 in turn.', 'path', { example: 'router.heap' }),
    intervalMs: integer('Interval of snapshots in milliseconds.', {
      default: 15_000,
      decode: timerMs,
      least: 1,
    }),
  }),
});
