/** Loads at a steady rate, each in a process of its own, and what most of them are for: a share of nginx at `frontdoor up`. */
import { setTimeout as pause } from 'node:timers/promises';
import { findCommand } from '../../support/child-process.ts';
import type { BenchRun, Sample } from '../bench-run.ts';
import { untilAnswers } from '../check-client.ts';
import { startNginx, type NginxPeer } from '../nginx-peer.ts';
import type { Product } from '../product.ts';
import { startScript } from '../script-process.ts';
import type { SteadyLoad, SteadyResult } from './steady-load-process.ts';

export const SHARE = 'bench';

const DOWNLOAD_BYTES = 1_048_576;

/** Returns their results in their order. */
export async function runSteadyLoads(loads: readonly SteadyLoad[], seconds: number): Promise<SteadyResult[]> {
  const running = [];
  for (const load of loads) running.push(await startScript('api/steady-load-process.ts', load));
  await pause(seconds * 1_000);
  return Promise.all(running.map(async (one) => JSON.parse(await one.ask()) as SteadyResult));
}

/** Throws when a request failed. */
export function withoutFailure(result: SteadyResult): Sample {
  if (result.failed > 0) throw new Error(`${result.failed} requests failed`);
  return result;
}

/** The private service. Undefined where nginx is not installed, and `scenario` is reported as skipped. It ends with the run. */
export async function startService(run: BenchRun, scenario: string): Promise<NginxPeer | undefined> {
  if (findCommand('nginx') === undefined) {
    run.skip(scenario, 'nginx is not in PATH');
    return undefined;
  }
  return startNginx(run, DOWNLOAD_BYTES);
}

export async function publishService(product: Product, { servicePort }: NginxPeer): Promise<void> {
  await product.publish(SHARE, `http://127.0.0.1:${servicePort}`);
}

/** Requests to the share, once it is served. */
export async function requestsOfShare({ port, zone }: Product, perSecond: number): Promise<SteadyLoad> {
  const host = `${SHARE}.${zone}`;
  await untilAnswers({ port, host });
  return { url: `http://127.0.0.1:${port}/small`, method: 'GET', headers: { host }, perSecond };
}
