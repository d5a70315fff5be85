/** The widths in which traffic is kept, and for how long: cost grows with shares and time, never with requests. */
export interface Rollup {
  readonly spanMs: number;
  readonly keptMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Finest first; each span is a multiple of the one before. */
export const ROLLUPS: readonly Rollup[] = [
  { spanMs: 10_000, keptMs: 6 * HOUR_MS },
  { spanMs: 60_000, keptMs: 3 * DAY_MS },
  { spanMs: HOUR_MS, keptMs: 45 * DAY_MS },
  { spanMs: DAY_MS, keptMs: 400 * DAY_MS },
];
