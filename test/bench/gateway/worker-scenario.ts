/**
 * One worker beside two, with as many connections in all and with as many for each worker: CPU time per request of all
 * processes of a gateway, and how connections spread.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { childrenOf } from '../bench-process.ts';
import type { Measured } from '../bench-result.ts';
import type { BenchRun, Rounds } from '../bench-run.ts';
import { openIdle, untilAnswers, type Door } from '../check-client.ts';
import type { HttpSamplers, HttpTarget } from '../http-samplers.ts';
import type { SeparateProduct } from '../separate-product.ts';
import { ONE_WORKER, TWO_WORKERS, TWO_WORKERS_TWICE } from './bench-front.ts';
import { connectionsByProcess, smallestShare } from './connection-spread.ts';
import { CPU_COLUMN, SMALLER_SHARE_COLUMN, WORKERS, WORKERS_TABLE } from './gateway-scenario-table.ts';

const GATEWAY = 'gateway';
const CONNECTIONS = 32;
/** Connections that are looked at to see how two workers share them. */
const SPREAD_CONNECTIONS = 1_000;
/** Until clients that went are gone from the gateway's files too. */
const SETTLE_MS = 500;

export interface WorkerScenarioOptions {
  readonly separate: SeparateProduct;
  /** The host of a share that asks nothing of a client. */
  readonly host: string;
  readonly samplers: HttpSamplers;
  readonly rounds: Rounds;
  /** Arguments of both gateways, but for the number of workers. */
  readonly gatewayArgs: readonly string[];
}

/** Two gateways beside the one that is there, so that both began alike. */
export async function measureWorkers(run: BenchRun, options: WorkerScenarioOptions): Promise<void> {
  const { separate, host, samplers, rounds, gatewayArgs } = options;
  const start = async (name: string, args: readonly string[]) => {
    const { pid, ready } = await separate.addGateway(name, [...gatewayArgs, ...args]);
    const door: Door = { port: Number(new URL(ready.gatewayUrl).port), host };
    await untilAnswers(door);
    return { pid, door };
  };
  const one = await start('one-worker', []);
  const two = await start('two-workers', ['--workers', '2']);
  const workers = childrenOf(two.pid);
  if (workers.length !== 2) throw new Error(`${workers.length} worker processes were started, not 2`);
  const spread = await spreadOf(two.door, workers);
  const shared = [...separate.processes].filter(([name]) => name !== GATEWAY);
  const target = (name: string, door: Door, pids: readonly [string, number][]): HttpTarget => {
    const processes = new Map([...pids, ...shared, ...samplers.nginx.processes]);
    return { name, ...door, serviceRequests: 1, processes };
  };
  const ofTwo: [string, number][] = [
    [`${GATEWAY} supervisor`, two.pid],
    ...workers.map((pid, index): [string, number] => [`${GATEWAY} worker ${index + 1}`, pid]),
  ];
  const targets = [
    target(ONE_WORKER, one.door, [[GATEWAY, one.pid]]),
    target(TWO_WORKERS, two.door, ofTwo),
    target(TWO_WORKERS_TWICE, two.door, ofTwo),
  ];
  const requests = samplers.requests({ path: '/small', connections: CONNECTIONS });
  const twice = samplers.requests({ path: '/small', connections: 2 * CONNECTIONS });
  const sampler: typeof requests = (at, seconds, metered) =>
    (at.name === TWO_WORKERS_TWICE ? twice : requests)(at, seconds, metered);
  const measured = await run.measure(WORKERS, 'request', targets, sampler, rounds);
  for (const { name } of targets)
    run.record(WORKERS_TABLE, name, { [CPU_COLUMN]: gatewayCpuUs(measured![name]!) });
  run.record(WORKERS_TABLE, TWO_WORKERS, {
    ...Object.fromEntries(spread.map((count, index) => [`connections of worker ${index + 1}`, count])),
    [SMALLER_SHARE_COLUMN]: smallestShare(spread) * 100,
  });
}

/** All processes of a gateway together. */
export function gatewayCpuUs({ cpuUs }: Pick<Measured, 'cpuUs'>): number {
  return Object.entries(cpuUs)
    .filter(([name]) => name.startsWith(GATEWAY))
    .reduce((sum, [, us]) => sum + us, 0);
}

/** The kernel deals connections by a hash: a few would say more of chance than of the gateway. */
async function spreadOf(door: Door, workers: readonly number[]): Promise<number[]> {
  const close = await openIdle(door, SPREAD_CONNECTIONS);
  try {
    const counts = connectionsByProcess(door.port, workers);
    const sum = counts.reduce((total, count) => total + count, 0);
    if (sum !== SPREAD_CONNECTIONS)
      throw new Error(`${sum} of ${SPREAD_CONNECTIONS} connections are held by workers`);
    return counts;
  } finally {
    close();
    await pause(SETTLE_MS);
  }
}
