/**
 * What stands on the machine during a run: nginx and haproxy, the private services, the product in its shapes with its
 * shares. What of the product cannot be had is named with its reason, and the rest goes on.
 */
import { join } from 'node:path';
import { messageOf } from '#base';
import { startScript, stopScript } from '../fabric/bench-load.ts';
import type { ReportLine } from '../bench-run.ts';
import type { NginxPeer } from '../nginx-peer.ts';
import { Wrk } from '../wrk-load.ts';
import { makeBenchCertificate, type BenchCertificate } from './bench-certificate.ts';
import { HAPROXY, type Front } from './bench-front.ts';
import { startHaproxyFront, startNginxFront } from './front-peers.ts';
import { SEPARATE, SEPARATE_KEY, UP, UP_KEY, UP_SESSION } from './front-names.ts';
import type { GatewayBenchOptions } from './gateway-bench-options.ts';
import { startGatewaySeparate, startGatewayUp, type SeparateProduct } from './gateway-product.ts';
import { keyFront, openFront, type FrontMaker } from './guarded-shares.ts';
import { sessionFront } from './session-front.ts';

/** Names of the shares; with `-echo` behind them those of the WebSocket echo. */
export const SHARES = { open: 'bench', key: 'bench-key', session: 'bench-session' };

const MAX_REASON_CHARS = 600;

interface Services {
  readonly nginx: NginxPeer;
  readonly peers: readonly Front[];
  readonly certificate: BenchCertificate;
  /** What shares are made of, but for the product that publishes them. */
  readonly maker: Omit<FrontMaker, 'product'>;
}

export class BenchStage {
  readonly wrk: Wrk;
  readonly skipped: string[] = [];
  readonly #options: GatewayBenchOptions;
  readonly #folder: string;
  readonly #say: ReportLine;
  readonly #closers: (() => Promise<void>)[] = [];

  constructor(options: GatewayBenchOptions, folder: string, say: ReportLine) {
    this.#options = options;
    this.#folder = folder;
    this.#say = say;
    this.wrk = new Wrk(folder);
  }

  async close(): Promise<void> {
    for (const closer of this.#closers.splice(0).reverse())
      await closer().catch((error: unknown) => this.#say(`while stopping: ${messageOf(error)}`));
  }

  /** Undefined when it failed; then it is named. */
  async attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const reasons: string[] = [];
      for (let cause: unknown = error; cause !== undefined; cause = (cause as Error).cause)
        reasons.push(messageOf(cause).trim());
      const why = reasons.join(': ').slice(0, MAX_REASON_CHARS);
      this.skipped.push(`${what} (${why})`);
      this.#say(`cannot be measured: ${what}: ${why}`);
      return undefined;
    }
  }

  async startServices(): Promise<Services> {
    const certificate = await makeBenchCertificate(join(this.#folder, 'certificate'));
    const echo = await startScript('../gateway/echo-process.ts');
    this.#closers.push(() => stopScript(echo.child));
    const echoPort = Number(echo.line);
    const { downloadBytes } = this.#options;
    const options = { folder: this.#folder, downloadBytes, echoPort, certificate };
    const { nginx, front } = await startNginxFront(options);
    this.#closers.push(() => nginx.stop());
    const peers: Front[] = [front];
    const haproxy = await startHaproxyFront(options, nginx);
    if (haproxy === undefined) this.skipped.push(`${HAPROXY} (not in PATH)`);
    else {
      this.#closers.push(() => haproxy.stop());
      peers.push(haproxy.front);
    }
    const serviceUrl = `http://127.0.0.1:${nginx.servicePort}`;
    const targets = { serviceUrl, echoUrl: `http://127.0.0.1:${echoPort}` };
    return {
      nginx,
      peers,
      certificate,
      maker: { certificate, nginxPid: nginx.pids.at(-1)!, targets },
    };
  }

  async startUp(maker: Services['maker']): Promise<Front[]> {
    this.#say('starting the product: up');
    const { certificate } = maker;
    const { cpuProfileDir } = this.#options;
    const product = await startGatewayUp({ folder: join(this.#folder, 'up'), certificate, cpuProfileDir });
    this.#closers.push(() => product.stop());
    const whole = { ...maker, product };
    return present([
      await openFront(whole, UP, SHARES.open),
      await this.attempt(UP_KEY, () => keyFront(whole, UP_KEY, SHARES.key)),
      await this.attempt(UP_SESSION, () => sessionFront(whole, UP_SESSION, SHARES.session)),
    ]);
  }

  async startSeparate(
    maker: Services['maker'],
  ): Promise<{ readonly product: SeparateProduct; readonly fronts: Front[] }> {
    this.#say('starting the product: separate parts');
    const { certificate } = maker;
    const { cpuProfileDir } = this.#options;
    const folder = join(this.#folder, 'separate');
    const product = await startGatewaySeparate({ folder, certificate, cpuProfileDir });
    this.#closers.push(() => product.stop());
    const whole = { ...maker, product };
    const fronts = present([
      await openFront(whole, SEPARATE, SHARES.open),
      await this.attempt(SEPARATE_KEY, () => keyFront(whole, SEPARATE_KEY, SHARES.key)),
    ]);
    return { product, fronts };
  }

  /** A fresh one that has no load behind it. */
  async withIdleUp<T>(maker: Services['maker'], look: (front: Front) => Promise<T>): Promise<T> {
    this.#say('starting the product: up, for idle connections');
    const { certificate } = maker;
    const product = await startGatewayUp({ folder: join(this.#folder, 'idle'), certificate });
    try {
      return await look(await openFront({ ...maker, product }, UP, SHARES.open));
    } finally {
      await product.stop();
    }
  }
}

function present(fronts: readonly (Front | undefined)[]): Front[] {
  return fronts.filter((front) => front !== undefined);
}
