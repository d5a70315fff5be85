/**
 * Whether live traffic feels a change of one share, by the number of shares: the p99 of a steady load through
 * `frontdoor up` while one share is created and deleted again and again, and without changes in the same run.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchRun } from '../bench-run.ts';
import { findCommand } from '../bench-process.ts';
import { startNginx } from '../nginx-peer.ts';
import { startUp, untilServed, type UpProduct } from '../product.ts';
import { FILLED_ENVIRONMENT, fillShares } from './filled-shares.ts';
import type { SteadyLoad, SteadyResult } from './steady-load-process.ts';
import { startSteadyLoad } from './steady-load.ts';

const SCENARIO = 'gateway beside one share created and deleted';
const sharesScenario = (count: number): string => `${SCENARIO}, of ${count.toLocaleString('en')}`;
const CHANGES = 'changes';
const NO_CHANGES = 'no changes';

const FULL_COUNTS = [500, 5_000, 20_000, 50_000, 100_000] as const;
const QUICK_COUNTS = [500, 20_000] as const;
const REQUESTS_PER_SECOND = 200;
const CHANGE_INTERVAL_MS = 500;
const DOWNLOAD_BYTES = 1_048_576;
const SHARE = 'bench';
/** Agents and routers have come back, and the first sweep is over. */
const SETTLE_MS = 5_000;

/** Skipped where nginx is not installed. */
export async function measureGatewayBesideShares(run: BenchRun): Promise<void> {
  const counts = (run.options.isQuick ? QUICK_COUNTS : FULL_COUNTS).filter((n) =>
    run.wants(sharesScenario(n)),
  );
  if (counts.length === 0) return;
  if (findCommand('nginx') === undefined) return run.skip(SCENARIO, 'nginx is not in PATH');
  const nginx = await startNginx(join(run.folder, 'nginx-shares'), DOWNLOAD_BYTES);
  run.defer(() => nginx.stop());
  const folder = join(run.folder, 'shares');
  const { cpuProfileDir } = run.options;
  const start = (): Promise<UpProduct> => startUp({ folder, args: ['--any-port'], cpuProfileDir });
  const first = await start();
  await first.publish(SHARE, `http://127.0.0.1:${nginx.servicePort}`);
  await first.stop();
  for (const count of counts) {
    fillShares(join(folder, 'data', 'control.db'), SHARE, count);
    const product = await start();
    try {
      await untilServed(product.port, `${SHARE}.${product.zone}`, '/small');
      const environmentId = await hostOf(product);
      await pause(SETTLE_MS);
      const { processes } = product;
      const targets = [NO_CHANGES, CHANGES].map((name) => ({ name, processes }));
      await run.measure(sharesScenario(count), 'request', targets, async ({ name }, seconds, metered) => {
        const changedId = name === CHANGES ? environmentId : undefined;
        const { answered, perSecond, p50Us, p99Us } = await metered(() =>
          measureOnce(product, changedId, seconds),
        );
        return { units: answered, perSecond, p50Us, p99Us };
      });
    } finally {
      await product.stop();
    }
  }
}

/** Without an environment, no share is created. */
async function measureOnce(
  product: UpProduct,
  environmentId: string | undefined,
  seconds: number,
): Promise<SteadyResult> {
  const load: SteadyLoad = {
    url: `http://127.0.0.1:${product.port}/small`,
    method: 'GET',
    headers: { host: `${SHARE}.${product.zone}` },
    perSecond: REQUESTS_PER_SECOND,
  };
  const running = await startSteadyLoad(load);
  const endMs = performance.now() + seconds * 1_000;
  while (performance.now() < endMs) {
    if (environmentId === undefined) {
      await pause(2 * CHANGE_INTERVAL_MS);
      continue;
    }
    const body = {
      environmentId,
      shareMode: 'public',
      backendMode: 'proxy',
      target: 'http://127.0.0.1:9',
    };
    const { token } = await product.call('POST', '/shares', body);
    await pause(CHANGE_INTERVAL_MS);
    await product.call('DELETE', `/shares/${String(token)}`);
    await pause(CHANGE_INTERVAL_MS);
  }
  return running.end();
}

/** Returns the environment of the demo's agent. */
async function hostOf(product: UpProduct): Promise<string> {
  const { content } = await product.call('GET', '/environments');
  return (content as { id: string }[]).find(({ id }) => id !== FILLED_ENVIRONMENT)!.id;
}
