/**
 * One periodic health check: its delay, schedule and last result. The caller provides the check itself. The states and
 * their initial values are OpenZiti's: a check can count as passed or failed before its first run.
 */
import type { Clock } from '#base';

/** The result of a run. With a `problem` it is a failure. */
export interface CheckFinding {
  readonly problem?: string;
  readonly details: unknown;
}

/** Can take time, but has a time limit of its own. */
export type Look = () => Promise<CheckFinding> | CheckFinding;

export interface HealthCheckOptions {
  readonly id: string;
  readonly intervalMs: number;
  readonly initialDelayMs: number;
  readonly isInitiallyHealthy: boolean;
  readonly look: Look;
  readonly clock: Clock;
  readonly onChange: (state: CheckState) => void;
}

export interface CheckState {
  readonly id: string;
  readonly isHealthy: boolean;
  /** Start of the last run, or the creation of the check before the first run. */
  readonly checkedMs: number;
  readonly tookNs: number;
  /** Message of the last failure. */
  readonly problem?: string;
  readonly consecutiveFailures: number;
  readonly failingSinceMs?: number;
  /** Undefined before the first run. */
  readonly details: unknown;
}

/** The longest delay that timers of the platform support. */
const LONGEST_TIMER_MS = 2_147_483_647;

export class HealthCheck {
  readonly #options: HealthCheckOptions;
  #state: CheckState;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;

  constructor(options: HealthCheckOptions) {
    this.#options = options;
    const { id, isInitiallyHealthy, clock } = options;
    const checkedMs = clock.nowMs();
    const unknown = { id, isHealthy: isInitiallyHealthy, checkedMs, tookNs: 0, details: undefined };
    this.#state = isInitiallyHealthy
      ? { ...unknown, consecutiveFailures: 0 }
      : { ...unknown, problem: "didn't run yet", consecutiveFailures: 1, failingSinceMs: checkedMs };
    this.#timer = setTimeout(() => this.#begin(), Math.min(options.initialDelayMs, LONGEST_TIMER_MS));
    this.#timer.unref();
  }

  get state(): CheckState {
    return this.#state;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #begin(): void {
    this.#timer = setInterval(() => void this.#run(), Math.min(this.#options.intervalMs, LONGEST_TIMER_MS));
    this.#timer.unref();
    void this.#run();
  }

  /** Skips a run that is due while the previous one has not finished. */
  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const checkedMs = this.#options.clock.nowMs();
    const startedMs = performance.now();
    const finding = await found(this.#options.look);
    this.#isRunning = false;
    if (this.#timer === undefined) return;
    const tookNs = Math.round((performance.now() - startedMs) * 1e6);
    const before = this.#state;
    this.#state = after(before, finding, checkedMs, tookNs);
    if (before.isHealthy !== this.#state.isHealthy) this.#options.onChange(this.#state);
  }
}

async function found(look: Look): Promise<CheckFinding> {
  try {
    return await look();
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error), details: null };
  }
}

function after(
  before: CheckState,
  { problem, details }: CheckFinding,
  checkedMs: number,
  tookNs: number,
): CheckState {
  const { id } = before;
  if (problem === undefined) {
    return { id, isHealthy: true, checkedMs, tookNs, consecutiveFailures: 0, details };
  }
  return {
    id,
    isHealthy: false,
    checkedMs,
    tookNs,
    problem,
    details,
    consecutiveFailures: before.consecutiveFailures + 1,
    failingSinceMs: before.failingSinceMs ?? checkedMs,
  };
}
