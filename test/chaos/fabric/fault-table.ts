/** The rows of the fault table: which mesh, which fault, how long. */
import type { FaultMesh, Timers } from '../../support/fault-mesh.ts';
import type { BadNetwork, FaultNetwork } from '../../support/fault-point.ts';
import { relayNetwork } from '../../support/fault-relay.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import { sendOverBadLinks } from './bad-network.ts';
import { drain } from './drained-router.ts';
import {
  DEFAULT_TIMERS,
  QUICK_TIMERS,
  startTwoWays,
  type FaultOutcome,
  type FaultRowContext,
} from './fault-row.ts';
import { halfOpenCtrl, halfOpenEdge, halfOpenLink } from './half-open.ts';
import { killControlPlane, killRouter } from './killed-process.ts';
import { cutForAWhile, cutForGood, loseOneOfTwo } from './lost-link.ts';
import { randomFaults } from './random-faults.ts';
import { stopControlPlane, stopRouter } from './stopped-process.ts';

export interface TableContext extends FaultRowContext {
  readonly random: SeededRandom;
  readonly rounds: number;
  /** Short timers everywhere, instead of those that a router file gets by default. */
  readonly isQuick: boolean;
}

export interface FaultRow {
  readonly row: string;
  readonly title: string;
  run(context: TableContext): AsyncIterable<FaultOutcome>;
}

/** A link over which nothing comes is noticed. */
const SILENT_WITHIN_MS = 15_000;
const MESSAGES = 5_000;
const MBIT = 125_000;

/** A mesh for the steps; the row's outcomes come as they are known. */
async function* inMesh(
  context: TableContext,
  timers: Timers | undefined,
  steps: readonly ((mesh: FaultMesh) => Promise<FaultOutcome>)[],
  { network = context.network, ...more }: { network?: FaultNetwork; edgeAt?: string } = {},
): AsyncGenerator<FaultOutcome> {
  const mesh = await startTwoWays(network, timers, more);
  try {
    for (const step of steps) yield await step(mesh);
  } finally {
    await mesh.stop();
  }
}

export const FAULT_ROWS: readonly FaultRow[] = [
  {
    row: 'C1',
    title: 'SIGKILL in the middle of transfers',
    run: (context) =>
      inMesh(context, QUICK_TIMERS, [
        (mesh) => killControlPlane(context, mesh, context.isQuick ? 10 : 200),
        (mesh) => killRouter(context, mesh, 'in'),
        (mesh) => killRouter(context, mesh, 'via'),
        (mesh) => killRouter(context, mesh, 'out'),
      ]),
  },
  {
    row: 'C2',
    title: 'SIGSTOP for longer than the timeouts, then SIGCONT',
    async *run(context) {
      const timers = context.isQuick ? QUICK_TIMERS : DEFAULT_TIMERS;
      const forMs = context.isQuick ? 5_000 : 90_000;
      yield* inMesh(context, timers, [
        (mesh) => stopControlPlane(context, mesh, timers, forMs),
        (mesh) => stopRouter(mesh, 'in', timers, forMs),
        (mesh) => stopRouter(mesh, 'via', timers, forMs),
        (mesh) => stopRouter(mesh, 'out', timers, forMs),
      ]);
    },
  },
  {
    row: 'C3',
    title: 'a link is lost, another way is there',
    async *run(context) {
      yield* inMesh(context, QUICK_TIMERS, [
        (mesh) => loseOneOfTwo(context, mesh, 'cut', QUICK_TIMERS.linkCloseMs * 2 + 2_000),
        (mesh) => loseOneOfTwo(context, mesh, 'reset', 2_000),
      ]);
      // Long before the link is closed, which takes a minute by default.
      yield* inMesh(context, undefined, [
        (mesh) => loseOneOfTwo(context, mesh, 'cut', SILENT_WITHIN_MS, 'silent links'),
      ]);
    },
  },
  {
    row: 'C4',
    title: 'every way is lost',
    run: (context) => {
      const timers = context.isQuick ? QUICK_TIMERS : DEFAULT_TIMERS;
      const [shortMs, longMs] = context.isQuick ? [2_000, 12_000] : [10_000, 120_000];
      return inMesh(context, timers, [
        (mesh) => cutForAWhile(context, mesh, shortMs),
        (mesh) => cutForGood(context, mesh, longMs, timers.idleCircuitMs + timers.idleTxMs + 2_000),
      ]);
    },
  },
  {
    row: 'C5',
    title: 'half-open connections',
    async *run(context) {
      const faults = ['cut', 'cut', 'cut', 'reset'] as const;
      const { linkCloseMs, ctrlCloseMs } = QUICK_TIMERS;
      const steps = [(mesh: FaultMesh) => halfOpenLink(mesh, faults, linkCloseMs)];
      // A relay is no way to the control plane: routers dial the address that it gives them.
      if (context.network.kind === 'packet filter')
        steps.push(async (mesh) => {
          const point = await context.network.point(mesh.mesh.controllerPort);
          return halfOpenCtrl(mesh, point, faults, ctrlCloseMs);
        });
      // Last: from then on an agent's connections come and go.
      steps.push((mesh) => halfOpenEdge(mesh, 'via', faults));
      yield* inMesh(context, QUICK_TIMERS, steps, { edgeAt: 'via' });
    },
  },
  {
    row: 'C6',
    title: 'bad networks',
    async *run(context) {
      const messages = context.isQuick ? 500 : MESSAGES;
      const good: BadNetwork = { delayMs: 0, jitterMs: 0, loss: 0, bytesPerSecond: Number.POSITIVE_INFINITY };
      const send = (how: Partial<BadNetwork>) => (mesh: FaultMesh) =>
        sendOverBadLinks(mesh, { ...good, ...how }, messages);
      const late = send({ delayMs: 200, jitterMs: 100 });
      const little = send({ bytesPerSecond: MBIT });
      if (context.network.kind === 'packet filter') {
        yield* inMesh(context, undefined, [send({ loss: 0.05 }), little]);
        yield* inMesh(context, undefined, [late], { network: relayNetwork });
      } else yield* inMesh(context, undefined, [late, little]);
    },
  },
  {
    row: 'C9',
    title: 'random faults',
    run: (context) =>
      inMesh(context, QUICK_TIMERS, [
        (mesh) => randomFaults({ ...context, circuits: 50 }, mesh, context.random, context.rounds),
      ]),
  },
  {
    row: 'C10',
    title: 'SIGTERM under load',
    run: (context) =>
      inMesh(context, QUICK_TIMERS, [
        (mesh) => drain(context, mesh, 'in', 3_000),
        (mesh) => drain(context, mesh, 'via', 3_000),
        (mesh) => drain(context, mesh, 'out', 3_000),
      ]),
  },
];

/** Prints what came of it; true: all was good. */
export async function runRow({ row, title, run }: FaultRow, context: TableContext): Promise<boolean> {
  context.say(`${row}: ${title}`);
  let isGood = true;
  try {
    for await (const { what, good, of, problems, detail } of run(context)) {
      context.say(`  ${good} of ${of} ${what}${detail === undefined ? '' : `; ${detail}`}`);
      for (const problem of problems) context.say(`    ${problem}`);
      isGood &&= good === of;
    }
  } catch (error) {
    context.say(`  broken off: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
  return isGood;
}
