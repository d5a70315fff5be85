/** Removes records of requests whose time is over, or of which an owner has too many, every minute. */
import { sweepRequestRecords } from '../store/request-record-store.ts';
import { StoreSweep, type SweepParts } from '../store/store-sweep.ts';

const SWEEP_MS = 60_000;

export class RequestRecordSweep extends StoreSweep {
  constructor(parts: SweepParts) {
    super(parts, 'old records of requests', SWEEP_MS);
  }

  protected pass(nowMs: number): Promise<void> {
    return sweepRequestRecords(this.parts.store.db, nowMs);
  }
}
