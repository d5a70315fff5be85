/**
 * Planned restarts under probes: a part is ended by SIGTERM and started again as soon as it has ended, as a
 * service manager does it. Counts the probes that failed, and how long the outage was.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { PartProcess } from '../../support/part-process.ts';
import { until } from '../../support/deadline.ts';
import type { ProbeSummary, SteadyProbes } from '../../support/steady-probes.ts';
import type { StopsWorld } from '../../support/stops-world.ts';

export interface StopsContext {
  readonly rounds: number;
  readonly perSecond: number;
  say(line: string): void;
}

export interface StopsRow {
  readonly row: string;
  readonly title: string;
  /** The longest outage of one round that is good; 0: no probe may fail. */
  readonly allowedOutageMs: number;
  /** Nothing else does what the part does: requests wait while it is away. */
  readonly isOnly?: boolean;
  /** Takes most of a minute, so that it is run by this script alone. */
  readonly isLong?: boolean;
  round(world: StopsWorld, number: number, context: StopsContext): Promise<StopsRound>;
}

interface StopsRound {
  /** How long the part was away: from its end to its being ready again. */
  readonly gapMs: number;
  /** Requests beside the steady probes, of which none may fail. */
  readonly also?: ProbeSummary;
}

type Restartable = Pick<PartProcess, 'name' | 'output' | 'start' | 'stop'>;

/** Above all that a drain may take. */
const GRACE_MS = 45_000;
/** Before and after each round. */
const QUIET_MS = 1_000;
/** Into a drain: gateways have made their standby circuits for long by its end. */
const DRAIN_LOOK_MS = 8_000;

export const STOPS_ROWS: readonly StopsRow[] = [
  {
    row: 'routers',
    title: 'one router is restarted, then the other',
    allowedOutageMs: 0,
    round: async (world, number) => ({ gapMs: await restart(world.routers[number % 2]!.process) }),
  },
  {
    row: 'control-planes',
    title: 'both control planes are restarted, one right after the other',
    allowedOutageMs: 0,
    round: async (world) => {
      let awayMs = 0;
      for (const replica of world.replicas) awayMs = Math.max(awayMs, await restart(replica));
      return { gapMs: awayMs };
    },
  },
  {
    row: 'agent',
    title: 'the only agent of the share is restarted',
    allowedOutageMs: 1_000,
    isOnly: true,
    round: async (world) => ({ gapMs: await restart(world.agent) }),
  },
  {
    row: 'successor',
    title: 'a second agent process takes the place of the one that drains',
    allowedOutageMs: 0,
    round: async (world) => {
      const { agent, successor } = world;
      const [former, next] = agent.isRunning ? [agent, successor] : [successor, agent];
      const ended = former.stop('SIGTERM', GRACE_MS);
      await next.start();
      judgeEnd(former, await ended);
      return { gapMs: 0 };
    },
  },
  {
    row: 'quiet-share',
    title: 'shares that were quiet are asked for while their only agent drains',
    allowedOutageMs: 1_000,
    isOnly: true,
    isLong: true,
    round: async (world, number, { perSecond }) => {
      const host = await world.shareQuietly(`quiet-${number + 1}`);
      return whileAgentDrains(world, () => askFor(world.probes(perSecond, { host })));
    },
  },
  {
    row: 'new-gateway',
    title: 'a gateway is started while the only agent drains',
    allowedOutageMs: 1_000,
    isOnly: true,
    isLong: true,
    round: (world, number, { perSecond }) =>
      whileAgentDrains(world, async () => {
        const gateway = await world.extraGateway(`extra-${number + 1}`);
        try {
          return await askFor(world.probes(perSecond, { ports: [gateway.port] }));
        } finally {
          await gateway.close();
        }
      }),
  },
];

export interface StopsOutcome {
  readonly isGood: boolean;
  readonly total: ProbeSummary;
  readonly longestOutageMs: number;
  readonly longestGapMs: number;
  /** Failed requests of `StopsRound.also`. */
  readonly alsoFailed: number;
}

export async function runStopsRow(
  world: StopsWorld,
  row: StopsRow,
  context: StopsContext,
): Promise<StopsOutcome> {
  const { rounds, perSecond, say } = context;
  say(`${row.row}: ${row.title}`);
  let longestOutageMs = 0;
  let longestGapMs = 0;
  let alsoFailed = 0;
  const probes = world.probes(perSecond);
  let total: ProbeSummary;
  try {
    for (let number = 0; number < rounds; number += 1) {
      const atMs = performance.now();
      await pause(QUIET_MS);
      const { gapMs, also } = await row.round(world, number, context);
      alsoFailed += also?.failed ?? 0;
      longestGapMs = Math.max(longestGapMs, gapMs);
      const tookMs = performance.now() - atMs - QUIET_MS;
      await world.untilSettled();
      await pause(QUIET_MS);
      const { count, failed, outageMs, slowestMs, reasons } = probes.since(atMs);
      longestOutageMs = Math.max(longestOutageMs, outageMs);
      if (also !== undefined)
        say(
          `  during the drain: ${also.failed} of ${also.count} failed, slowest ${Math.round(also.slowestMs)} ms ` +
            (also.failed === 0 ? '' : JSON.stringify(also.reasons)),
        );
      say(
        `  round ${number + 1}: ${failed} of ${count} failed, outage ${Math.round(outageMs)} ms, ` +
          `slowest ${Math.round(slowestMs)} ms, restart took ${seconds(tookMs)}, ` +
          `${seconds(gapMs)} of it without the part ` +
          (failed === 0 ? '' : JSON.stringify(reasons)),
      );
    }
  } finally {
    total = await probes.stop();
  }
  const isQuick = row.allowedOutageMs === 0 ? total.failed === 0 : longestOutageMs <= row.allowedOutageMs;
  say(
    `  ${total.count - total.failed} of ${total.count} probes answered in ${rounds} rounds, ${total.failed} failed; ` +
      `longest outage ${Math.round(longestOutageMs)} ms, slowest ${Math.round(total.slowestMs)} ms`,
  );
  return { isGood: isQuick && alsoFailed === 0, total, longestOutageMs, longestGapMs, alsoFailed };
}

/** Streams keep the agent from ending while `work` asks for its shares. */
async function whileAgentDrains(world: StopsWorld, work: () => Promise<ProbeSummary>): Promise<StopsRound> {
  const streams = world.endlessStreams();
  await until(
    'the streams',
    () => streams.map(({ pieces }) => pieces),
    (pieces) => pieces.every((count) => count > 0),
  );
  const ended = world.agent.stop('SIGTERM', GRACE_MS);
  let also: ProbeSummary;
  try {
    also = await work();
    if (!world.agent.isRunning) throw new Error('the agent ended before the requests did');
  } finally {
    for (const stream of streams) stream.close();
  }
  judgeEnd(world.agent, await ended);
  const endedMs = performance.now();
  await world.agent.start();
  return { gapMs: performance.now() - endedMs, also };
}

async function askFor(probes: SteadyProbes): Promise<ProbeSummary> {
  await pause(DRAIN_LOOK_MS);
  return probes.stop();
}

/** How long it was away, in ms. */
async function restart(part: Restartable): Promise<number> {
  judgeEnd(part, await part.stop('SIGTERM', GRACE_MS));
  const endedMs = performance.now();
  await part.start();
  return performance.now() - endedMs;
}

function judgeEnd({ name, output }: Restartable, status: number | undefined): void {
  if (status !== 0) throw new Error(`${name} ended with ${String(status)}: ${output.slice(-2_000)}`);
  return;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
