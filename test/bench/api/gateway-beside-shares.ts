/**
 * Whether live traffic feels a change of one share, by the number of shares: the p99 of a steady load through
 * `frontdoor up` while one share is created and deleted again and again, and without changes in the same run.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchRun } from '../bench-run.ts';
import { startUp, type UpProduct } from '../product.ts';
import { FILLED_ENVIRONMENT, fillShares } from './filled-shares.ts';
import {
  publishService,
  requestsOfShare,
  runSteadyLoads,
  SHARE,
  startService,
  withoutFailure,
} from './steady-load.ts';

const SCENARIO = 'gateway beside one share created and deleted';
const sharesScenario = (count: number): string => `${SCENARIO}, of ${count.toLocaleString('en')}`;
const CHANGES = 'changes';
const NO_CHANGES = 'no changes';

const FULL_COUNTS = [500, 5_000, 20_000, 50_000, 100_000] as const;
const QUICK_COUNTS = [500, 20_000] as const;
const REQUESTS_PER_SECOND = 200;
const CHANGE_INTERVAL_MS = 500;
const FOLDER = 'beside-shares';
/** Agents and routers have come back, and the first sweep is over. */
const SETTLE_MS = 5_000;

/** Skipped where nginx is not installed. */
export async function measureGatewayBesideShares(run: BenchRun): Promise<void> {
  const counts = (run.options.isQuick ? QUICK_COUNTS : FULL_COUNTS).filter((n) =>
    run.wants(sharesScenario(n)),
  );
  if (counts.length === 0) return;
  const service = await startService(run, SCENARIO);
  if (service === undefined) return;
  const first = await startUp(run, FOLDER);
  await publishService(first, service);
  await first.stop();
  for (const count of counts) {
    fillShares(first, SHARE, count);
    await run.part(() => measureWith(run, count));
  }
}

async function measureWith(run: BenchRun, count: number): Promise<void> {
  const product = run.keep(await startUp(run, FOLDER));
  const requests = await requestsOfShare(product, REQUESTS_PER_SECOND);
  const environmentId = await hostOf(product);
  await pause(SETTLE_MS);
  const { processes } = product;
  const targets = [
    { name: NO_CHANGES, processes, act: () => pause(2 * CHANGE_INTERVAL_MS) },
    { name: CHANGES, processes, act: () => changeOnce(product, environmentId) },
  ];
  await run.measure(sharesScenario(count), 'request', targets, async ({ act }, seconds, metered) => {
    const [result] = await metered(() => runSteadyLoads([requests], seconds, act));
    return withoutFailure(result!);
  });
}

/** Creates a share and deletes it. */
async function changeOnce(product: UpProduct, environmentId: string): Promise<void> {
  const body = { environmentId, shareMode: 'public', backendMode: 'proxy', target: 'http://127.0.0.1:9' };
  const { token } = await product.call('POST', '/shares', body);
  await pause(CHANGE_INTERVAL_MS);
  await product.call('DELETE', `/shares/${String(token)}`);
  await pause(CHANGE_INTERVAL_MS);
}

/** Returns the environment of the demo's agent. */
async function hostOf(product: UpProduct): Promise<string> {
  const { content } = await product.call('GET', '/environments');
  return (content as { id: string }[]).find(({ id }) => id !== FILLED_ENVIRONMENT)!.id;
}
