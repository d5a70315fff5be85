/**
 * Notices organizations and frontdoors that have used 80 % or all of a limit. Each crossing is reported once, by one control plane; it is
 * reported again after the use was below in between.
 */
import { messageOf, type Clock, type Log } from '#base';
import type { Store } from '../../store/mod.ts';
import { publishEvent } from './delivery-store.ts';
import { endProblems, listReported, reportProblems } from './problem-store.ts';
import { quotaUses, type QuotaUse } from './quota-store.ts';

const PASS_MS = 300_000;
const FIRST_MS = 60_000;
const MOST_NAMED = 50;
/** In per cent, the highest last. */
const LEVELS = [80, 100] as const;

export interface QuotaWatchOptions {
  readonly store: Pick<Store, 'db' | 'transaction'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Crossing {
  /** The id of the row that remembers the report. */
  readonly key: string;
  readonly percent: number;
  readonly use: QuotaUse;
}

export class QuotaWatch {
  readonly #options: QuotaWatchOptions;
  #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  constructor(options: QuotaWatchOptions) {
    this.#options = options;
    this.#timer = setTimeout(() => this.#next(), FIRST_MS).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#running;
    clearTimeout(this.#timer);
  }

  /** Looks once. Never rejects. */
  pass(): Promise<void> {
    this.#running ??= this.#pass()
      .catch((error: unknown) => {
        this.#options.log.warn({ cause: messageOf(error) }, 'the use of limits could not be looked up');
      })
      .finally(() => (this.#running = undefined));
    return this.#running;
  }

  #next(): void {
    this.#timer = setTimeout(() => this.#next(), PASS_MS).unref();
    void this.pass();
  }

  async #pass(): Promise<void> {
    const { store } = this.#options;
    const crossings = (await quotaUses(store.db)).flatMap(crossingsOf);
    const reported = (await listReported(store.db, ['quota'])).map(({ resourceId }) => resourceId);
    const present = new Set(crossings.map(({ key }) => key));
    const over = reported.filter((key) => !present.has(key));
    if (over.length > 0) await endProblems(store.db, 'quota', over);
    const known = new Set(reported);
    const fresh = crossings.filter(({ key }) => !known.has(key));
    const byOrganization = Map.groupBy(fresh, ({ use }) => use.organizationId);
    for (const [organizationId, own] of byOrganization) await this.#report(organizationId, own);
  }

  async #report(organizationId: string, crossings: readonly Crossing[]): Promise<void> {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    await store.transaction(async (trx, touch) => {
      const keys = crossings.map(({ key }) => key);
      const won = await reportProblems(trx, 'quota', organizationId, keys, nowMs);
      // A use that crossed both levels at once is reported at the higher one.
      const highest = new Map(
        crossings.filter(({ key }) => won.has(key)).map((each) => [useKey(each.use), each]),
      );
      const resources = [...highest.values()].map(({ percent, use }) => ({
        kind: 'quota',
        id: use.limit,
        frontdoorId: use.frontdoorId,
        percent,
        used: use.used,
        most: use.most,
      }));
      if (resources.length === 0) return;
      const data = { organizationId, total: resources.length, resources: resources.slice(0, MOST_NAMED) };
      await publishEvent(trx, touch, { organizationId, type: 'quota.reached', data }, nowMs);
    });
  }
}

function useKey({ limit, organizationId, frontdoorId }: QuotaUse): string {
  return `${limit} ${frontdoorId ?? organizationId}`;
}

/** The levels that a use has reached, the highest last. */
function crossingsOf(use: QuotaUse): readonly Crossing[] {
  return LEVELS.filter((percent) => use.used * 100 >= use.most * percent).map((percent) => ({
    key: `${useKey(use)} ${percent}`,
    percent,
    use,
  }));
}
