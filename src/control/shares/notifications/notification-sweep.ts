/** Removes notifications that are finished and old, or too many, every minute. */
import { StoreSweep, type SweepParts } from '../../store/mod.ts';
import { deleteFinished } from './delivery-store.ts';

const SWEEP_MS = 60_000;
const STATEMENTS_A_SWEEP = 20;

export class NotificationSweep extends StoreSweep {
  constructor(parts: SweepParts) {
    super(parts, 'old notifications', SWEEP_MS);
  }

  protected async pass(nowMs: number): Promise<void> {
    await this.deleteAll((most) => deleteFinished(this.parts.store.db, nowMs, most), STATEMENTS_A_SWEEP);
  }
}
