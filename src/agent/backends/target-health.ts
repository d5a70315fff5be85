/**
 * The agent's health checks of its private services: each distinct target every few seconds, however many shares
 * use it, with limited concurrency. `target-health-machine.ts` judges; changes are reported to the watchers.
 */
import type { AllowedNetwork } from '#domain';
import { contain, inOwnScope } from '#net';
import type { TargetAddress } from '../target-address.ts';
import { connectTarget, failureOf, resolveTarget } from './target-connection.ts';
import {
  knownToStayOpen,
  stepTargetHealth,
  UNKNOWN_HEALTH,
  type LookResult,
  type TargetHealth,
} from './target-health-machine.ts';
import type { TargetResolver } from './target-resolver.ts';

export interface TargetHealthOptions {
  readonly resolver: TargetResolver;
  readonly intervalMs?: number;
  readonly connectTimeoutMs?: number;
  /** How long a service may take to close after our end. */
  readonly closeTimeoutMs?: number;
  /** Minimum delay of a check after a hint. */
  readonly hintDelayMs?: number;
  readonly maxLooks?: number;
}

export interface WatchedTarget {
  readonly target: TargetAddress;
  readonly only?: readonly AllowedNetwork[] | undefined;
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
  readonly what: WatchedTarget;
  readonly listeners: Set<HealthListener>;
  state: TargetHealth;
  timer: NodeJS.Timeout | undefined;
  looking: boolean;
  cancel: (() => void) | undefined;
}

export class TargetHealthMonitor {
  readonly #resolver: TargetResolver;
  readonly #intervalMs: number;
  readonly #connectTimeoutMs: number;
  readonly #closeTimeoutMs: number;
  readonly #hintDelayMs: number;
  readonly #maxLooks: number;
  readonly #watched = new Map<string, Watched>();
  readonly #waiting: Watched[] = [];
  #looks = 0;

  constructor(options: TargetHealthOptions) {
    this.#resolver = options.resolver;
    this.#intervalMs = options.intervalMs ?? 5_000;
    this.#connectTimeoutMs = options.connectTimeoutMs ?? 3_000;
    this.#closeTimeoutMs = options.closeTimeoutMs ?? 4_000;
    this.#hintDelayMs = options.hintDelayMs ?? 200;
    this.#maxLooks = options.maxLooks ?? 256;
  }

  /** Checks at once. The listener is called with the first verdict and each change. */
  watch(what: WatchedTarget, onVerdict: HealthListener): HealthWatch {
    const listener = inOwnScope(onVerdict);
    const key = `${what.only === undefined ? 'any' : 'only'} ${what.target.text}`;
    let entry = this.#watched.get(key);
    if (entry === undefined) {
      entry = {
        key,
        what,
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
    const fail = (): void => finish({ type: 'notConnected', reason: 'internal error of the agent' });
    contain({ kind: 'target', id: watched.key, fail }, () => this.#lookAt(watched, finish));
  }

  #lookAt(watched: Watched, finish: (result: LookResult | undefined) => void): void {
    let closeTimer: NodeJS.Timeout | undefined;
    const { target, only } = watched.what;
    if (target.mode === 'udpTunnel') {
      watched.cancel = () => finish(undefined);
      // A datagram that asks nothing gets no answer, so that only the address is checked.
      resolveTarget({ ...watched.what, resolver: this.#resolver }, (error) => {
        if (error === null) finish({ type: 'stayedOpen' });
        else finish({ type: 'notConnected', reason: failureOf(error, target, false).message });
      });
      return;
    }
    const giveUp = connectTarget(
      { target, only, resolver: this.#resolver, timeoutMs: this.#connectTimeoutMs, handshake: false },
      (connection) => {
        if (knownToStayOpen(watched.state)) {
          connection.abort();
          finish({ type: 'stayedOpen' });
          return;
        }
        closeTimer = setTimeout(() => {
          connection.onClose = () => {};
          connection.abort();
          finish({ type: 'stayedOpen' });
        }, this.#closeTimeoutMs);
        // A reset is a reaction too, and a service that sends first is alive.
        connection.onClose = () => {
          clearTimeout(closeTimer);
          finish({ type: 'closed' });
        };
        connection.end();
        watched.cancel = () => {
          clearTimeout(closeTimer);
          connection.onClose = () => {};
          connection.abort();
          finish(undefined);
        };
      },
      (failure) => finish({ type: 'notConnected', reason: failure.message }),
    );
    watched.cancel = () => {
      giveUp();
      finish(undefined);
    };
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
