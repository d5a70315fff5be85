/** Sections about the router's own work: forwarding, checks, figures, files that it writes. */
import type { TInteger } from 'typebox';
import {
  FORWARDER_DEFAULTS,
  HEALTH_CHECK_DEFAULTS,
  MEMORY_PROFILE_INTERVAL_MS,
  METRICS_DEFAULTS,
} from '../router-default-table.ts';
import { duration, flag, integer, legacy, optional, section, text } from '../schema-field.ts';

const F = FORWARDER_DEFAULTS;

const pool = (about: string, value: number, most: number): TInteger =>
  integer({ about, default: value, least: 1, most });

export const forwarderSection = section(
  {
    faultTxInterval: milliseconds(
      'Between two reports of faults; 0: none are reported.',
      F.faultTxIntervalMs,
    ),
    idleCircuitTimeout: milliseconds(
      'After which a circuit without traffic counts as idle.',
      F.idleCircuitTimeoutMs,
    ),
    idleTxInterval: milliseconds('Between two looks for idle circuits; 0: nobody looks.', F.idleTxIntervalMs),
    linkDialQueueLength: pool('Dials of links that may wait.', F.linkDialQueueLength, 10_000),
    linkDialWorkerCount: pool('Dials of links at once.', F.linkDialWorkerCount, 10_000),
    rateLimitedQueueLength: pool(
      'Rate-limited requests that may wait, terminators among them.',
      F.rateLimitedQueueLength,
      50_000,
    ),
    rateLimitedWorkerCount: pool('Rate-limited requests at once.', F.rateLimitedWorkerCount, 10_000),
    xgressCloseCheckInterval: integer({
      about: 'Milliseconds without traffic after which a circuit that ended is taken down.',
      default: F.xgressCloseCheckIntervalMs,
      least: 1,
      beyond: 'default',
    }),
    xgressDialDwellTime: milliseconds(
      'Waited before every dial of a service: for debugging.',
      F.xgressDialDwellMs,
    ),
    xgressDialQueueLength: pool('Dials of services that may wait.', F.xgressDialQueueLength, 10_000),
    xgressDialWorkerCount: pool('Dials of services at once.', F.xgressDialWorkerCount, 10_000),
    latencyProbeInterval: optional(
      integer({
        about: 'Milliseconds between two heartbeats of a link, unless link.heartbeats says it.',
        least: 0,
        beyond: 'clamp',
        isCommented: true,
        example: 10_000,
      }),
    ),
    unresponsiveLinkTimeout: optional(
      duration({
        about: 'OpenZiti reads it and does nothing with it.',
        least: 5_000,
        integerUnitMs: 1,
        isUnsupported: true,
        isExtra: true,
      }),
    ),
    latencyProbeTimeout: optional(legacy('Older files have it.')),
    idleSessionTimeout: optional(legacy('Older files have it.')),
    retransmission: optional(legacy('Older files have it.')),
  },
  { about: 'How circuits are forwarded and watched.', isFilled: true, isKindLenient: true },
);

function milliseconds(about: string, value: number): TInteger {
  return integer({ about: `Milliseconds. ${about}`, default: value, least: 0, beyond: 'clamp' });
}

const H = HEALTH_CHECK_DEFAULTS;

export const healthChecksSection = section(
  {
    ctrlPingCheck: section(
      {
        interval: every('Between two pings of the controllers.', H.ctrlPing.intervalMs),
        timeout: duration({
          about: 'How long a ping may take.',
          default: H.ctrlPing.timeoutMs,
          least: 1e-6,
          beyond: 'default',
          isZeroAllowed: true,
        }),
        initialDelay: delay('Before the first ping.', H.ctrlPing.initialDelayMs),
      },
      { about: 'Whether controllers answer.', isFilled: true, isKindLenient: true },
    ),
    linkCheck: section(
      {
        interval: every('Between two counts of the links.', H.link.intervalMs),
        initialDelay: delay('Before the first count.', H.link.initialDelayMs),
        minLinks: integer({
          about: 'Fewer links fail the check; with 0 it only tells which there are.',
          default: H.link.minLinks,
          least: 0,
          beyond: 'clamp',
        }),
      },
      { about: 'Whether there are links.', isFilled: true, isKindLenient: true },
    ),
  },
  { about: 'Health checks; the web section serves their outcome.', isFilled: true, isKindLenient: true },
);

function every(about: string, ms: number) {
  return duration({ about, default: ms, least: 1e-6, isZeroAllowed: true });
}

function delay(about: string, ms: number) {
  return duration({ about, default: ms, least: 0, beyond: 'clamp', isZeroAllowed: true });
}

const M = METRICS_DEFAULTS;

export const metricsSection = section(
  {
    reportInterval: duration({
      about: 'Between two reports to the controllers.',
      default: M.reportIntervalMs,
      least: 1e-6,
    }),
    intervalAgeThreshold: duration({
      about: 'Age at which a batch of usage figures is sent; 0: the default.',
      default: M.intervalAgeThresholdMs,
      least: 1e-6,
      beyond: 'default',
    }),
    messageQueueSize: integer({
      about: 'Reports that are kept while no controller takes them.',
      default: M.messageQueueSize,
      least: 0,
    }),
    eventQueueSize: optional(
      integer({
        about: 'Events that may wait to be counted.',
        least: 16,
        beyond: 'clamp',
        isUnsupported: true,
        isExtra: true,
      }),
    ),
    enableDataDelayMetric: optional(
      flag({ about: 'Measures delays of data.', isUnsupported: true, isExtra: true }),
    ),
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
            default: MEMORY_PROFILE_INTERVAL_MS,
            least: 1,
          }),
        },
        { about: 'Where memory goes.' },
      ),
    ),
  },
  { about: 'For debugging.', isEmptyAllowed: true, isCommented: true },
);
