/** Removes names whose rest has ended, and the oldest ones of organizations beyond the limit. */
import {
  deleteExpiredNames,
  deleteOldestNames,
  MAX_RESTING_NAMES,
  organizationsOverLimit,
} from './resting-name-store.ts';
import { StoreSweep, type SweepParts } from '../../store/mod.ts';

const SWEEP_MS = 10 * 60_000;
const STATEMENTS_A_SWEEP = 50;

export class RestingNameSweep extends StoreSweep {
  readonly #maxNames: number;

  /** `maxNames` is the limit per organization. */
  constructor(parts: SweepParts, maxNames = MAX_RESTING_NAMES) {
    super(parts, 'names that rested', SWEEP_MS);
    this.#maxNames = maxNames;
  }

  protected async pass(nowMs: number): Promise<void> {
    const { db } = this.parts.store;
    await this.deleteAll((most) => deleteExpiredNames(db, nowMs, most), STATEMENTS_A_SWEEP);
    for (const { organizationId, surplus } of await organizationsOverLimit(db, this.#maxNames)) {
      let left = surplus;
      await this.deleteAll(async (most) => {
        const removed = await deleteOldestNames(db, organizationId, Math.min(most, left));
        left -= removed;
        return left > 0 ? removed : 0;
      }, STATEMENTS_A_SWEEP);
    }
  }
}
