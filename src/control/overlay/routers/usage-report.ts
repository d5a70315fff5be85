/** Reads the usage of circuits from a report of a router. */
import type { CtrlBody } from '#wire/ctrl';
import type { UsageInterval, UsageReport } from '../model/fabric-events.ts';

export function usageOf(routerId: string, { usageCounters }: CtrlBody<'metrics'>): UsageReport {
  const circuits: UsageInterval[] = [];
  for (const { intervalStartUTC, intervalLength, buckets } of usageCounters) {
    const [intervalStartS, intervalLengthS] = [Number(intervalStartUTC), Number(intervalLength)];
    for (const [circuitId, { values, tags }] of Object.entries(buckets)) {
      const usage = Object.fromEntries(Object.entries(values).map(([kind, bytes]) => [kind, Number(bytes)]));
      circuits.push({ circuitId, usage, intervalStartS, intervalLengthS, tags });
    }
  }
  return { routerId, circuits };
}
