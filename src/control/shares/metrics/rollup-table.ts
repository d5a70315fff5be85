/**
 * The resolutions in which traffic is kept, and their retention. The cost grows with shares and time, not with
 * requests.
 */
export interface Rollup {
  readonly spanMs: number;
  readonly keptMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The finest first. Each span is a multiple of the previous one. */
export const ROLLUPS: readonly Rollup[] = [
  { spanMs: 10_000, keptMs: 6 * HOUR_MS },
  { spanMs: 60_000, keptMs: 3 * DAY_MS },
  { spanMs: HOUR_MS, keptMs: 45 * DAY_MS },
  { spanMs: DAY_MS, keptMs: 400 * DAY_MS },
];
