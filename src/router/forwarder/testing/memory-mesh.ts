/**
 * Routers of a test without connections: the forwarder, ends and routes of each, connected by memory links, and one
 * controller that routes circuits over them.
 */
import { duplexPair, type Duplex } from 'node:stream';
import { silentLog } from '#base';
import type { RouteResult } from '#wire/circuits';
import { DestType, type CtrlInit } from '#wire/ctrl';
import { FORWARDER_DEFAULTS, XGRESS_CONFIG_DEFAULTS } from '../../config/testing/router-config-defaults.ts';
import type { ForwarderConfig, XgressConfig } from '../../config/router-config.ts';
import { NO_METRICS, type Metrics } from '../../metrics/metrics.ts';
import { MemoryControllers, type MemoryController } from '../../testing/memory-controller.ts';
import { EgressDialers } from '../../xgress/egress-dialers.ts';
import { XgressEnds, type OpenEndOptions } from '../../xgress/xgress-ends.ts';
import { CircuitFaults } from '../circuit-faults.ts';
import { CircuitRoutes } from '../../circuits/circuit-routes.ts';
import { Forwarder } from '../forwarder.ts';
import { MemoryLink, type MemoryLinkOptions } from './memory-link.ts';

export const REROUTE_ATTEMPT = 99_969_996;

export interface MeshOptions {
  readonly forwarder?: Partial<ForwarderConfig>;
  readonly xgress?: Partial<XgressConfig>;
  readonly metrics?: Metrics;
  readonly random?: () => number;
  /** Further options of the ends. */
  readonly end?: (isTerminator: boolean) => Pick<OpenEndOptions, 'encryption' | 'isDatagrams'>;
}

export class MemoryRouter {
  readonly id: string;
  readonly controllers = new MemoryControllers();
  readonly controller: MemoryController;
  readonly forwarder: Forwarder;
  readonly faults: CircuitFaults;
  readonly ends: XgressEnds;
  readonly dialers = new EgressDialers([]);
  readonly routes: CircuitRoutes;
  readonly xgress: XgressConfig;
  readonly #endOptions: NonNullable<MeshOptions['end']>;
  /** Service sides of circuits that ended here, by circuit. */
  readonly services = new Map<string, Duplex>();

  constructor(id: string, options: MeshOptions = {}) {
    this.id = id;
    const config = { ...FORWARDER_DEFAULTS, ...options.forwarder };
    const metrics = options.metrics ?? NO_METRICS;
    this.#endOptions = options.end ?? (() => ({}));
    this.xgress = { ...XGRESS_CONFIG_DEFAULTS, ...options.xgress };
    this.faults = new CircuitFaults({
      controllers: this.controllers,
      faultTxIntervalMs: config.faultTxIntervalMs,
      metrics,
      log: silentLog,
    });
    this.forwarder = new Forwarder({
      routerId: id,
      faults: this.faults,
      closeCheckIntervalMs: config.xgressCloseCheckIntervalMs,
      metrics,
    });
    this.ends = new XgressEnds({
      forwarder: this.forwarder,
      faults: this.faults,
      metrics,
      log: silentLog,
      random: options.random,
    });
    this.routes = new CircuitRoutes({
      forwarder: this.forwarder,
      dialers: this.dialers,
      config,
      log: silentLog,
    });
    this.controller = this.controllers.connect('ctrl');
    this.dialers.add('memory', ({ circuitId, address, controllerId }) => {
      this.services.set(circuitId, this.#open(circuitId, address, controllerId, true));
      return Promise.resolve(new Map());
    });
  }

  /** The client's side of a circuit that starts here, after it was routed. */
  begin(circuitId: string): Duplex {
    return this.#open(circuitId, ingressOf(circuitId), 'ctrl', false);
  }

  route(route: CtrlInit<'route'>): Promise<RouteResult> {
    return this.controller.route(this.routes.handlers(), route);
  }

  unroute(circuitId: string, now: boolean): void {
    this.controller.unroute(this.routes.handlers(), circuitId, now);
  }

  close(): void {
    this.ends.close();
    this.routes.close();
    this.faults.close();
    this.forwarder.close();
    this.controllers.close();
  }

  #open(circuitId: string, address: string, controllerId: string, isTerminator: boolean): Duplex {
    const [connection, local] = duplexPair({ allowHalfOpen: true });
    this.ends.open({
      circuitId,
      address,
      controllerId,
      isTerminator,
      connection,
      config: this.xgress,
      hopType: 'xgress/memory',
      ...this.#endOptions(isTerminator),
    });
    local.on('error', () => {});
    return local;
  }
}

/** Creates routers `r0`, `r1`, … and links between them. */
export class MemoryMesh {
  readonly routers: readonly MemoryRouter[];
  readonly #links = new Map<string, MemoryLink>();

  constructor(count: number, options: MeshOptions = {}) {
    this.routers = Array.from({ length: count }, (_, index) => new MemoryRouter(`r${index}`, options));
  }

  link(from: number, to: number, options: MemoryLinkOptions = {}): MemoryLink {
    const link = new MemoryLink(`l${from}${to}`, this.#forwarder(from), this.#forwarder(to), options);
    this.#links.set(`${from}-${to}`, link);
    this.#links.set(`${to}-${from}`, link);
    return link;
  }

  /** Routes the circuit along the path and opens both ends. */
  async open(circuitId: string, path: readonly number[]): Promise<{ client: Duplex; service: Duplex }> {
    await this.route(circuitId, path, 0);
    const client = this.routers[path[0]!]!.begin(circuitId);
    return { client, service: this.routers[path.at(-1)!]!.services.get(circuitId)! };
  }

  /** Routes from the far end to the near end, like the first time, or node by node for a different path. */
  async route(circuitId: string, path: readonly number[], attempt: number): Promise<void> {
    const order = attempt === REROUTE_ATTEMPT ? [...path.keys()] : [...path.keys()].reverse();
    for (const at of order) {
      const route = this.#routeAt(circuitId, path, at, attempt);
      const result = await this.routers[path[at]!]!.route(route);
      if (!result.isSuccess) throw new Error(`r${path[at]}: ${result.error}`);
    }
  }

  close(): void {
    for (const router of this.routers) router.close();
  }

  #routeAt(circuitId: string, path: readonly number[], at: number, attempt: number): CtrlInit<'route'> {
    const before = at === 0 ? ingressOf(circuitId) : this.#links.get(`${path[at - 1]}-${path[at]}`)!.id;
    const isLast = at === path.length - 1;
    const after = isLast ? egressOf(circuitId) : this.#links.get(`${path[at]}-${path[at + 1]}`)!.id;
    const isDialed = isLast && (attempt !== REROUTE_ATTEMPT || path.length === 1);
    return {
      circuitId,
      attempt,
      forwards: [
        { srcAddress: before, dstAddress: after, dstType: isLast ? DestType.END : DestType.LINK },
        { srcAddress: after, dstAddress: before, dstType: at === 0 ? DestType.START : DestType.LINK },
      ],
      timeout: 10_000_000_000n,
      ...(isDialed ? { egress: { binding: 'memory', address: egressOf(circuitId), destination: 'x' } } : {}),
    };
  }

  #forwarder(index: number): Forwarder {
    return this.routers[index]!.forwarder;
  }
}

export function ingressOf(circuitId: string): string {
  return `${circuitId}-in`;
}

export function egressOf(circuitId: string): string {
  return `${circuitId}-out`;
}
