/**
 * Derives the health of a private service from successive checks. A check connects, sends its end (FIN) and
 * observes whether the service closes too: a live HTTP server does, while a frozen one still accepts connections
 * (its kernel does) but never closes. Only a service that was seen to close before is judged by this, so that one
 * which keeps half-open connections does not count as frozen; and only two missed closes in a row count.
 */
export interface TargetHealth {
  readonly verdict: 'unknown' | 'passing' | 'failing';
  /** Why the service is failing. */
  readonly reason: string | undefined;
  readonly closesOnEnd: boolean;
  readonly missedCloses: number;
  /** Number of successive checks that saw it stay open before it ever closed. */
  readonly staysOpen: number;
}

export type LookResult =
  | { readonly type: 'failed'; readonly reason: string }
  /** All that can be checked is as it should be. */
  | { readonly type: 'passed' }
  | { readonly type: 'closed' }
  | { readonly type: 'stayedOpen' }
  /** Bytes of the service arrived on a circuit. */
  | { readonly type: 'spoke' };

export interface HealthStep {
  readonly state: TargetHealth;
  /** Whether to check again at once instead of after the interval. */
  readonly again: boolean;
}

export const UNKNOWN_HEALTH: TargetHealth = {
  verdict: 'unknown',
  reason: undefined,
  closesOnEnd: false,
  missedCloses: 0,
  staysOpen: 0,
};

const MISSES_TO_FAIL = 2;
const LOOKS_TO_LEARN = 3;

/** Whether waiting for the close no longer gives information. */
export function knownToStayOpen(state: TargetHealth): boolean {
  return !state.closesOnEnd && state.staysOpen >= LOOKS_TO_LEARN;
}

export function stepTargetHealth(state: TargetHealth, result: LookResult): HealthStep {
  switch (result.type) {
    case 'failed':
      // The next program that listens there may be another one, so its history starts again.
      return { state: { ...UNKNOWN_HEALTH, verdict: 'failing', reason: result.reason }, again: false };
    case 'passed':
      return { state: { ...UNKNOWN_HEALTH, verdict: 'passing' }, again: false };
    case 'closed':
      return { state: { ...UNKNOWN_HEALTH, verdict: 'passing', closesOnEnd: true }, again: false };
    case 'spoke':
      // The service sends data, so it is alive. If it counted as frozen, it no longer closes connections and
      // is no longer judged by that.
      if (state.verdict !== 'failing') return { state, again: false };
      return { state: { ...UNKNOWN_HEALTH, verdict: 'passing' }, again: false };
    case 'stayedOpen': {
      if (!state.closesOnEnd) {
        const staysOpen = Math.min(state.staysOpen + 1, LOOKS_TO_LEARN);
        return { state: { ...UNKNOWN_HEALTH, verdict: 'passing', staysOpen }, again: false };
      }
      const missedCloses = Math.min(state.missedCloses + 1, MISSES_TO_FAIL);
      if (missedCloses < MISSES_TO_FAIL) return { state: { ...state, missedCloses }, again: true };
      const reason = 'the service accepts connections but does not respond (frozen or overloaded)';
      return { state: { ...state, missedCloses, verdict: 'failing', reason }, again: false };
    }
  }
}
