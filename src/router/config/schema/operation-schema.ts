/** Sections about the router's operation: forwarding, checks, metrics, and files that it writes. */
import {
  duration,
  flag,
  integer,
  legacy,
  optional,
  section,
  text,
  timerMs,
  unread,
  unsupported,
  type Field,
} from '../schema-field.ts';

const pool = (about: string, value: number, most: number): Field<number, number, never> =>
  integer({ about, default: value, least: 1, most });

export const forwarderSection = section(
  {
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
    xgressCloseCheckInterval: integer({
      about: 'Milliseconds without traffic after which an ended circuit is removed.',
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
    latencyProbeInterval: unread(
      optional(
        integer({
          about: "Interval in milliseconds of a link's heartbeats, unless link.heartbeats is set.",
          least: 0,
          beyond: 'clamp',
          isCommented: true,
          example: 10_000,
        }),
      ),
    ),
    unresponsiveLinkTimeout: unsupported(
      optional(
        duration({
          about: 'Read by OpenZiti without effect.',
          least: 5_000,
          integerUnitMs: 1,
          isExtra: true,
        }),
      ),
    ),
    latencyProbeTimeout: legacy('Only in older files.'),
    idleSessionTimeout: legacy('Only in older files.'),
    retransmission: legacy('Only in older files.'),
  },
  { about: 'Forwarding and supervision of circuits.', isFilled: true, isKindLenient: true },
);

function milliseconds<Name extends string>(as: Name, about: string, value: number) {
  return integer({
    about: `Milliseconds. ${about}`,
    default: value,
    as,
    decode: timerMs,
    least: 0,
    beyond: 'clamp',
  });
}

export const healthChecksSection = section(
  {
    ctrlPingCheck: section(
      {
        interval: every('intervalMs', 'Interval of pings to the controllers.', 30_000),
        timeout: duration({
          about: 'Time limit for a ping.',
          as: 'timeoutMs',
          default: 15_000,
          least: 1e-6,
          beyond: 'default',
          isZeroAllowed: true,
        }),
        initialDelay: delay('initialDelayMs', 'Delay before the first ping.', 15_000),
      },
      { about: 'Checks whether controllers respond.', as: 'ctrlPing', isFilled: true, isKindLenient: true },
    ),
    linkCheck: section(
      {
        interval: every('intervalMs', 'Interval of counting the links.', 5_000),
        initialDelay: delay('initialDelayMs', 'Delay before the first count.', 1_000),
        minLinks: integer({
          about: 'With fewer links the check fails; with 0 it only reports the links.',
          default: 0,
          least: 0,
          beyond: 'clamp',
        }),
      },
      { about: 'Checks whether there are links.', as: 'link', isFilled: true, isKindLenient: true },
    ),
  },
  { about: 'Health checks, whose results the web section serves.', isFilled: true, isKindLenient: true },
);

function every<Name extends string>(as: Name, about: string, ms: number) {
  return duration({ about, as, default: ms, least: 1e-6, isZeroAllowed: true });
}

function delay<Name extends string>(as: Name, about: string, ms: number) {
  return duration({ about, as, default: ms, least: 0, beyond: 'clamp', isZeroAllowed: true });
}

export const metricsSection = section(
  {
    reportInterval: duration({
      about: 'Interval of reports to the controllers.',
      default: 60_000,
      as: 'reportIntervalMs',
      least: 1e-6,
    }),
    intervalAgeThreshold: duration({
      about: 'Age at which a batch of usage counters is sent; 0: the default.',
      default: 80_000,
      as: 'intervalAgeThresholdMs',
      least: 1e-6,
      beyond: 'default',
    }),
    messageQueueSize: integer({
      about: 'Reports that are kept while no controller accepts them.',
      default: 10,
      least: 0,
    }),
    eventQueueSize: unsupported(
      optional(
        integer({ about: 'Events that may wait to be counted.', least: 16, beyond: 'clamp', isExtra: true }),
      ),
    ),
    enableDataDelayMetric: unsupported(optional(flag({ about: 'Measures delays of data.', isExtra: true }))),
  },
  { about: 'Metrics for the controllers.', isFilled: true, isEmptyAllowed: true },
);

export const traceSection = section(
  {
    path: text({
      about: 'Path of the file, which is overwritten at every start.',
      kind: 'path',
      example: 'router.trace',
    }),
  },
  { about: 'Records the decoded messages of the control channels, for debugging.', isCommented: true },
);

export const profileSection = section(
  {
    cpu: optional(
      section(
        {
          path: text({
            about: 'A V8 CPU profile, written at the end or on SIGUSR2.',
            kind: 'path',
            example: 'router.cpuprofile',
          }),
        },
        { about: 'Profiles of CPU time.' },
      ),
    ),
    memory: optional(
      section(
        {
          path: text({
            about: 'Path of heap snapshots, <path>-0 and <path>-1 in turn.',
            kind: 'path',
            example: 'router.heap',
          }),
          intervalMs: integer({
            about: 'Interval of snapshots in milliseconds.',
            default: 15_000,
            decode: timerMs,
            least: 1,
          }),
        },
        { about: 'Profiles of memory.' },
      ),
    ),
  },
  { about: 'For debugging.', isEmptyAllowed: true, isCommented: true },
);
