/** Removes expired records of requests, and those beyond an owner's limit, every minute. */
import { sweepRequestRecords } from './request-record-store.ts';
import { deleteOldUnrouted, deleteSurplusUnrouted } from './unrouted-failure-store.ts';
import { StoreSweep, type SweepParts } from '../../store/mod.ts';

const SWEEP_MS = 60_000;
const STATEMENTS_A_SWEEP = 50;

export class RequestRecordSweep extends StoreSweep {
  constructor(parts: SweepParts) {
    super(parts, 'old records of requests', SWEEP_MS);
  }

  protected async pass(nowMs: number): Promise<void> {
    const { db } = this.parts.store;
    await sweepRequestRecords(db, nowMs);
    await this.deleteAll((most) => deleteOldUnrouted(db, nowMs, most), STATEMENTS_A_SWEEP);
    await this.deleteAll((most) => deleteSurplusUnrouted(db, most), STATEMENTS_A_SWEEP);
  }
}
