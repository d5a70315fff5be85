/** One worker beside two: CPU time per request of all processes of a gateway, and how connections spread. */
import { setTimeout as pause } from 'node:timers/promises';
import { childrenOf } from '../bench-process.ts';
import type { Measured } from '../bench-result.ts';
import { openIdle } from '../check-client.ts';
import type { NginxPeer } from '../nginx-peer.ts';
import { measureWrk, type Target, type WrkScenario } from '../scenario.ts';
import { untilServed } from '../product.ts';
import type { Wrk } from '../wrk-load.ts';
import { ZONE } from './bench-certificate.ts';
import { connectionsByProcess } from './connection-spread.ts';
import { ONE_WORKER, TWO_WORKERS } from './front-names.ts';
import type { WorkerFacts } from './gateway-bench-result.ts';
import type { SeparateProduct } from './gateway-product.ts';

const GATEWAY = 'gateway';
/** Until clients that went are gone from the gateway's files too. */
const SETTLE_MS = 500;

export interface WorkerScenarioOptions {
  readonly separate: SeparateProduct;
  /** A share that asks nothing of a client. */
  readonly share: string;
  readonly nginx: NginxPeer;
  readonly wrk: Wrk;
  readonly scenario: WrkScenario;
  readonly spreadConnections: number;
  /** Arguments of both gateways, but for the number of workers. */
  readonly gatewayArgs: readonly string[];
}

export interface WorkerResult {
  readonly measured: Readonly<Record<string, Measured>>;
  readonly facts: WorkerFacts;
}

/** Two gateways beside the one that is there, so that both began alike. */
export async function measureWorkers(options: WorkerScenarioOptions): Promise<WorkerResult> {
  const { separate, share, nginx, wrk, scenario, spreadConnections, gatewayArgs } = options;
  const host = `${share}.${ZONE}`;
  const stops: (() => Promise<void>)[] = [];
  try {
    const start = async (name: string, args: readonly string[]) => {
      const gateway = await separate.addGateway(name, [...gatewayArgs, ...args]);
      stops.push(() => gateway.stop());
      await untilServed(gateway.plainPort, host, '/small');
      return gateway;
    };
    const one = await start('one-worker', []);
    const two = await start('two-workers', ['--workers', '2']);
    const workers = childrenOf(two.pid);
    if (workers.length !== 2) throw new Error(`${workers.length} worker processes were started, not 2`);
    const spread = await spreadOf(two.plainPort, host, workers, spreadConnections);
    const shared: [string, number][] = [
      ...[...separate.processes].filter(([name]) => name !== GATEWAY),
      ['nginx', nginx.pids.at(-1)!],
    ];
    const target = (name: string, port: number, pids: readonly [string, number][]): Target => {
      return { name, port, host, serviceRequests: 1, processes: new Map([...pids, ...shared]) };
    };
    const targets = [
      target(ONE_WORKER, one.plainPort, [[GATEWAY, one.pid]]),
      target(TWO_WORKERS, two.plainPort, [
        [`${GATEWAY} supervisor`, two.pid],
        ...workers.map((pid, index): [string, number] => [`${GATEWAY} worker ${index + 1}`, pid]),
      ]),
    ];
    const measured = await measureWrk(targets, nginx, wrk, scenario);
    return {
      measured,
      facts: {
        oneWorkerUs: gatewayCpuUs(measured[ONE_WORKER]!),
        twoWorkersUs: gatewayCpuUs(measured[TWO_WORKERS]!),
        spread,
      },
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** All processes of a gateway together. */
export function gatewayCpuUs({ cpuUs }: Pick<Measured, 'cpuUs'>): number {
  return Object.entries(cpuUs)
    .filter(([name]) => name.startsWith(GATEWAY))
    .reduce((sum, [, us]) => sum + us, 0);
}

/** The kernel deals connections by a hash: a few would say more of chance than of the gateway. */
async function spreadOf(
  port: number,
  host: string,
  workers: readonly number[],
  connections: number,
): Promise<number[]> {
  const close = await openIdle(port, host, connections);
  try {
    const counts = connectionsByProcess(port, workers);
    const sum = counts.reduce((total, count) => total + count, 0);
    if (sum !== connections) throw new Error(`${sum} of ${connections} connections are held by workers`);
    return counts;
  } finally {
    close();
    await pause(SETTLE_MS);
  }
}
