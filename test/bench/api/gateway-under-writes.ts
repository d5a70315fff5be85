/**
 * Whether the gateway feels the API's writes: the p99 of a steady 1,000 requests a second through `frontdoor up`, with
 * 500 acknowledged writes a second in the same process and without. Both rates are fixed: a load that takes all that it
 * can get would only show that the machine has so many cores.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { findCommand } from '../../support/child-process.ts';
import type { BenchRun } from '../bench-run.ts';
import { untilAnswers } from '../check-client.ts';
import { figureOf } from '../figure.ts';
import { startNginx } from '../nginx-peer.ts';
import { startUp } from '../product.ts';
import { startScript } from '../script-process.ts';
import type { SteadyLoad, SteadyResult } from './steady-load-process.ts';

export const GATEWAY_SCENARIO = 'gateway, 1,000 requests/s beside 500 writes/s';
export const WITHOUT_WRITES = 'without writes';
export const WITH_WRITES = 'with writes';

const SHARE = 'bench';
const DOWNLOAD_BYTES = 1_048_576;
const REQUESTS_PER_SECOND = 1_000;
const WRITES_PER_SECOND = 500;
/**
 * The least part of its rate that the writer must reach; below it, the figure would be for fewer writes than stated.
 */
const LEAST_WRITES_PER_SECOND = 0.9 * WRITES_PER_SECOND;

/** Skipped where nginx is not there. */
export async function measureGatewayUnderWrites(run: BenchRun): Promise<void> {
  if (!run.wants(GATEWAY_SCENARIO)) return;
  if (findCommand('nginx') === undefined) return run.skip(GATEWAY_SCENARIO, 'nginx is not in PATH');
  const { servicePort } = await startNginx(run, DOWNLOAD_BYTES);
  const product = run.keep(await startUp(run, 'under-writes'));
  const { port, zone, apiUrl, frontdoorId, authorization, processes } = product;
  await product.publish(SHARE, `http://127.0.0.1:${servicePort}`);
  const host = `${SHARE}.${zone}`;
  await untilAnswers({ port, host });
  const requests: SteadyLoad = {
    url: `http://127.0.0.1:${port}/small`,
    method: 'GET',
    headers: { host },
    perSecond: REQUESTS_PER_SECOND,
  };
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
    for (const { failed } of results) if (failed > 0) throw new Error(`${failed} requests failed`);
    const [read, write] = results;
    if (write !== undefined) written.push(write.perSecond);
    return read!;
  });
  const rate = figureOf(written).median;
  run.record('writes beside the gateway', WITH_WRITES, { 'writes/s': rate });
  if (rate < LEAST_WRITES_PER_SECOND) throw new Error(`only ${Math.round(rate)} writes/s were acknowledged`);
}

/** Each load is a process of its own; returns their results in their order. */
async function runSteadyLoads(loads: readonly SteadyLoad[], seconds: number): Promise<SteadyResult[]> {
  const running = [];
  for (const load of loads) running.push(await startScript('api/steady-load-process.ts', load));
  await pause(seconds * 1_000);
  return Promise.all(running.map(async (one) => JSON.parse(await one.ask()) as SteadyResult));
}
