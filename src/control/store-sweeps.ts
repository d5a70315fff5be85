/** The periodic removal of what has expired in the store, and the check of its policies at the start. */
import { MetricSweep } from './metrics/mod.ts';
import {
  IdempotencySweep,
  PolicyCheck,
  RequestRecordSweep,
  RestingNameSweep,
  type Store,
  type SweepParts,
} from './store/mod.ts';

/** Starts every sweep. `close` resolves when none is running. */
export function startSweeps(parts: SweepParts & { readonly store: Store }): {
  close(): Promise<void>;
} {
  const sweeps = [
    new MetricSweep(parts),
    new RequestRecordSweep(parts),
    new RestingNameSweep(parts),
    new IdempotencySweep(parts),
    new PolicyCheck(parts),
  ];
  return {
    close: async () => {
      await Promise.all(sweeps.map((sweep) => sweep.close()));
    },
  };
}
