/** The input and the result of one row of the fault table. */
import { FaultMesh, type Timers } from '../../support/fault-mesh.ts';
import type { FaultNetwork } from '../../support/fault-point.ts';

export interface FaultRowContext {
  readonly network: FaultNetwork;
  /** Circuits under way; the table's figure unless a test asks for fewer. */
  readonly circuits: number;
  say(line: string): void;
}

export interface FaultOutcome {
  /** `100 circuits over a cut link with another way` */
  readonly what: string;
  readonly good: number;
  readonly of: number;
  readonly problems: readonly string[];
  /** Figures that were measured beside. */
  readonly detail?: string;
}

/** Short, so that a fault is noticed while one waits. */
export const QUICK_TIMERS: Timers = {
  linkCloseMs: 3_000,
  ctrlCloseMs: 3_000,
  idleCircuitMs: 2_000,
  idleTxMs: 1_000,
};

/** The requirement's defaults for a router file without timers. */
export const DEFAULT_TIMERS: Timers = {
  linkCloseMs: 60_000,
  ctrlCloseMs: 30_000,
  idleCircuitMs: 60_000,
  idleTxMs: 60_000,
};

/** `in` to `out` directly, and over `via`; the door is at `in`, the service behind `out`. */
export function startTwoWays(
  network: FaultNetwork,
  timers?: Timers,
  more: { readonly edgeAt?: string } = {},
): Promise<FaultMesh> {
  return FaultMesh.start({
    ...more,
    network,
    links: [
      ['in', 'out'],
      ['in', 'via'],
      ['via', 'out'],
    ],
    doors: ['in'],
    service: 'out',
    timers,
  });
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

export function largest(figures: readonly number[]): number {
  return figures.reduce((most, figure) => Math.max(most, figure), 0);
}

/** Runs the step; its failure becomes a problem. */
export async function attempt(problems: string[], step: () => Promise<unknown>): Promise<boolean> {
  try {
    await step();
    return true;
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
    return false;
  }
}
