/** The periodic removal of what has expired in the store. */
import { MetricSweep } from './metrics/mod.ts';
import {
  IdempotencySweep,
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
  ];
  return {
    close: async () => {
      await Promise.all(sweeps.map((sweep) => sweep.close()));
    },
  };
}
