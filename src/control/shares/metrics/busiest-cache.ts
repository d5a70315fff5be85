/**
 * Keeps the busiest shares of a window for some seconds, because a ranking of 10,000 shares takes half a second of CPU, and many
 * tabs show the same one.
 */
import type { Clock } from '#base';
import type { Queries } from '../../store/mod.ts';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import { busiestShares, type BusyShare } from './busiest-shares.ts';
import type { MetricWindow } from './metric-window-policy.ts';

const KEPT_MS = 20_000;
const MAX_RANKINGS = 200;

interface Ranking {
  readonly untilMs: number;
  readonly shares: Promise<readonly BusyShare[]>;
}

export class BusiestCache {
  readonly #clock: Clock;
  readonly #rankings = new Map<string, Ranking>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Rejects with errors of the store, which are not kept. */
  of(
    db: Queries,
    frontdoor: GrantedFrontdoor,
    window: MetricWindow,
    most: number,
  ): Promise<readonly BusyShare[]> {
    const { rollupMs, startMs, stepMs, count } = window;
    const key = [frontdoor.id, rollupMs, startMs, stepMs, count, most].join(' ');
    const nowMs = this.#clock.nowMs();
    const known = this.#rankings.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.shares;
    const shares = busiestShares(db, frontdoor, window, most);
    const ranking = { untilMs: nowMs + KEPT_MS, shares };
    this.#rankings.delete(key);
    this.#rankings.set(key, ranking);
    shares.catch(() => {
      if (this.#rankings.get(key) === ranking) this.#rankings.delete(key);
    });
    for (const oldest of this.#rankings.keys()) {
      if (this.#rankings.size <= MAX_RANKINGS) break;
      this.#rankings.delete(oldest);
    }
    return shares;
  }
}
