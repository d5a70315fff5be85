/**
 * One run of the gateway's benchmark: nginx and haproxy as reverse proxies and the product, in interleaved rounds, from
 * one load generator. Fails when TLS differs, when an answer was not 200, when a byte differed, or when the private
 * service did not see every request.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { machineFacts, RESULT_FORMAT, type Measured } from '../bench-result.ts';
import { checkedLoad } from '../check-client.ts';
import { SMALL_BODY, type NginxPeer } from '../nginx-peer.ts';
import { measureDownload, measureWrk, WARM_UP_ROUNDS, type Target } from '../scenario.ts';
import type { Front } from './bench-front.ts';
import type { ReportLine } from '../bench-run.ts';
import { BenchStage, SHARES } from './bench-stage.ts';
import { TWO_WORKERS } from './front-names.ts';
import type { GatewayBenchOptions } from './gateway-bench-options.ts';
import type { GatewayBenchResult, IdleFacts, WorkerFacts } from './gateway-bench-result.ts';
import { gatewayArguments } from './gateway-product.ts';
import { DOWNLOAD, IDLE, MESSAGE_SCENARIOS, REQUEST_SCENARIOS, WORKERS } from './gateway-scenario-table.ts';
import { measureIdle } from './idle-scenario.ts';
import { disagreements, tlsFacts, type TlsFacts } from './tls-agreement.ts';
import { measureMessages } from './websocket-scenario.ts';
import { measureWorkers } from './worker-scenario.ts';

const SETTLE_MS = 3_000;
/** One thread of wrk takes so long for hundreds of handshakes, and counts it: a round is longer by it. */
const MANY_HANDSHAKES_SECONDS = 3;
/** Hundreds of requests that a load leaves on their way come in bursts on a busy machine. */
const CROWD_QUIET_MS = 600;

type Scenarios = Record<string, Record<string, Measured>>;

export async function runGatewayBench(
  options: GatewayBenchOptions,
  folder: string,
  say: ReportLine,
): Promise<GatewayBenchResult> {
  const stage = new BenchStage(options, folder, say);
  try {
    return await new GatewayBenchRun(options, stage, say).measure();
  } finally {
    await stage.close();
  }
}

class GatewayBenchRun {
  readonly #options: GatewayBenchOptions;
  readonly #stage: BenchStage;
  readonly #say: ReportLine;
  readonly #scenarios: Scenarios = {};

  constructor(options: GatewayBenchOptions, stage: BenchStage, say: ReportLine) {
    this.#options = options;
    this.#stage = stage;
    this.#say = say;
  }

  async measure(): Promise<GatewayBenchResult> {
    const { rounds, roundSeconds } = this.#options;
    const stage = this.#stage;
    const startedAt = new Date().toISOString();
    const { nginx, peers, certificate, maker } = await stage.startServices();
    const idle = this.#wants(IDLE)
      ? await stage.withIdleUp(maker, (front) => this.#measureIdle([front, ...peers]))
      : {};
    const ups = this.#wantsLoad() ? await stage.startUp(maker) : [];
    const separate = this.#wantsSeparate() ? await stage.startSeparate(maker) : undefined;
    const withSeparate = [...peers, ...ups, ...(separate?.fronts ?? [])];
    await this.#compareTls(withSeparate);
    const checked = await this.#check(withSeparate, nginx);
    await this.#measureRequests([...peers, ...ups], withSeparate, nginx);
    await this.#measureDownloads(withSeparate, nginx);
    await this.#measureMessages([...peers, ...ups]);
    let workers: WorkerFacts | undefined;
    if (separate !== undefined && this.#wants(WORKERS)) {
      this.#say(`measuring: ${WORKERS}`);
      const result = await stage.attempt(TWO_WORKERS, () =>
        measureWorkers({
          separate: separate.product,
          share: SHARES.open,
          nginx,
          wrk: stage.wrk,
          scenario: {
            path: '/small',
            connections: 32,
            rounds,
            seconds: roundSeconds,
            // Each of two compilers sees half of the requests.
            warmUpSeconds: 2 * WARM_UP_ROUNDS * roundSeconds,
          },
          spreadConnections: this.#options.spreadConnections,
          gatewayArgs: gatewayArguments(certificate, 0),
        }),
      );
      if (result !== undefined) this.#scenarios[WORKERS] = { ...result.measured };
      workers = result?.facts;
    }
    return {
      format: RESULT_FORMAT,
      startedAt,
      machine: machineFacts(),
      rounds,
      roundSeconds,
      skipped: stage.skipped,
      scenarios: this.#scenarios,
      shapes: {},
      checked,
      idle,
      workers,
    };
  }

  #wants(name: string): boolean {
    return this.#options.only === undefined || name.includes(this.#options.only);
  }

  #wantsLoad(): boolean {
    const names = [...REQUEST_SCENARIOS, ...MESSAGE_SCENARIOS].map(({ name }) => name);
    return [...names, DOWNLOAD.plain, DOWNLOAD.secure].some((name) => this.#wants(name));
  }

  #wantsSeparate(): boolean {
    const names = REQUEST_SCENARIOS.filter((one) => one.withSeparate).map(({ name }) => name);
    return [...names, DOWNLOAD.plain, DOWNLOAD.secure, WORKERS].some((name) => this.#wants(name));
  }

  async #compareTls(fronts: readonly Front[]): Promise<void> {
    const facts = new Map<string, TlsFacts>();
    for (const { name, secure } of fronts) if (secure !== undefined) facts.set(name, await tlsFacts(secure));
    const problems = disagreements(facts);
    if (problems.length > 0) throw new Error(`TLS differs, nothing can be compared: ${problems.join('; ')}`);
    const [first] = facts.values();
    if (first !== undefined) this.#say(`TLS of all: ${first.protocol}, ${first.cipher}, ${first.exchange}`);
  }

  /** Every way in through its checking load: exact bytes, exact counts. */
  async #check(fronts: readonly Front[], nginx: NginxPeer): Promise<GatewayBenchResult['checked']> {
    const { checkedRequests } = this.#options;
    this.#say(`checking bytes and counts: ${checkedRequests} requests each way`);
    const load = { requests: checkedRequests, connections: 32, smallBody: SMALL_BODY };
    const sum = { requests: 0, unique: 0 };
    for (const { name, plain, secure, serviceRequests } of fronts) {
      for (const door of [plain, secure].filter((one) => one !== undefined)) {
        const before = await nginx.requestCount();
        const { requests, unique } = await checkedLoad(door.port, door.host, load, door.entrance);
        const seen = ((await nginx.requestCount()) - before) / serviceRequests;
        if (seen !== requests) throw new Error(`${name}: sent ${requests}, the private service saw ${seen}`);
        sum.requests += requests;
        sum.unique += unique;
      }
    }
    return sum;
  }

  async #measureRequests(
    fronts: readonly Front[],
    withSeparate: readonly Front[],
    nginx: NginxPeer,
  ): Promise<void> {
    const { rounds, roundSeconds, singleRounds } = this.#options;
    const warm = new Set<boolean>();
    for (const scenario of REQUEST_SCENARIOS) {
      const { name, isSecure, close, connections } = scenario;
      if (!this.#wants(name)) continue;
      this.#say(`measuring: ${name}`);
      const isCrowd = connections > 100;
      const targets = targetsOf(scenario.withSeparate ? withSeparate : fronts, isSecure).map((target) =>
        isCrowd ? { ...target, quietMs: CROWD_QUIET_MS } : target,
      );
      const isSingle = connections === 1 && !close;
      const handshakeSeconds = isSecure && isCrowd ? MANY_HANDSHAKES_SECONDS : 0;
      this.#scenarios[name] = await measureWrk(targets, nginx, this.#stage.wrk, {
        path: '/small',
        connections,
        close,
        rounds: isSingle ? singleRounds : rounds,
        seconds: (isSingle ? 1 : roundSeconds) + handshakeSeconds,
        // Compilers learn once; later scenarios only need the caches to be warm.
        warmUpSeconds: (warm.has(isSecure) ? 1 : WARM_UP_ROUNDS * roundSeconds) + handshakeSeconds,
      });
      warm.add(isSecure);
    }
  }

  async #measureDownloads(fronts: readonly Front[], nginx: NginxPeer): Promise<void> {
    for (const isSecure of [false, true]) {
      const name = isSecure ? DOWNLOAD.secure : DOWNLOAD.plain;
      if (!this.#wants(name)) continue;
      this.#say(`measuring: ${name}`);
      const targets = targetsOf(fronts, isSecure);
      this.#scenarios[name] = await measureDownload(targets, nginx, this.#options.rounds);
    }
  }

  async #measureMessages(fronts: readonly Front[]): Promise<void> {
    const { rounds, roundSeconds: seconds } = this.#options;
    for (const { name, isSecure, connections } of MESSAGE_SCENARIOS) {
      if (!this.#wants(name)) continue;
      this.#say(`measuring: ${name}`);
      const pairs = fronts.flatMap((front) => {
        const door = isSecure ? front.secureEcho : front.plainEcho;
        return door === undefined ? [] : [{ front, door }];
      });
      const load = { connections, rounds, seconds, warmUpSeconds: seconds };
      this.#scenarios[name] = await measureMessages(pairs, load);
    }
  }

  async #measureIdle(fronts: readonly Front[]): Promise<GatewayBenchResult['idle']> {
    const { idlePlain, idleSecure } = this.#options;
    await pause(SETTLE_MS);
    const idle: Record<string, Record<string, IdleFacts>> = { plain: {}, TLS: {} };
    for (const front of fronts) {
      this.#say(`idle connections: ${front.name}`);
      idle['plain']![front.name] = await measureIdle(front, front.plain!, idlePlain);
      idle['TLS']![front.name] = await measureIdle(front, front.secure!, idleSecure);
    }
    return idle;
  }
}

function targetsOf(fronts: readonly Front[], isSecure: boolean): Target[] {
  return fronts.flatMap(({ name, plain, secure, serviceRequests, processes }) => {
    const door = isSecure ? secure : plain;
    return door === undefined ? [] : [{ name, ...door, serviceRequests, processes }];
  });
}
