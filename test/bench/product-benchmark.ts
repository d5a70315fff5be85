/**
 * `npm run bench`: nginx directly, nginx as reverse proxy, rows built by hand, tunnels, the product and its console. Needs wrk
 * and nginx in PATH and about fifteen minutes. Fails when an answer was not 200, when a byte differed, or when the private service did not see every
 * request.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { zitiBinary } from '../support/ziti-command.ts';
import { residentBytes } from './bench-process.ts';
import type { BenchRun } from './bench-run.ts';
import type { Benchmark } from './benchmark.ts';
import { measureConsole } from './console/console-benchmark.ts';
import { CONSOLE_GOALS } from './console/console-goal-table.ts';
import { startSealedAndClear } from './encryption/sealed-and-clear.ts';
import { checkAnswers, downloadSampler, requestSampler, type HttpTarget } from './http-samplers.ts';
import { makeKey, untilGuarded } from './gateway/guarded-shares.ts';
import { kibPerConnection, measureIdle, SETTLE_MS, type Door } from './idle-connections.ts';
import { NGINX_DIRECT, NGINX_PROXY, startNginx, type NginxPeer } from './nginx-peer.ts';
import { OPENZITI, startOpenZiti } from './openziti-peer.ts';
import { NGINX_PAIR, PEER_HOST, startOutsidePeers, type OutsidePeer } from './outside-peers.ts';
import { startUp, untilServed, type Product } from './product.ts';
import {
  DOWNLOAD,
  ENCRYPTION_DOWNLOAD,
  ENCRYPTION_GOALS,
  ENCRYPTION_REQUESTS,
  FIRST_ANSWER,
  idleColumn,
  KEEP_ALIVE,
  loadedColumn,
  MANY_CONNECTIONS,
  NEW_CONNECTIONS,
  ONE_CONNECTION,
  OPENZITI_CIRCUITS_PER_SECOND,
  PER_IDLE_CONNECTION,
  PROCESSES,
  productGoals,
  UP_IN_CLEAR,
} from './product-goal-table.ts';
import { startSeparate } from './separate-product.ts';
import { Wrk } from './wrk-load.ts';

const FULL = { idleConnections: 1_000, checkedRequests: 20_000 };
const QUICK = { idleConnections: 300, checkedRequests: 4_000 };
const DOWNLOAD_BYTES = 100 * 1024 * 1024;
const SHARE = 'bench';
const CONSOLE_PREFIX = 'console';
/** A circuit takes OpenZiti most of a second under load: so long its last requests are on their way. */
const OPENZITI_QUIET_MS = 1_500;

/** Shapes of the product by value of `--shape`. */
const SHAPES: Readonly<Record<string, readonly Shape[]>> = {
  up: ['up'],
  separate: ['separate'],
  both: ['up', 'separate'],
};

type Shape = 'up' | 'separate';

/** The product in one shape, with the private service as its share, which asks clients for a key. */
interface Started extends Pick<Product, 'processes' | 'firstAnswerMs'> {
  readonly shape: Shape;
  readonly door: Door;
}

export const PRODUCT_BENCHMARK: Benchmark = {
  name: 'bench',
  full: { rounds: 5, roundSeconds: 4, singleRounds: 6 },
  quick: { rounds: 2, roundSeconds: 1, singleRounds: 2 },
  choices: { shape: Object.keys(SHAPES) },
  warmUpRounds: 3,
  reference: () => NGINX_PAIR,
  goals: ({ tables }) => ({
    ...Object.fromEntries(
      Object.keys(tables[PROCESSES] ?? {}).map((shape) => [
        `goals, ${shape} (× is the ratio to ${NGINX_PAIR}, medians)`,
        productGoals(shape),
      ]),
    ),
    'goals of end-to-end encryption (× is the ratio to circuits in clear, medians)': ENCRYPTION_GOALS,
    'goals of the console': CONSOLE_GOALS,
  }),
  measure,
};

async function measure(run: BenchRun): Promise<void> {
  // The parts are started for any of their scenarios, and not for those of the console alone.
  if (run.options.only?.startsWith(CONSOLE_PREFIX) !== true) await measureProduct(run);
  await run.close();
  await measureConsole(run);
}

async function measureProduct(run: BenchRun): Promise<void> {
  const { idleConnections, checkedRequests } = run.options.isQuick ? QUICK : FULL;
  const wrk = new Wrk(run.folder);
  const nginx = await startNginx(join(run.folder, 'nginx'), DOWNLOAD_BYTES);
  run.defer(() => nginx.stop());
  const peers = await startOutsidePeers(run, nginx.servicePort);
  const started: Started[] = [];
  for (const shape of SHAPES[run.options.chosen['shape']!]!) {
    run.report(`starting the product: ${shape}`);
    started.push(await STARTERS[shape](run, `http://127.0.0.1:${nginx.servicePort}`));
  }
  await pause(SETTLE_MS);
  for (const product of started) recordMemory(run, product, idleColumn);
  for (const { shape, door, processes, firstAnswerMs } of started) {
    run.report(`idle connections: ${idleConnections} at ${shape}`);
    const [pid] = processes.values();
    const idle = await measureIdle(pid!, door, idleConnections);
    run.record(PROCESSES, shape, {
      [PER_IDLE_CONNECTION]: kibPerConnection(idle),
      [FIRST_ANSWER]: firstAnswerMs / 1_000,
    });
  }
  const ours = started.map(({ shape, door, processes }) =>
    targetOf({ name: shape, processes, ...door }, nginx),
  );
  const others = peers.map((peer) => targetOf({ ...peer, host: PEER_HOST }, nginx));
  const targets = [...nginxTargets(nginx), ...others, ...ours];
  await checkAnswers(run, nginx, targets, checkedRequests);
  await measureRates(run, nginx, wrk, targets);
  await measureCircuits(run, nginx, wrk, ours);
  await measureEncryption(run, nginx, wrk, ours);
  for (const product of started) recordMemory(run, product, loadedColumn);
}

function recordMemory(run: BenchRun, { shape, processes }: Started, column: (part: string) => string): void {
  for (const [part, pid] of processes)
    run.record(PROCESSES, shape, { [column(part)]: residentBytes(pid) / 1e6 });
}

function targetOf(
  peer: OutsidePeer & Pick<HttpTarget, 'host' | 'entrance'>,
  { processes }: NginxPeer,
): HttpTarget {
  return { ...peer, serviceRequests: 1, processes: new Map([...peer.processes, ...processes]) };
}

function nginxTargets({ servicePort, proxyPort, processes }: NginxPeer): HttpTarget[] {
  return [
    { name: NGINX_DIRECT, port: servicePort, host: 'direct', serviceRequests: 1, processes },
    // Both roles are one program: each request through the proxy is counted twice.
    { name: NGINX_PROXY, port: proxyPort, host: 'proxy', serviceRequests: 2, processes },
  ];
}

const STARTERS: Readonly<Record<Shape, (run: BenchRun, serviceUrl: string) => Promise<Started>>> = {
  /** Started with an empty data directory, stopped and started again: the second start is the one that is timed. */
  up: async (run, serviceUrl) => {
    const { cpuProfileDir } = run.options;
    const options = { folder: join(run.folder, 'up'), args: ['--any-port'], cpuProfileDir };
    await (await startUp(options)).stop();
    const product = await startUp(options);
    run.defer(() => product.stop());
    await product.publish(SHARE, serviceUrl);
    return { ...product, shape: 'up', door: await guard(product) };
  },
  separate: async (run, serviceUrl) => {
    const { cpuProfileDir } = run.options;
    const folder = join(run.folder, 'separate');
    const product = await startSeparate({ folder, args: [], cpuProfileDir });
    run.defer(() => product.stop());
    const host = `${SHARE}.${product.zone}`;
    await product.publish(SHARE, serviceUrl);
    await untilServed(product.port, host, '/small');
    const firstAnswerMs = await product.restart(host);
    return { processes: product.processes, firstAnswerMs, shape: 'separate', door: await guard(product) };
  },
};

/** From then on the share asks for an API key. */
async function guard(product: Omit<Product, 'firstAnswerMs'>): Promise<Door> {
  const { providerId, headers } = await makeKey(product, SHARE);
  const door = { port: product.port, host: `${SHARE}.${product.zone}`, entrance: { headers } };
  await product.call('PATCH', `/shares/${SHARE}`, { authProviderIds: [providerId] });
  await untilGuarded(door);
  return door;
}

async function measureRates(
  run: BenchRun,
  nginx: NginxPeer,
  wrk: Wrk,
  targets: readonly HttpTarget[],
): Promise<void> {
  const many = { path: '/small', connections: 32 };
  await run.measure(KEEP_ALIVE, 'request', targets, requestSampler(nginx, wrk, many));
  const more = requestSampler(nginx, wrk, { ...many, connections: 128 });
  await run.measure(MANY_CONNECTIONS, 'request', targets, more);
  const single = requestSampler(nginx, wrk, { ...many, connections: 1 });
  const singleRounds = { rounds: run.options.singleRounds, seconds: 1 };
  await run.measure(ONE_CONNECTION, 'request', targets, single, singleRounds);
  const closing = requestSampler(nginx, wrk, { ...many, close: true });
  await run.measure(NEW_CONNECTIONS, 'request', targets, closing);
  await run.measure(DOWNLOAD, 'MB', targets, downloadSampler(nginx), { warmUpSeconds: 0 });
}

/**
 * The same shares with and without end-to-end encryption. The gateway of `up` is in the process of the router, and its
 * circuits are in clear.
 */
async function measureEncryption(
  run: BenchRun,
  nginx: NginxPeer,
  wrk: Wrk,
  ours: readonly HttpTarget[],
): Promise<void> {
  if (!run.wants(ENCRYPTION_DOWNLOAD) && !run.wants(ENCRYPTION_REQUESTS)) return;
  run.report('starting agents with and without end-to-end encryption');
  const folder = join(run.folder, 'encryption');
  const started = await startSealedAndClear(folder, nginx, run.options.cpuProfileDir);
  try {
    await pause(SETTLE_MS);
    const inProcess = ours.filter(({ name }) => name === 'up');
    const targets = [...started.targets, ...inProcess.map((up) => ({ ...up, name: UP_IN_CLEAR }))];
    const requests = requestSampler(nginx, wrk, { path: '/small', connections: 32 });
    await run.measure(ENCRYPTION_REQUESTS, 'request', targets, requests);
    await run.measure(ENCRYPTION_DOWNLOAD, 'MB', targets, downloadSampler(nginx), { warmUpSeconds: 1 });
  } finally {
    await started.stop();
  }
}

/** Beside OpenZiti where there is one; it runs for these rounds only, because it is never quite idle. */
async function measureCircuits(
  run: BenchRun,
  nginx: NginxPeer,
  wrk: Wrk,
  ours: readonly HttpTarget[],
): Promise<void> {
  const circuits = 'circuits';
  if (!run.wants(circuits)) return;
  const sampler = requestSampler(nginx, wrk, { path: '/close', connections: 32 });
  const zitiCommand = zitiBinary();
  if (zitiCommand === undefined) {
    const { least, most } = OPENZITI_CIRCUITS_PER_SECOND;
    const reason = `ZITI_BIN is not set: compared with ${least} to ${most} circuits/s of an earlier run`;
    run.skip(OPENZITI, reason);
    await run.measure(circuits, 'circuit', ours, sampler);
    return;
  }
  run.report('starting an OpenZiti network');
  const peer = await startOpenZiti(zitiCommand, join(run.folder, 'openziti'), nginx.servicePort);
  try {
    await pause(SETTLE_MS);
    const openZiti = { ...targetOf({ ...peer, host: PEER_HOST }, nginx), quietMs: OPENZITI_QUIET_MS };
    await run.measure(circuits, 'circuit', [openZiti, ...ours], sampler);
  } finally {
    await peer.stop();
  }
}
