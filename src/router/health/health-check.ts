/**
 * One check that runs again and again: its delay, its schedule, and what is known since. What it looks at is the
 * caller's. The states and their beginnings are OpenZiti's: a check may pass or fail before it ran for the first time.
 */
import type { Clock } from '#base';

/** What a run found; `problem` makes it a failure. */
export interface CheckFinding {
  readonly problem?: string;
  readonly details: unknown;
}

/** May wait; gives up by itself. */
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
  /** When the last run began; before the first: when the check was made. */
  readonly checkedMs: number;
  readonly tookNs: number;
  /** Of a failure. */
  readonly problem?: string;
  readonly consecutiveFailures: number;
  readonly failingSinceMs?: number;
  /** Undefined before the first run. */
  readonly details: unknown;
}

/** What timers of the platform can wait. */
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

  /** A run that is due while another one still waits is left out. */
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
    ...{ id, isHealthy: false, checkedMs, tookNs, problem, details },
    consecutiveFailures: before.consecutiveFailures + 1,
    failingSinceMs: before.failingSinceMs ?? checkedMs,
  };
}
