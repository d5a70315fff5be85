/**
 * Removes expired entries of request logs, and the logs of deleted frontdoors, every minute, in short transactions.
 * Each report removes the entries beyond the limits.
 */
import { StoreSweep, type Store, type SweepParts } from '../../store/mod.ts';
import { dueRequestLogs, removeBefore } from './request-log-store.ts';

const SWEEP_MS = 60_000;
const LOGS_A_SWEEP = 200;
/** For each log: more than the default limit of its entries. */
const REMOVALS_A_LOG = 120;

export class RequestLogSweep extends StoreSweep {
  readonly #store: Pick<Store, 'db' | 'transaction'>;

  constructor(parts: SweepParts & { readonly store: Pick<Store, 'db' | 'transaction'> }) {
    super(parts, 'old entries of request logs', SWEEP_MS);
    this.#store = parts.store;
  }

  protected async pass(nowMs: number): Promise<void> {
    for (const { frontdoorId, beforeMs } of await dueRequestLogs(this.#store.db, nowMs, LOGS_A_SWEEP)) {
      await this.deleteAll(() => removeBefore(this.#store, frontdoorId, beforeMs), REMOVALS_A_LOG);
    }
  }
}
