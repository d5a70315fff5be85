/** Scenarios: the same load at several targets in interleaved rounds, with CPU time by process and counts compared. */
import { cpuTimeUs } from './bench-process.ts';
import type { Measured } from './bench-result.ts';
import { Downloader, type ClientEntrance } from './check-client.ts';
import { figureOf, interleave } from './figure.ts';
import type { NginxPeer } from './nginx-peer.ts';
import type { Wrk, WrkResult } from './wrk-load.ts';

export interface Target {
  readonly name: string;
  readonly port: number;
  readonly host: string;
  readonly entrance?: ClientEntrance;
  /** How often nginx counts one request that comes this way. */
  readonly serviceRequests: number;
  /** How long its last requests may take to reach nginx after a load has stopped; nginx's own measure when absent. */
  readonly quietMs?: number;
  readonly processes: ReadonlyMap<string, number>;
}

export type CpuTimes = ReadonlyMap<string, number>;

export function cpuTimes(target: Pick<Target, 'processes'>): CpuTimes {
  return new Map([...target.processes].map(([name, pid]) => [name, cpuTimeUs(pid)]));
}

/** CPU microseconds per unit of work by process, summed over rounds. */
export class CpuMeter {
  readonly #sums = new Map<string, number>();
  #units = 0;

  add(before: CpuTimes, after: CpuTimes, units: number): void {
    for (const [name, us] of after)
      this.#sums.set(name, (this.#sums.get(name) ?? 0) + us - (before.get(name) ?? 0));
    this.#units += units;
  }

  perUnit(): Record<string, number> {
    return Object.fromEntries([...this.#sums].map(([name, us]) => [name, us / this.#units]));
  }
}

export interface WrkScenario {
  readonly path: string;
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly close?: boolean;
  /** Before the first round, each target; as long as `WARM_UP_ROUNDS` when absent. */
  readonly warmUpSeconds?: number;
}

/** How much longer than a round each target runs before the first one counts. */
export const WARM_UP_ROUNDS = 3;

export async function measureWrk(
  targets: readonly Target[],
  nginx: NginxPeer,
  wrk: Wrk,
  scenario: WrkScenario,
): Promise<Record<string, Measured>> {
  const { rounds, seconds, connections, path, close = false } = scenario;
  const meters = new Map(targets.map(({ name }) => [name, new CpuMeter()]));
  const run = async (target: Target, forSeconds: number): Promise<WrkResult> => {
    const counted = await nginx.requestCount(target.quietMs);
    const before = cpuTimes(target);
    const { port, host, entrance: { ca, headers = {} } = {} } = target;
    const isSecure = ca !== undefined;
    const load = { port, host, path, connections, close, seconds: forSeconds, isSecure, headers };
    const result = await wrk.run(load);
    meters.get(target.name)!.add(before, cpuTimes(target), result.requests);
    const seen = ((await nginx.requestCount(target.quietMs)) - counted) / target.serviceRequests;
    // wrk stops without waiting for what is on its way: one request a connection may be seen and not counted.
    if (seen < result.requests || seen > result.requests + connections) {
      throw new Error(`${target.name}: wrk counts ${result.requests} requests, the private service ${seen}`);
    }
    return result;
  };
  // Compilers learn from what runs; a service that has run for a while is what users have.
  const { warmUpSeconds = WARM_UP_ROUNDS * seconds } = scenario;
  for (const target of targets) await run(target, warmUpSeconds);
  for (const target of targets) meters.set(target.name, new CpuMeter());
  const byName = new Map(targets.map((target) => [target.name, target]));
  const results = await interleave([...byName.keys()], rounds, (name) => run(byName.get(name)!, seconds));
  return Object.fromEntries(
    [...results].map(([name, rows]) => [
      name,
      {
        rate: figureOf(rows.map(({ requestsPerSecond }) => requestsPerSecond)),
        p50Us: figureOf(rows.map(({ p50Us }) => p50Us)),
        p99Us: figureOf(rows.map(({ p99Us }) => p99Us)),
        cpuUs: meters.get(name)!.perUnit(),
      },
    ]),
  );
}

export async function measureDownload(
  targets: readonly Target[],
  nginx: NginxPeer,
  rounds: number,
): Promise<Record<string, Measured>> {
  const meters = new Map(targets.map(({ name }) => [name, new CpuMeter()]));
  const byName = new Map(targets.map((target) => [target.name, target]));
  const downloader = new Downloader(nginx.download);
  const results = await interleave([...byName.keys()], rounds, async (name) => {
    const target = byName.get(name)!;
    const before = cpuTimes(target);
    const rate = await downloader.run(target.port, target.host, '/download', target.entrance);
    meters.get(name)!.add(before, cpuTimes(target), nginx.download.bytes / 1e6);
    return rate;
  });
  return Object.fromEntries(
    [...results].map(([name, rates]) => [
      name,
      { rate: figureOf(rates), cpuUs: meters.get(name)!.perUnit() },
    ]),
  );
}
