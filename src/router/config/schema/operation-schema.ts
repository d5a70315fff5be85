/** Sections about the router's own work: forwarding, checks, figures, files that it writes. */
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
      'Between two reports of faults; 0: none are reported.',
      15_000,
    ),
    idleCircuitTimeout: milliseconds(
      'idleCircuitTimeoutMs',
      'After which a circuit without traffic counts as idle.',
      60_000,
    ),
    idleTxInterval: milliseconds(
      'idleTxIntervalMs',
      'Between two looks for idle circuits; 0: nobody looks.',
      60_000,
    ),
    linkDialQueueLength: pool('Dials of links that may wait.', 1_000, 10_000),
    linkDialWorkerCount: pool('Dials of links at once.', 32, 10_000),
    rateLimitedQueueLength: pool(
      'Rate-limited requests that may wait, terminators among them.',
      5_000,
      50_000,
    ),
    rateLimitedWorkerCount: pool('Rate-limited requests at once.', 5, 10_000),
    xgressCloseCheckInterval: integer({
      about: 'Milliseconds without traffic after which a circuit that ended is taken down.',
      default: 5_000,
      as: 'xgressCloseCheckIntervalMs',
      decode: timerMs,
      least: 1,
      beyond: 'default',
    }),
    xgressDialDwellTime: milliseconds(
      'xgressDialDwellMs',
      'Waited before every dial of a service: for debugging.',
      0,
    ),
    xgressDialQueueLength: pool('Dials of services that may wait.', 1_000, 10_000),
    xgressDialWorkerCount: pool('Dials of services at once.', 128, 10_000),
    latencyProbeInterval: unread(
      optional(
        integer({
          about: 'Milliseconds between two heartbeats of a link, unless link.heartbeats says it.',
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
          about: 'OpenZiti reads it and does nothing with it.',
          least: 5_000,
          integerUnitMs: 1,
          isExtra: true,
        }),
      ),
    ),
    latencyProbeTimeout: legacy('Older files have it.'),
    idleSessionTimeout: legacy('Older files have it.'),
    retransmission: legacy('Older files have it.'),
  },
  { about: 'How circuits are forwarded and watched.', isFilled: true, isKindLenient: true },
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
        interval: every('intervalMs', 'Between two pings of the controllers.', 30_000),
        timeout: duration({
          about: 'How long a ping may take.',
          as: 'timeoutMs',
          default: 15_000,
          least: 1e-6,
          beyond: 'default',
          isZeroAllowed: true,
        }),
        initialDelay: delay('initialDelayMs', 'Before the first ping.', 15_000),
      },
      { about: 'Whether controllers answer.', as: 'ctrlPing', isFilled: true, isKindLenient: true },
    ),
    linkCheck: section(
      {
        interval: every('intervalMs', 'Between two counts of the links.', 5_000),
        initialDelay: delay('initialDelayMs', 'Before the first count.', 1_000),
        minLinks: integer({
          about: 'Fewer links fail the check; with 0 it only tells which there are.',
          default: 0,
          least: 0,
          beyond: 'clamp',
        }),
      },
      { about: 'Whether there are links.', as: 'link', isFilled: true, isKindLenient: true },
    ),
  },
  { about: 'Health checks; the web section serves their outcome.', isFilled: true, isKindLenient: true },
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
      about: 'Between two reports to the controllers.',
      default: 60_000,
      as: 'reportIntervalMs',
      least: 1e-6,
    }),
    intervalAgeThreshold: duration({
      about: 'Age at which a batch of usage figures is sent; 0: the default.',
      default: 80_000,
      as: 'intervalAgeThresholdMs',
      least: 1e-6,
      beyond: 'default',
    }),
    messageQueueSize: integer({
      about: 'Reports that are kept while no controller takes them.',
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
  { about: 'Figures for the controllers.', isFilled: true, isEmptyAllowed: true },
);

export const traceSection = section(
  { path: text({ about: 'Written anew at every start.', kind: 'path', example: 'router.trace' }) },
  { about: 'Messages of the control channels, decoded: for debugging.', isCommented: true },
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
        { about: 'Where time goes.' },
      ),
    ),
    memory: optional(
      section(
        {
          path: text({
            about: 'Heap snapshots, <path>-0 and <path>-1 in turn.',
            kind: 'path',
            example: 'router.heap',
          }),
          intervalMs: integer({
            about: 'Milliseconds between two snapshots.',
            default: 15_000,
            decode: timerMs,
            least: 1,
          }),
        },
        { about: 'Where memory goes.' },
      ),
    ),
  },
  { about: 'For debugging.', isEmptyAllowed: true, isCommented: true },
);
