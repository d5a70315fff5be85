/**
 * When a resource that fails is reported, and when it is reported as healthy again (ADR 0111). Short failures are not
 * reported; one that comes and goes is reported once. Pure; `problem-watch.ts` feeds it.
 */
export interface ProblemState {
  /** Whether it fails now. */
  readonly isBad: boolean;
  /** When it began to be as it is. */
  readonly sinceMs: number;
  /** How often it began to fail in this episode. */
  readonly failures: number;
  readonly isReported: boolean;
  /** Reports within the last hour of quiet. */
  readonly reports: number;
  readonly reportedAtMs: number;
}

export type ProblemEvent =
  | { readonly type: 'measured'; readonly isBad: boolean }
  /** A state between two passes. It is stored, and the next pass decides about a report. */
  | { readonly type: 'noted'; readonly isBad: boolean }
  /** Another control plane, or this one before its restart, has reported it as failing. */
  | { readonly type: 'reported' };

export type ProblemStep = {
  /** Undefined if there is nothing left to remember. */
  readonly state: ProblemState | undefined;
  readonly report?: 'failing' | 'healthy' | undefined;
};

/** Failures that came and went within an episode, after which it is reported. */
const FLAPS = 4;
const RECOVER_MS = 60_000;
const MAX_RECOVER_MS = 32 * 60_000;
const QUIET_MS = 3_600_000;

/** `holdMs`: how long a resource fails before that is reported. */
export function stepProblem(
  state: ProblemState | undefined,
  event: ProblemEvent,
  nowMs: number,
  holdMs: number,
): ProblemStep {
  if (event.type === 'reported') return { state: reported(state ?? newState(nowMs), nowMs) };
  const now = measured(state, event.isBad, nowMs);
  if (now === undefined || event.type === 'noted') return { state: now };
  const lastedMs = nowMs - now.sinceMs;
  if (now.isReported) {
    if (now.isBad || lastedMs < recoverMsOf(now)) return { state: now };
    return { state: { ...now, isReported: false, failures: 0 }, report: 'healthy' };
  }
  const isDue = now.failures >= FLAPS || (now.isBad && lastedMs >= holdMs);
  if (isDue) return { state: reported(now, nowMs), report: 'failing' };
  return { state: isOver(now, nowMs) ? undefined : now };
}

function measured(state: ProblemState | undefined, isBad: boolean, nowMs: number): ProblemState | undefined {
  if (state === undefined) return isBad ? { ...newState(nowMs), isBad, failures: 1 } : undefined;
  if (state.isBad === isBad) {
    // Quiet for so long that the next failure is a new episode.
    const isNewEpisode = !isBad && !state.isReported && nowMs - state.sinceMs >= RECOVER_MS;
    return isNewEpisode && state.failures > 0 ? { ...state, failures: 0 } : state;
  }
  return { ...state, isBad, sinceMs: nowMs, failures: state.failures + (isBad ? 1 : 0) };
}

function reported(state: ProblemState, nowMs: number): ProblemState {
  if (state.isReported) return state;
  const reports = nowMs - state.reportedAtMs < QUIET_MS ? state.reports + 1 : 1;
  return { ...state, isReported: true, reports, reportedAtMs: nowMs };
}

/** Doubled by each further report, so that one that fails every few minutes is not two messages each time. */
function recoverMsOf({ reports }: ProblemState): number {
  return Math.min(MAX_RECOVER_MS, RECOVER_MS * 2 ** Math.max(0, reports - 1));
}

function isOver({ isBad, failures, reportedAtMs }: ProblemState, nowMs: number): boolean {
  return !isBad && failures === 0 && nowMs - reportedAtMs >= QUIET_MS;
}

function newState(nowMs: number): ProblemState {
  return {
    isBad: false,
    sinceMs: nowMs,
    failures: 0,
    isReported: false,
    reports: 0,
    reportedAtMs: -Infinity,
  };
}
