/**
 * Whether the gateway feels the API's writes: the p99 of a steady 1,000 requests a second through `frontdoor up`, with
 * 500 acknowledged writes a second in the same process and without. Both rates are fixed: a load that takes all that it
 * can get would only show that the machine has so many cores.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findCommand } from '../bench-process.ts';
import type { BenchRun, Target } from '../bench-run.ts';
import { figureOf } from '../figure.ts';
import { startNginx } from '../nginx-peer.ts';
import { startUp, untilServed, type UpProduct } from '../product.ts';
import type { SteadyLoad, SteadyResult } from './steady-load-process.ts';
import { startSteadyLoad } from './steady-load.ts';

export const GATEWAY_SCENARIO = 'gateway, 1,000 requests/s beside 500 writes/s';
export const WITHOUT_WRITES = 'without writes';
export const WITH_WRITES = 'with writes';

const REQUESTS_PER_SECOND = 1_000;
const WRITES_PER_SECOND = 500;
/**
 * The least part of its rate that the writer must reach; below it, the figure would be for fewer writes than stated.
 */
const LEAST_WRITES_PER_SECOND = 0.9 * WRITES_PER_SECOND;
const DOWNLOAD_BYTES = 1_048_576;
const SHARE = 'bench';

interface Loads extends Target {
  readonly loads: readonly SteadyLoad[];
}

/** Skipped where nginx is not there. */
export async function measureGatewayUnderWrites(run: BenchRun): Promise<void> {
  if (!run.wants(GATEWAY_SCENARIO)) return;
  if (findCommand('nginx') === undefined) return run.skip(GATEWAY_SCENARIO, 'nginx is not in PATH');
  const nginx = await startNginx(join(run.folder, 'nginx'), DOWNLOAD_BYTES);
  run.defer(() => nginx.stop());
  const product = await startUp({
    folder: join(run.folder, 'gateway'),
    args: ['--any-port'],
    cpuProfileDir: run.options.cpuProfileDir,
  });
  run.defer(() => product.stop());
  await product.publish(SHARE, `http://127.0.0.1:${nginx.servicePort}`);
  await untilServed(product.port, `${SHARE}.${product.zone}`, '/small');
  const [requests, writes] = steadyLoads(product);
  const written: number[] = [];
  const { processes } = product;
  const targets: readonly Loads[] = [
    { name: WITHOUT_WRITES, processes, loads: [requests] },
    { name: WITH_WRITES, processes, loads: [requests, writes] },
  ];
  await run.measure(GATEWAY_SCENARIO, 'request', targets, async ({ loads }, seconds, metered) => {
    const [read, write] = await metered(() => runTogether(loads, seconds));
    if (write !== undefined) written.push(write.perSecond);
    const { answered, perSecond, p50Us, p99Us } = read!;
    return { units: answered, perSecond, p50Us, p99Us };
  });
  const rate = figureOf(written).median;
  run.record('writes beside the gateway', WITH_WRITES, { 'writes/s': rate });
  if (rate < LEAST_WRITES_PER_SECOND) throw new Error(`only ${Math.round(rate)} writes/s were acknowledged`);
}

function steadyLoads({
  port,
  zone,
  apiUrl,
  frontdoorId,
  authorization,
}: UpProduct): [SteadyLoad, SteadyLoad] {
  return [
    {
      url: `http://127.0.0.1:${port}/small`,
      method: 'GET',
      headers: { host: `${SHARE}.${zone}` },
      perSecond: REQUESTS_PER_SECOND,
    },
    {
      url: `${apiUrl}/frontdoor/${frontdoorId}/auth-providers`,
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'steady %d',
        type: 'OIDC',
        data: { issuer: 'https://idp.example.com', client_id: 'bench' },
      }),
      perSecond: WRITES_PER_SECOND,
    },
  ];
}

/** Throws when a request failed. */
async function runTogether(loads: readonly SteadyLoad[], seconds: number): Promise<SteadyResult[]> {
  const running = [];
  for (const load of loads) running.push(await startSteadyLoad(load));
  await pause(seconds * 1_000);
  return Promise.all(running.map((load) => load.end()));
}
