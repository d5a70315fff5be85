/**
 * One run: nginx directly, nginx as reverse proxy, peers and the product, in interleaved rounds. Fails when an answer
 * was not 200, when a byte differed, or when the private service did not see every request.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { zitiBinary } from '../support/ziti-command.ts';
import { residentBytes } from './bench-process.ts';
import type { BenchOptions, ProductShape } from './bench-options.ts';
import {
  machineFacts,
  RESULT_FORMAT,
  type BenchResult,
  type Measured,
  type ShapeFacts,
} from './bench-result.ts';
import { checkedLoad, openIdle } from './check-client.ts';
import { SMALL_BODY, startNginx, type NginxPeer } from './nginx-peer.ts';
import { OPENZITI_CIRCUITS_PER_SECOND } from './goal-table.ts';
import { OPENZITI, startOpenZiti } from './openziti-peer.ts';
import { startOutsidePeers, type OutsidePeer } from './outside-peers.ts';
import { startUp, type Product, type ProductOptions, type Started } from './product.ts';
import { measureDownload, measureWrk, type Target, type WrkScenario } from './scenario.ts';
import { startSeparate } from './separate-product.ts';
import { Wrk } from './wrk-load.ts';

export type ReportLine = (text: string) => void;

/** What the process needs to settle before its memory is read. */
const SETTLE_MS = 3_000;
/** A circuit takes OpenZiti most of a second under load: so long its last requests are on their way. */
const OPENZITI_QUIET_MS = 1_500;

function targetOf(product: Product, nginx: NginxPeer): Target {
  return {
    name: product.shape,
    port: product.port,
    host: product.host,
    serviceRequests: 1,
    processes: new Map([...product.processes, ['nginx', nginx.pids.at(-1)!]]),
  };
}

function nginxTargets(nginx: NginxPeer): Target[] {
  const processes = new Map([['nginx', nginx.pids.at(-1)!]]);
  return [
    { name: 'nginx direct', port: nginx.servicePort, host: 'direct', serviceRequests: 1, processes },
    // Both roles are one program: each request through the proxy is counted twice.
    { name: 'nginx proxy', port: nginx.proxyPort, host: 'proxy', serviceRequests: 2, processes },
  ];
}

function peerTarget({ name, port, processes }: OutsidePeer, nginx: NginxPeer): Target {
  const all = new Map([...processes, ['nginx', nginx.pids.at(-1)!] as const]);
  return { name, port, host: name, serviceRequests: 1, processes: all };
}

function memoryOf(product: Product): Record<string, number> {
  return Object.fromEntries([...product.processes].map(([name, pid]) => [name, residentBytes(pid)]));
}

async function bytesPerIdleConnection(product: Product, count: number): Promise<number> {
  // Before any load: a heap that a load has grown would hide what connections take.
  (await openIdle(product.port, product.host, 20))();
  await pause(SETTLE_MS);
  const pid = product.processes.get('gateway') ?? product.processes.get('up')!;
  const before = residentBytes(pid);
  const close = await openIdle(product.port, product.host, count);
  await pause(SETTLE_MS);
  const after = residentBytes(pid);
  close();
  return Math.max(0, after - before) / count;
}

/** Everything through its checking load: exact bytes, exact counts. */
async function check(
  targets: readonly Target[],
  nginx: NginxPeer,
  options: BenchOptions,
): Promise<BenchResult['checked']> {
  const sum = { requests: 0, unique: 0 };
  for (const target of targets) {
    const before = await nginx.requestCount();
    const load = { requests: options.checkedRequests, connections: 32, smallBody: SMALL_BODY };
    const { requests, unique } = await checkedLoad(target.port, target.host, load);
    const seen = ((await nginx.requestCount()) - before) / target.serviceRequests;
    if (seen !== requests)
      throw new Error(`${target.name}: sent ${requests}, the private service saw ${seen}`);
    sum.requests += requests;
    sum.unique += unique;
  }
  return sum;
}

export type Starters = Readonly<Record<ProductShape, (options: ProductOptions) => Promise<Started>>>;

const STARTERS: Starters = { up: startUp, separate: startSeparate };

export async function runBench(
  options: BenchOptions,
  folder: string,
  say: ReportLine,
  starters: Starters = STARTERS,
): Promise<BenchResult> {
  const wrk = new Wrk(folder);
  const cleanups: (() => Promise<void>)[] = [];
  try {
    const nginx = await startNginx(join(folder, 'nginx'), options.downloadBytes);
    cleanups.push(() => nginx.stop());
    const { peers, skipped } = await startOutsidePeers(folder, nginx.servicePort);
    const zitiCommand = zitiBinary();
    if (zitiCommand === undefined) {
      const { least, most } = OPENZITI_CIRCUITS_PER_SECOND;
      skipped.push(
        `${OPENZITI} (ZITI_BIN is not set: compared with ${least} to ${most} circuits/s of an earlier run)`,
      );
    }
    for (const peer of peers) cleanups.push(() => peer.stop());
    const started: Started[] = [];
    for (const shape of options.shapes) {
      say(`starting the product: ${shape}`);
      const own = join(folder, shape);
      mkdirSync(own, { recursive: true });
      const { cpuProfileDir } = options;
      const one = await starters[shape]({ folder: own, servicePort: nginx.servicePort, cpuProfileDir });
      cleanups.push(() => one.product.stop());
      started.push(one);
    }
    await pause(SETTLE_MS);
    const idle = new Map(started.map(({ product }) => [product.shape, memoryOf(product)]));
    const perIdle = new Map<ProductShape, number>();
    for (const { product } of started) {
      say(`idle connections: ${options.idleConnections} at ${product.shape}`);
      perIdle.set(product.shape, await bytesPerIdleConnection(product, options.idleConnections));
    }
    const ours = started.map(({ product }) => targetOf(product, nginx));
    const others = peers.map((peer) => peerTarget(peer, nginx));
    const targets: Target[] = [...nginxTargets(nginx), ...others, ...ours];
    say(`checking bytes and counts: ${options.checkedRequests} requests each way`);
    const checked = await check(targets, nginx, options);
    const context = { nginx, wrk, options, say, folder, zitiCommand };
    const scenarios = await measureAll(targets, ours, context);
    const shapes: Record<string, ShapeFacts> = {};
    for (const { product, firstRequestMs } of started) {
      shapes[product.shape] = {
        firstRequestMs,
        idleBytes: idle.get(product.shape)!,
        afterLoadBytes: memoryOf(product),
        bytesPerIdleConnection: perIdle.get(product.shape)!,
      };
    }
    return {
      format: RESULT_FORMAT,
      startedAt: new Date().toISOString(),
      machine: machineFacts(),
      rounds: options.rounds,
      roundSeconds: options.roundSeconds,
      skipped,
      scenarios,
      shapes,
      checked,
    };
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

interface Context {
  readonly nginx: NginxPeer;
  readonly wrk: Wrk;
  readonly options: BenchOptions;
  readonly say: ReportLine;
  readonly folder: string;
  readonly zitiCommand: string | undefined;
}

async function measureAll(
  targets: readonly Target[],
  ours: readonly Target[],
  context: Context,
): Promise<Record<string, Record<string, Measured>>> {
  const { nginx, options, say, wrk } = context;
  const { rounds, roundSeconds, singleRounds } = options;
  const many = { connections: 32, path: '/small', rounds, seconds: roundSeconds };
  const scenarios: Record<string, Record<string, Measured>> = {};
  const measure = async (name: string, work: () => Promise<Record<string, Measured>>): Promise<void> => {
    say(`measuring: ${name}`);
    scenarios[name] = await work();
  };
  await measure('keep-alive', () => measureWrk(targets, nginx, wrk, many));
  await measure('one connection', () =>
    measureWrk(targets, nginx, wrk, { ...many, connections: 1, rounds: singleRounds, seconds: 1 }),
  );
  await measure('new connections', () => measureWrk(targets, nginx, wrk, { ...many, close: true }));
  await measure('download', () => measureDownload(targets, nginx, rounds));
  if (ours.length > 0)
    await measure('circuits', () => measureCircuits(ours, { ...many, path: '/close' }, context));
  return scenarios;
}

/** Beside OpenZiti where there is one; it runs for these rounds only, because it is never quite idle. */
async function measureCircuits(
  ours: readonly Target[],
  scenario: WrkScenario,
  { nginx, wrk, folder, zitiCommand, say }: Context,
): Promise<Record<string, Measured>> {
  if (zitiCommand === undefined) return measureWrk(ours, nginx, wrk, scenario);
  say('starting an OpenZiti network');
  const own = join(folder, 'openziti');
  mkdirSync(own, { recursive: true });
  const peer = await startOpenZiti(zitiCommand, own, nginx.servicePort);
  try {
    await pause(SETTLE_MS);
    const target = { ...peerTarget(peer, nginx), quietMs: OPENZITI_QUIET_MS };
    return await measureWrk([target, ...ours], nginx, wrk, scenario);
  } finally {
    await peer.stop();
  }
}
