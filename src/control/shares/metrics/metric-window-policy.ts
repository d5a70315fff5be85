/**
 * The window of a response, its steps, and the roll-up that it is read from. A step is a multiple of the
 * roll-up's span and starts at a multiple of itself since 1970. The last step is the current one.
 */
import { ROLLUPS, type Rollup } from './rollup-table.ts';

export interface MetricWindow {
  readonly rollupMs: number;
  readonly stepMs: number;
  readonly startMs: number;
  /** Number of steps. */
  readonly count: number;
}

export const MIN_DURATION_MS = 5 * 60_000;
export const MAX_DURATION_MS = 30 * 86_400_000;
export const MIN_STEP_MS = ROLLUPS[0]!.spanMs;
const DEFAULT_STEPS = 60;
const SPARKLINE_STEPS = 30;
/** A ranking is read from at least so many roll-ups a share, where the window is long enough. */
const RANKING_ROLLUPS = 4;

/** Rounds the step up as little as possible: samples of at least `stepMs`, a few thousand at most. */
export function metricWindow(durationMs: number, stepMs: number | undefined, nowMs: number): MetricWindow {
  const wantedMs = stepMs ?? durationMs / DEFAULT_STEPS;
  const exact = ROLLUPS.filter(({ spanMs }) => wantedMs % spanMs === 0).toReversed();
  // Among roll-ups that divide the step evenly, the coarsest is cheapest; otherwise the finest rounds least.
  const rollups = [...exact, ...ROLLUPS.filter((rollup) => !exact.includes(rollup))];
  return firstKept(rollups, nowMs, ({ spanMs }) => {
    const step = roundedUp(wantedMs, spanMs);
    return windowOf(spanMs, step, Math.ceil(durationMs / step), nowMs);
  });
}

/** Thirty steps from the coarsest suitable roll-up, because there may be a thousand lines. */
export function sparklineWindow(durationMs: number, nowMs: number): MetricWindow {
  const wantedMs = durationMs / SPARKLINE_STEPS;
  const fitting = ROLLUPS.filter(({ spanMs }) => spanMs <= wantedMs).toReversed();
  return firstKept([...fitting, ROLLUPS[0]!], nowMs, ({ spanMs }) =>
    windowOf(spanMs, roundedUp(wantedMs, spanMs), SPARKLINE_STEPS, nowMs),
  );
}

/**
 * Returns a window that covers the given one with few roll-ups: whole hours or days, so that it may begin earlier. Shares are
 * ranked by it.
 */
export function rankingWindow({ rollupMs, startMs, stepMs, count }: MetricWindow): MetricWindow {
  const endMs = startMs + count * stepMs;
  const coarse = ROLLUPS.findLast(({ spanMs }) => spanMs * RANKING_ROLLUPS <= endMs - startMs);
  const spanMs = Math.max(rollupMs, coarse?.spanMs ?? 0);
  const fromMs = startMs - (startMs % spanMs);
  return { rollupMs: spanMs, stepMs: spanMs, startMs: fromMs, count: Math.ceil((endMs - fromMs) / spanMs) };
}

/** Returns the window of the first roll-up that reaches back to its start. */
function firstKept(
  rollups: readonly Rollup[],
  nowMs: number,
  windowFrom: (rollup: Rollup) => MetricWindow,
): MetricWindow {
  for (const rollup of rollups) {
    const window = windowFrom(rollup);
    if (nowMs - window.startMs <= rollup.keptMs) return window;
  }
  throw new RangeError('no roll-up is kept for so long');
}

function windowOf(rollupMs: number, stepMs: number, count: number, nowMs: number): MetricWindow {
  const endMs = nowMs - (nowMs % stepMs) + stepMs;
  return { rollupMs, stepMs, startMs: endMs - count * stepMs, count };
}

function roundedUp(ms: number, spanMs: number): number {
  return Math.max(1, Math.ceil(ms / spanMs)) * spanMs;
}
