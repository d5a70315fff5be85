/**
 * `npm run bench`: nginx directly, nginx as reverse proxy, rows built by hand, tunnels and the product. Needs wrk
 * and nginx in PATH and about fifteen minutes. Fails when an answer was not 200, when a byte differed, or when the private service did not see every
 * request.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { zitiBinary } from '../support/ziti-command.ts';
import { residentBytes } from '../support/child-process.ts';
import type { BenchRun } from './bench-run.ts';
import type { Benchmark } from './benchmark.ts';
import { untilAnswers, type Door } from './check-client.ts';
import { startSealedAndClear } from './encryption/sealed-and-clear.ts';
import { HttpSamplers, type HttpTarget } from './http-samplers.ts';
import { makeKey, untilGuarded } from './gateway/guarded-shares.ts';
import { kibPerConnection, measureIdle, SETTLE_MS } from './idle-connections.ts';
import { NGINX_DIRECT, NGINX_PROXY, startNginx, type NginxPeer } from './nginx-peer.ts';
import { OPENZITI, startOpenZiti } from './openziti-peer.ts';
import { NGINX_PAIR, PEER_HOST, startOutsidePeers, type OutsidePeer } from './outside-peers.ts';
import { startUp, type Product } from './product.ts';
import {
  DOWNLOAD,
  DOWNLOADS_AT_ONCE,
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
  PER_IDLE_CONNECTION,
  PROCESSES,
  productGoals,
  STARTS,
  UP_IN_CLEAR,
} from './product-goal-table.ts';
import { startSeparate } from './separate-product.ts';
import { measureStarts } from './start-rates.ts';
import type { WrkLoad } from './wrk-load.ts';

/** The requests of a thousand connections alone make the heap grow by more than these take. */
const FULL = { idleConnections: 8_000, checkedRequests: 20_000 };
const QUICK = { idleConnections: 300, checkedRequests: 4_000 };
const GATEWAY_ARGS = ['--max-connections-per-address', '16000'];
const DOWNLOAD_BYTES = 100 * 1024 * 1024;
const SHARE = 'bench';
/** A circuit takes OpenZiti most of a second under load: so long its last requests are on their way. */
const OPENZITI_QUIET_MS = 1_500;

/** The scenarios of requests that every target has a part in. */
const REQUESTS: readonly (Omit<WrkLoad, 'path'> & { readonly name: string })[] = [
  { name: KEEP_ALIVE, connections: 32 },
  { name: MANY_CONNECTIONS, connections: 128 },
  { name: ONE_CONNECTION, connections: 1 },
  { name: NEW_CONNECTIONS, connections: 32, close: true },
];

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
  /** Stops it and starts it again; resolves to the door when its share is served. */
  restart(): Promise<Door>;
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
  }),
  measure,
};

async function measure(run: BenchRun): Promise<void> {
  const { idleConnections, checkedRequests } = run.options.isQuick ? QUICK : FULL;
  const nginx = await startNginx(run, DOWNLOAD_BYTES);
  const samplers = new HttpSamplers(run, nginx);
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
  await samplers.check(targets, checkedRequests);
  await measureRates(run, samplers, targets);
  await run.part(() => measureCircuits(run, samplers, ours));
  await run.part(() => measureEncryption(run, samplers, ours));
  for (const product of started) recordMemory(run, product, loadedColumn);
  if (run.wants(STARTS)) for (const product of started) await measureStarts(run, samplers, product);
}

function recordMemory(run: BenchRun, { shape, processes }: Started, column: (part: string) => string): void {
  for (const [part, pid] of processes)
    run.record(PROCESSES, shape, { [column(part)]: residentBytes(pid) / 1e6 });
}

function targetOf(peer: OutsidePeer & Door, { processes }: NginxPeer): HttpTarget {
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
    const args = ['--any-port', ...GATEWAY_ARGS];
    let product = await startUp(run, 'up', args);
    run.defer(() => product.stop());
    const startAgain = async (): Promise<void> => {
      await product.stop();
      product = await startUp(run, 'up', args);
    };
    await startAgain();
    const { processes, firstAnswerMs } = product;
    await product.publish(SHARE, serviceUrl);
    const door = await guard(product);
    const restart = async (): Promise<Door> => {
      await startAgain();
      const again = { ...door, port: product.port };
      await untilAnswers(again);
      return again;
    };
    return { processes, firstAnswerMs, shape: 'up', door, restart };
  },
  separate: async (run, serviceUrl) => {
    const product = await startSeparate(run, GATEWAY_ARGS);
    const host = `${SHARE}.${product.zone}`;
    await product.publish(SHARE, serviceUrl);
    await untilAnswers({ port: product.port, host });
    const firstAnswerMs = await product.restart(host);
    const { processes } = product;
    const door = await guard(product);
    const restart = async (): Promise<Door> => {
      await product.restart(host);
      await untilAnswers(door);
      return door;
    };
    return { processes, firstAnswerMs, shape: 'separate', door, restart };
  },
};

/** From then on the share asks for an API key. */
async function guard(product: Pick<Product, 'port' | 'zone' | 'call'>): Promise<Door> {
  const { providerId, headers } = await makeKey(product, SHARE);
  const door = { port: product.port, host: `${SHARE}.${product.zone}`, headers };
  await product.call('PATCH', `/shares/${SHARE}`, { authProviderIds: [providerId] });
  await untilGuarded(door);
  return door;
}

async function measureRates(
  run: BenchRun,
  samplers: HttpSamplers,
  targets: readonly HttpTarget[],
): Promise<void> {
  for (const { name, ...load } of REQUESTS) {
    const sampler = samplers.requests({ path: '/small', ...load });
    const rounds = load.connections === 1 ? { rounds: run.options.singleRounds, seconds: 1 } : {};
    await run.measure(name, 'request', targets, sampler, rounds);
  }
  await run.measure(DOWNLOAD, 'MB', targets, samplers.downloads(), { warmUpSeconds: 0 });
  const atOnce = samplers.downloadsAtOnce(32);
  await run.measure(DOWNLOADS_AT_ONCE, 'MB', targets, atOnce, { warmUpSeconds: 1 });
}

/**
 * The same shares with and without end-to-end encryption. The gateway of `up` is in the process of the router, and its
 * circuits are in clear.
 */
async function measureEncryption(
  run: BenchRun,
  samplers: HttpSamplers,
  ours: readonly HttpTarget[],
): Promise<void> {
  if (!run.wants(ENCRYPTION_DOWNLOAD) && !run.wants(ENCRYPTION_REQUESTS)) return;
  run.report('starting agents with and without end-to-end encryption');
  const started = await startSealedAndClear(run, samplers.nginx);
  await pause(SETTLE_MS);
  const inProcess = ours.filter(({ name }) => name === 'up');
  const targets = [...started, ...inProcess.map((up) => ({ ...up, name: UP_IN_CLEAR }))];
  const requests = samplers.requests({ path: '/small', connections: 32 });
  await run.measure(ENCRYPTION_REQUESTS, 'request', targets, requests);
  await run.measure(ENCRYPTION_DOWNLOAD, 'MB', targets, samplers.downloads(), { warmUpSeconds: 1 });
}

/** Beside OpenZiti where there is one; it runs for these rounds only, because it is never quite idle. */
async function measureCircuits(
  run: BenchRun,
  samplers: HttpSamplers,
  ours: readonly HttpTarget[],
): Promise<void> {
  const circuits = 'circuits';
  if (!run.wants(circuits)) return;
  const sampler = samplers.requests({ path: '/close', connections: 32 });
  const zitiCommand = zitiBinary();
  if (zitiCommand === undefined) {
    run.skip(OPENZITI, 'ZITI_BIN is not set');
    await run.measure(circuits, 'circuit', ours, sampler);
    return;
  }
  run.report('starting an OpenZiti network');
  const peer = await startOpenZiti(run, zitiCommand, samplers.nginx.servicePort);
  await pause(SETTLE_MS);
  const openZiti = { ...targetOf({ ...peer, host: PEER_HOST }, samplers.nginx), quietMs: OPENZITI_QUIET_MS };
  await run.measure(circuits, 'circuit', [openZiti, ...ours], sampler);
}
