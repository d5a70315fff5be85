/**
 * The agent's health checks of its private services: each distinct target every few seconds, however many shares
 * use it, with limited concurrency. `target-health-machine.ts` judges; changes are reported to the watchers.
 */
import { contain, inOwnScope } from '#net';
import type { Backend } from './backend.ts';
import {
  stepTargetHealth,
  UNKNOWN_HEALTH,
  type LookResult,
  type TargetHealth,
} from './target-health-machine.ts';

export interface TargetHealthOptions {
  readonly intervalMs?: number;
  /** Minimum delay of a check after a hint. */
  readonly hintDelayMs?: number;
  readonly maxLooks?: number;
}

export type TargetCounts = Readonly<Record<TargetHealth['verdict'], number>>;

export type HealthListener = (passed: boolean, reason: string | undefined) => void;

export interface HealthWatch {
  /** Undefined before the first check. */
  readonly passed: boolean | undefined;
  readonly reason: string | undefined;
  /** A connection to the target failed, so a check is due soon. */
  hint(): void;
  /** Bytes of the service arrived. */
  spoke(): void;
  close(): void;
}

interface Watched {
  readonly key: string;
  readonly backend: Backend;
  readonly listeners: Set<HealthListener>;
  state: TargetHealth;
  timer: NodeJS.Timeout | undefined;
  looking: boolean;
  cancel: (() => void) | undefined;
}

export class TargetHealthMonitor {
  readonly #intervalMs: number;
  readonly #hintDelayMs: number;
  readonly #maxLooks: number;
  readonly #watched = new Map<string, Watched>();
  readonly #waiting: Watched[] = [];
  #looks = 0;

  constructor(options: TargetHealthOptions = {}) {
    this.#intervalMs = options.intervalMs ?? 5_000;
    this.#hintDelayMs = options.hintDelayMs ?? 200;
    this.#maxLooks = options.maxLooks ?? 256;
  }

  /** Checks at once. The listener is called with the first verdict and each change. */
  watch(backend: Backend, onVerdict: HealthListener): HealthWatch {
    const listener = inOwnScope(onVerdict);
    const { target, isOwn, tls = '' } = backend.describe();
    const key = `${isOwn ? 'any' : 'only'} ${target} ${tls}`;
    let entry = this.#watched.get(key);
    if (entry === undefined) {
      entry = {
        key,
        backend,
        listeners: new Set(),
        state: UNKNOWN_HEALTH,
        timer: undefined,
        looking: false,
        cancel: undefined,
      };
      this.#watched.set(key, entry);
      this.#lookWhenFree(entry);
    } else if (entry.state.verdict !== 'unknown') {
      const { verdict, reason } = entry.state;
      process.nextTick(() => {
        if (watched.listeners.has(listener)) listener(verdict === 'passing', reason);
      });
    }
    const watched = entry;
    watched.listeners.add(listener);
    return {
      get passed() {
        return watched.state.verdict === 'unknown' ? undefined : watched.state.verdict === 'passing';
      },
      get reason() {
        return watched.state.reason;
      },
      hint: () => this.#schedule(watched, this.#hintDelayMs),
      spoke: () => this.#apply(watched, { type: 'spoke' }),
      close: () => {
        if (watched.listeners.delete(listener) && watched.listeners.size === 0) this.#forget(watched);
      },
    };
  }

  /** Targets by the verdict on them. */
  counts(): TargetCounts {
    const counts = { passing: 0, failing: 0, unknown: 0 };
    for (const { state } of this.#watched.values()) counts[state.verdict] += 1;
    return counts;
  }

  close(): void {
    for (const watched of this.#watched.values()) this.#forget(watched);
  }

  #forget(watched: Watched): void {
    watched.listeners.clear();
    clearTimeout(watched.timer);
    watched.timer = undefined;
    watched.cancel?.();
    if (this.#watched.get(watched.key) === watched) this.#watched.delete(watched.key);
  }

  #isWatched(watched: Watched): boolean {
    return this.#watched.get(watched.key) === watched;
  }

  #schedule(watched: Watched, delayMs: number): void {
    if (watched.looking || !this.#isWatched(watched)) return;
    clearTimeout(watched.timer);
    watched.timer = setTimeout(() => this.#lookWhenFree(watched), delayMs);
  }

  #lookWhenFree(watched: Watched): void {
    watched.timer = undefined;
    watched.looking = true;
    if (this.#looks < this.#maxLooks) this.#look(watched);
    else this.#waiting.push(watched);
  }

  #look(watched: Watched): void {
    this.#looks += 1;
    const startedMs = performance.now();
    let done = false;
    const finish = (result: LookResult | undefined): void => {
      if (done) return;
      done = true;
      watched.cancel = undefined;
      watched.looking = false;
      this.#looks -= 1;
      this.#lookAtNext();
      if (result === undefined || !this.#isWatched(watched)) return;
      const again = this.#apply(watched, result);
      const restMs = this.#intervalMs - (performance.now() - startedMs);
      this.#schedule(watched, again ? 0 : Math.max(this.#intervalMs / 5, restMs));
    };
    const fail = (): void => finish({ type: 'failed', reason: 'internal error of the agent' });
    contain({ kind: 'target', id: watched.key, fail }, () => {
      const cancel = watched.backend.health(watched.state, finish);
      watched.cancel = () => {
        cancel();
        finish(undefined);
      };
    });
  }

  #lookAtNext(): void {
    let next = this.#waiting.shift();
    while (next !== undefined && !this.#isWatched(next)) next = this.#waiting.shift();
    if (next !== undefined) this.#look(next);
  }

  #apply(watched: Watched, result: LookResult): boolean {
    const { state, again } = stepTargetHealth(watched.state, result);
    const changed = state.verdict !== watched.state.verdict || state.reason !== watched.state.reason;
    watched.state = state;
    if (changed && state.verdict !== 'unknown') {
      for (const listener of watched.listeners) listener(state.verdict === 'passing', state.reason);
    }
    return again;
  }
}
