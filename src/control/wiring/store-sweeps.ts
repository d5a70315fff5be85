/**
 * What happens periodically: expired rows are removed from the store, and the proofs of hostnames are looked up; and the check
 * of the stored policies at the start.
 */
import { txtRecordsOf } from '#net/names';
import type { AuditParts } from '../audit/mod.ts';
import { HostnameProver } from '../shares/hostnames/mod.ts';
import { MetricSweep } from '../shares/metrics/mod.ts';
import { IdempotencySweep } from '../shares/operations/mod.ts';
import { PolicyCheck, RequestLogSweep, RequestRecordSweep, RestingNameSweep } from '../shares/records/mod.ts';
import type { Store, SweepParts } from '../store/mod.ts';

export interface PeriodicParts extends SweepParts, AuditParts {
  readonly store: Store;
  /** Name servers that are asked about hostnames; none: those of the system. */
  readonly dnsServers: readonly string[];
}

/** Starts them all. `close` resolves when none is running. */
export function startSweeps(parts: PeriodicParts): {
  readonly close: () => Promise<void>;
} {
  const dns = { servers: parts.dnsServers };
  const sweeps = [
    new MetricSweep(parts),
    new RequestLogSweep(parts),
    new RequestRecordSweep(parts),
    new RestingNameSweep(parts),
    new IdempotencySweep(parts),
    new PolicyCheck(parts),
    new HostnameProver({ ...parts, txt: (name, signal) => txtRecordsOf(name, { ...dns, signal }) }),
  ];
  return {
    close: async () => {
      await Promise.all(sweeps.map((sweep) => sweep.close()));
    },
  };
}
