/**
 * Whether the gateway feels the API's writes: the p99 of a steady 1,000 requests a second through `frontdoor up`, with
 * 500 acknowledged writes a second in the same process and without. Both rates are fixed: a load that takes all that it
 * can get would only show that the machine has so many cores.
 */
import type { BenchRun } from '../bench-run.ts';
import { figureOf } from '../figure.ts';
import { startUp } from '../product.ts';
import type { SteadyLoad } from './steady-load-process.ts';
import {
  publishService,
  requestsOfShare,
  runSteadyLoads,
  startService,
  withoutFailure,
} from './steady-load.ts';

export const GATEWAY_SCENARIO = 'gateway, 1,000 requests/s beside 500 writes/s';
export const WITHOUT_WRITES = 'without writes';
export const WITH_WRITES = 'with writes';

const REQUESTS_PER_SECOND = 1_000;
const WRITES_PER_SECOND = 500;
/**
 * The least part of its rate that the writer must reach; below it, the figure would be for fewer writes than stated.
 */
const LEAST_WRITES_PER_SECOND = 0.9 * WRITES_PER_SECOND;

/** Skipped where nginx is not there. */
export async function measureGatewayUnderWrites(run: BenchRun): Promise<void> {
  if (!run.wants(GATEWAY_SCENARIO)) return;
  const service = await startService(run, GATEWAY_SCENARIO);
  if (service === undefined) return;
  const product = run.keep(await startUp(run, 'under-writes'));
  await publishService(product, service);
  const requests = await requestsOfShare(product, REQUESTS_PER_SECOND);
  const { apiUrl, frontdoorId, authorization, processes } = product;
  const writes: SteadyLoad = {
    url: `${apiUrl}/frontdoor/${frontdoorId}/auth-providers`,
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'steady %d',
      type: 'OIDC',
      data: { issuer: 'https://idp.example.com', client_id: 'bench' },
    }),
    perSecond: WRITES_PER_SECOND,
  };
  const written: number[] = [];
  const targets = [
    { name: WITHOUT_WRITES, processes, loads: [requests] },
    { name: WITH_WRITES, processes, loads: [requests, writes] },
  ];
  await run.measure(GATEWAY_SCENARIO, 'request', targets, async ({ loads }, seconds, metered) => {
    const results = await metered(() => runSteadyLoads(loads, seconds));
    const [read, write] = results.map(withoutFailure);
    if (write !== undefined) written.push(write.perSecond);
    return read!;
  });
  const rate = figureOf(written).median;
  run.record('writes beside the gateway', WITH_WRITES, { 'writes/s': rate });
  if (rate < LEAST_WRITES_PER_SECOND) throw new Error(`only ${Math.round(rate)} writes/s were acknowledged`);
}
