/** Checks this machine's clock by that of an HTTPS server, which need not be trusted for this. */
import type { OutwardDialer } from '#net';
import { serverDateOf } from '#net/http';
import { failure, ok, PROBE_MS, type CheckResult } from './finding.ts';

/** Tokens and certificates are refused if clocks differ by more. */
const MAX_SKEW_MS = 60_000;

export async function serverClockVerdict(
  { origin, host }: URL,
  outward: OutwardDialer,
  probeMs = PROBE_MS,
): Promise<CheckResult> {
  const dateMs = await serverDateOf(origin, outward, probeMs);
  if (dateMs === undefined)
    return failure(`${host} does not respond`, 'allow connections to it, and check that it runs');
  const aheadMs = dateMs - Date.now();
  if (Math.abs(aheadMs) <= MAX_SKEW_MS) return ok(`${host} responds, and the clocks agree`);
  return failure(
    `this clock is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of ${host}`,
    'synchronize this machine with NTP ("timedatectl set-ntp true"): tokens and certificates depend on the time',
  );
}
