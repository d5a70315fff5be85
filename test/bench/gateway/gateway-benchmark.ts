/**
 * `npm run bench:gateway`: nginx and haproxy as reverse proxies and the product, with the same TLS, from one load generator.
 * It needs wrk and nginx and takes about half an hour. Fails when TLS differs, when an answer was not 200, when a byte
 * differed, or when the private service did not see every request.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import { freePort } from '../../support/child-process.ts';
import type { BenchRun } from '../bench-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { HAPROXY } from '../haproxy.ts';
import { H2load } from '../h2load.ts';
import { HttpSamplers } from '../http-samplers.ts';
import { kibPerConnection, measureIdle, SETTLE_MS } from '../idle-connections.ts';
import { NGINX_PROXY } from '../nginx-peer.ts';
import { startUp } from '../product.ts';
import { startSeparate } from '../separate-product.ts';
import { makeBenchCertificate, ZONE, type BenchCertificate } from './bench-certificate.ts';
import { SEPARATE, SEPARATE_KEY, targetsOf, UP, UP_KEY, UP_SESSION, type Front } from './bench-front.ts';
import { startHaproxyFront, startNginxFront } from './front-peers.ts';
import { GATEWAY_GOALS } from './gateway-goal-table.ts';
import {
  CONNECTIONS_COLUMN,
  DOWNLOAD,
  EACH_COLUMN,
  HELD_COLUMN,
  HTTP2_CONNECTIONS,
  HTTP2_SCENARIOS,
  IDLE,
  IDLE_TABLES,
  REQUEST_SCENARIOS,
} from './gateway-scenario-table.ts';
import { frontOf, keyFront, makeShare, openFront, type FrontMaker } from './guarded-shares.ts';
import { REQUESTS_PER_CALL, startNginxPair } from './http2-pairs.ts';
import { sessionFront } from './session-front.ts';

const FULL = { idlePlain: 5_000, idleSecure: 10_000, checkedRequests: 20_000 };
const QUICK = { idlePlain: 300, idleSecure: 500, checkedRequests: 2_000 };
const DOWNLOAD_BYTES = 100 * 1024 * 1024;
const WARM_UP_ROUNDS = 3;
/** One thread of wrk takes so long for hundreds of handshakes, and counts it: a round is longer by it. */
const MANY_HANDSHAKES_SECONDS = 3;
/** More connections than this are a crowd. */
const CROWD = 100;
/** Hundreds of requests that a load leaves on their way come in bursts on a busy machine. */
const CROWD_QUIET_MS = 600;
const MAX_CONNECTIONS_PER_ADDRESS = '15000';
const MIB = 1024 * 1024;

/** Names of the shares. */
const SHARES = { open: 'bench', key: 'bench-key', session: 'bench-session', calls: 'bench-calls' };

/** What every scenario needs: the private service, the load, and what shares are made of. */
interface Services {
  readonly samplers: HttpSamplers;
  /** Where calls of gRPC are answered. */
  readonly callPort: number;
  readonly peers: readonly Front[];
  readonly maker: Omit<FrontMaker, 'product' | 'securePort'>;
}

export const GATEWAY_BENCHMARK: Benchmark = {
  name: 'bench:gateway',
  full: { rounds: 5, roundSeconds: 2, singleRounds: 6 },
  quick: { rounds: 1, roundSeconds: 1, singleRounds: 1 },
  warmUpRounds: WARM_UP_ROUNDS,
  reference: () => NGINX_PROXY,
  goals: () => ({ 'goals of up (× is the ratio to nginx as reverse proxy, medians)': GATEWAY_GOALS }),
  needsAllGoals: true,
  measure,
};

async function measure(run: BenchRun): Promise<void> {
  const services = await startServices(run);
  const { peers, samplers } = services;
  if (run.wants(IDLE)) await run.part(() => measureIdleFronts(run, services));
  const downloads = Object.values(DOWNLOAD);
  const loads = REQUEST_SCENARIOS.map(({ name }) => name);
  const withSeparate = REQUEST_SCENARIOS.filter((one) => one.withSeparate).map(({ name }) => name);
  const wantsOneOf = (names: readonly string[]): boolean => names.some((name) => run.wants(name));
  const fronts = [...peers];
  if (wantsOneOf([...loads, ...downloads])) fronts.push(...(await startUpFronts(run, services)));
  const separate = wantsOneOf([...withSeparate, ...downloads])
    ? await startSeparateFronts(run, services)
    : undefined;
  const all = [...fronts, ...(separate ?? [])];
  await compareTls(run, all);
  const { checkedRequests } = run.options.isQuick ? QUICK : FULL;
  await samplers.check([...targetsOf(all, 'plain'), ...targetsOf(all, 'secure')], checkedRequests);
  await measureRequests(run, services, fronts, all);
  await run.attempt('HTTP/2', () => measureHttp2(run, services));
  const download = samplers.downloads();
  for (const kind of ['plain', 'secure'] as const)
    await run.measure(DOWNLOAD[kind], 'MB', targetsOf(all, kind), download, { warmUpSeconds: 0 });
}

async function startServices(run: BenchRun): Promise<Services> {
  const certificate = await makeBenchCertificate(join(run.folder, 'certificate'));
  const options = { downloadBytes: DOWNLOAD_BYTES, certificate };
  const { nginx, front, callPort } = await startNginxFront(run, options);
  const haproxy = await startHaproxyFront(run, options, nginx);
  if (haproxy === undefined) run.skip(HAPROXY, 'not in PATH');
  const serviceUrl = `http://127.0.0.1:${nginx.servicePort}`;
  return {
    samplers: new HttpSamplers(run, nginx),
    callPort,
    peers: present([front, haproxy]),
    maker: { certificate, nginx, serviceUrl },
  };
}

/** For `frontdoor gateway` and `frontdoor up`: TLS, and room for 10,000 clients of one address. */
function gatewayArguments({ certFile, keyFile }: BenchCertificate, securePort: number): string[] {
  return [
    '--https-port',
    `${securePort}`,
    '--https-redirect',
    'off',
    '--tls-cert',
    certFile,
    '--tls-key',
    keyFile,
    '--max-connections-per-address',
    MAX_CONNECTIONS_PER_ADDRESS,
  ];
}

/** Its control plane may fetch from loopback, where the benchmark's identity provider is. */
async function startGatewayUp(run: BenchRun, { maker }: Services, name: string): Promise<FrontMaker> {
  const securePort = await freePort();
  const ports = ['--http-port', '--api-port', '--edge-api-port', '--ctrl-port', '--edge-port'];
  const args = [
    '--zone',
    ZONE,
    ...ports.flatMap((option) => [option, '0']),
    '--allow-egress',
    '127.0.0.1/32:*',
    '--allow-egress',
    '[::1]/128:*',
    ...gatewayArguments(maker.certificate, securePort),
  ];
  return { ...maker, product: run.keep(await startUp(run, name, args)), securePort };
}

async function startUpFronts(run: BenchRun, services: Services): Promise<Front[]> {
  run.report('starting the product: up');
  const maker = await startGatewayUp(run, services, 'up');
  return present([
    await openFront(maker, UP, SHARES.open),
    await run.attempt(UP_KEY, () => keyFront(maker, UP_KEY, SHARES.key)),
    await run.attempt(UP_SESSION, () => sessionFront(maker, UP_SESSION, SHARES.session)),
  ]);
}

async function startSeparateFronts(run: BenchRun, { maker }: Services): Promise<Front[]> {
  run.report('starting the product: separate parts');
  const securePort = await freePort();
  const product = await startSeparate(run, gatewayArguments(maker.certificate, securePort));
  const whole = { ...maker, product, securePort };
  return present([
    await openFront(whole, SEPARATE, SHARES.open),
    await run.attempt(SEPARATE_KEY, () => keyFront(whole, SEPARATE_KEY, SHARES.key)),
  ]);
}

function present(fronts: readonly (Front | undefined)[]): Front[] {
  return fronts.filter((front) => front !== undefined);
}

/** wrk's OpenSSL has no newer key exchange than X25519; our choice for a newer client is not measured. */
async function compareTls(run: BenchRun, fronts: readonly Front[]): Promise<void> {
  const found = new Map<string, string>();
  for (const { name, secure } of fronts) {
    if (secure === undefined) continue;
    const { port, host: servername, ca } = secure;
    const socket = connect({ port, host: '127.0.0.1', servername, ca, ecdhCurve: 'X25519' });
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerX509Certificate()?.fingerprint256;
    const exchange = JSON.stringify(socket.getEphemeralKeyInfo());
    found.set(name, [socket.getProtocol(), socket.getCipher().name, exchange, certificate].join(', '));
    socket.destroy();
  }
  const [first] = found.values();
  if ([...found.values()].some((tls) => tls !== first))
    throw new Error(`TLS differs, nothing can be compared: ${JSON.stringify([...found])}`);
  if (first !== undefined) run.report(`TLS of all: ${first}`);
}

async function measureRequests(
  run: BenchRun,
  { samplers }: Services,
  fronts: readonly Front[],
  withSeparate: readonly Front[],
): Promise<void> {
  const { rounds, roundSeconds, singleRounds } = run.options;
  const warm = new Set<boolean>();
  for (const scenario of REQUEST_SCENARIOS) {
    const { name, isSecure, close, connections } = scenario;
    if (!run.wants(name)) continue;
    const isCrowd = connections > CROWD;
    const isSingle = connections === 1 && !close;
    const handshakeSeconds = isSecure && isCrowd ? MANY_HANDSHAKES_SECONDS : 0;
    const targets = targetsOf(
      scenario.withSeparate ? withSeparate : fronts,
      isSecure ? 'secure' : 'plain',
    ).map((target) => ({ ...target, quietMs: isCrowd ? CROWD_QUIET_MS : undefined }));
    await run.measure(name, 'request', targets, samplers.requests({ path: '/small', connections, close }), {
      rounds: isSingle ? singleRounds : rounds,
      seconds: (isSingle ? 1 : roundSeconds) + handshakeSeconds,
      // Code is compiled once; later scenarios only need warm caches.
      warmUpSeconds: (warm.has(isSecure) ? 1 : WARM_UP_ROUNDS * roundSeconds) + handshakeSeconds,
    });
    warm.add(isSecure);
  }
}

/** Beside the pair of nginx, at a product of its own. */
async function measureHttp2(run: BenchRun, services: Services): Promise<void> {
  const wanted = HTTP2_SCENARIOS.filter(({ name }) => run.wants(name));
  if (wanted.length === 0) return;
  const { samplers, maker, callPort } = services;
  const { certificate } = maker;
  const { nginx } = samplers;
  const h2load = new H2load(run.folder);
  run.report('starting the product: up, for HTTP/2');
  const ofUp = await startGatewayUp(run, services, 'http2');
  const open = await openFront(ofUp, UP, SHARES.open);
  await makeShare({ ...ofUp, serviceUrl: `grpc://127.0.0.1:${callPort}` }, SHARES.calls, []);
  const calls = { ...frontOf(ofUp, UP, SHARES.calls), serviceRequests: REQUESTS_PER_CALL };
  for (const { name, streams, isCall } of wanted) {
    const servicePort = isCall ? callPort : nginx.servicePort;
    const pair = await startNginxPair(run, { certificate, nginx, servicePort, isCall });
    const path = isCall ? '/bench.Calls/Unary' : '/small';
    const load = { path, connections: HTTP2_CONNECTIONS, streams, isCall };
    const targets = targetsOf([pair, isCall ? calls : open], 'secure').map((target) => ({
      ...target,
      quietMs: CROWD_QUIET_MS,
    }));
    await run.measure(name, 'request', targets, samplers.http2(h2load, load));
  }
}

/** At the peers, and at a fresh product that has no load behind it. */
async function measureIdleFronts(run: BenchRun, services: Services): Promise<void> {
  run.report('starting the product: up, for idle connections');
  const sizes = run.options.isQuick ? QUICK : FULL;
  const maker = await startGatewayUp(run, services, 'idle');
  const front = await openFront(maker, UP, SHARES.open);
  await pause(SETTLE_MS);
  for (const { name, processes, plain, secure } of [front, ...services.peers]) {
    run.report(`${IDLE}: ${name}`);
    const [pid] = processes.values();
    const ways = [
      [IDLE_TABLES.plain, plain!, sizes.idlePlain],
      [IDLE_TABLES.secure, secure!, sizes.idleSecure],
    ] as const;
    for (const [table, door, connections] of ways) {
      const idle = await measureIdle(pid!, door, connections);
      run.record(table, name, {
        [CONNECTIONS_COLUMN]: connections,
        'before, MiB': idle.beforeBytes / MIB,
        [HELD_COLUMN]: idle.heldBytes / MIB,
        [EACH_COLUMN]: kibPerConnection(idle),
      });
    }
  }
}
