/**
 * What the results of health checks do to a terminator: each action waits for a result, for a number of equal results in
 * a row, and for the time since the first of these. A check counts as passing before its first result.
 */
import { PRECEDENCE } from '../terminator-options.ts';

export interface HealthAction {
  /** `change` is the first result of its kind after others. */
  readonly trigger: 'fail' | 'pass' | 'change';
  /** Least number of equal results in a row; 0 and 1 are the same. */
  readonly consecutiveEvents: number;
  /** Least time since the first of the equal results. */
  readonly durationMs: number;
  readonly step: HealthEffect;
}

export type HealthEffect =
  | { readonly type: 'markHealthy' }
  | { readonly type: 'markUnhealthy' }
  | { readonly type: 'sendEvent' }
  | { readonly type: 'increaseCost'; readonly by: number }
  | { readonly type: 'decreaseCost'; readonly by: number };

/** The equal results in a row of one check. */
export interface CheckRun {
  readonly passed: boolean;
  readonly count: number;
  /** Time of the first of them. */
  readonly sinceMs: number;
}

/** Cost and precedence of a terminator, as on the wire. */
export interface TerminatorValues {
  readonly cost: number;
  readonly precedence: number;
}

export interface HealthOutcome {
  readonly values: TerminatorValues;
  /** Whether the controller gets the result itself. */
  readonly sendsEvent: boolean;
}

const MAX_COST = 65_535;
/** Checks start a little early or late, which must not make an action wait for the next check. */
const TIMER_TOLERANCE_MS = 100;

/** Returns undefined if the words name no action. */
export function parseHealthAction(words: string): HealthEffect | undefined {
  if (words === 'mark healthy') return { type: 'markHealthy' };
  if (words === 'mark unhealthy') return { type: 'markUnhealthy' };
  if (words === 'send event') return { type: 'sendEvent' };
  const match = /^(increase|decrease) cost (\d{1,5})$/.exec(words);
  const by = Number(match?.[2] ?? 0);
  if (match === null || by < 1 || by > MAX_COST) return undefined;
  return { type: match[1] === 'increase' ? 'increaseCost' : 'decreaseCost', by };
}

export function stepCheckRun(run: CheckRun | undefined, passed: boolean, nowMs: number): CheckRun {
  if (run === undefined || run.passed !== passed) return { passed, count: 1, sinceMs: nowMs };
  return { ...run, count: run.count + 1 };
}

/** Applies the actions that are due after the latest result. `baseline` are the values without any check. */
export function applyHealthActions(
  actions: readonly HealthAction[],
  run: CheckRun,
  values: TerminatorValues,
  baseline: TerminatorValues,
  nowMs: number,
): HealthOutcome {
  const wasFailed = values.precedence === PRECEDENCE.failed;
  let { cost, precedence } = values;
  let sendsEvent = false;
  for (const action of actions) {
    if (!isDue(action, run, nowMs)) continue;
    const { step } = action;
    if (step.type === 'markHealthy') precedence = baseline.precedence;
    else if (step.type === 'markUnhealthy') precedence = PRECEDENCE.failed;
    else if (step.type === 'sendEvent') sendsEvent = true;
    else if (step.type === 'decreaseCost') cost = Math.max(baseline.cost, cost - step.by);
    // A failed terminator gets no circuits that a higher cost could divert.
    else if (step.type === 'increaseCost' && !wasFailed) cost = Math.min(MAX_COST, cost + step.by);
  }
  return { values: { cost, precedence }, sendsEvent };
}

function isDue(
  { trigger, consecutiveEvents, durationMs }: HealthAction,
  run: CheckRun,
  nowMs: number,
): boolean {
  if (trigger === 'change' ? run.count !== 1 : run.passed !== (trigger === 'pass')) return false;
  return run.count >= consecutiveEvents && nowMs - run.sinceMs + TIMER_TOLERANCE_MS > durationMs;
}
