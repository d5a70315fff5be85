/**
 * Handles Route and Unroute messages of controllers: dials the far end if the Route requests one, sets the forwards and
 * answers. The number of concurrent dials is bounded. Dials do not block the control channel.
 */
import { FrontdoorError, messageOf, ShortLivedMap, WorkerPool, type Log } from '#base';
import { failAlone, SummedLog } from '#net';
import { contentType, type Frame } from '#wire';
import { encodeRouteResult, peerDataOfEntries, RouteErrorCode } from '#wire/circuits';
import { ctrlMessages, DestType, type CtrlBody, type Route_Forward } from '#wire/ctrl';
import type { ForwarderConfig } from '../config/router-config.ts';
import type { Controller, CtrlHandlers } from '../ctrl/controllers.ts';
import { HostRefusal } from '../forwarder/dial-refusal.ts';
import type { EgressDialers } from '../xgress/egress-dialers.ts';
import type { CircuitForward, Forwarder } from '../forwarder/forwarder.ts';
import { RouteTags } from './route-tags.ts';

const DEFAULT_ROUTE_MS = 10_000;

export interface CircuitRoutesOptions {
  readonly forwarder: Forwarder;
  readonly dialers: EgressDialers;
  readonly config: Pick<
    ForwarderConfig,
    'xgressDialQueueLength' | 'xgressDialWorkerCount' | 'xgressDialDwellMs'
  >;
  readonly log: Log;
}

type Route = CtrlBody<'route'>;
type PeerData = ReadonlyMap<number, Uint8Array>;

interface PendingDial {
  readonly circuitId: string;
  readonly done: Promise<PeerData>;
  readonly abort: AbortController;
}

export class CircuitRoutes {
  /** Named `route.handler` in metrics. */
  readonly pool: WorkerPool;
  readonly #options: CircuitRoutesOptions;
  readonly #summedLog: SummedLog;
  readonly #tags = new RouteTags();
  /** Dials in progress by the address of their end. */
  readonly #dials = new ShortLivedMap<string, PendingDial>();

  constructor(options: CircuitRoutesOptions) {
    this.#summedLog = new SummedLog(options.log);
    this.#options = options;
    const { config, log } = options;
    this.pool = new WorkerPool({
      name: 'route.handler',
      queueLength: config.xgressDialQueueLength,
      workerCount: config.xgressDialWorkerCount,
      log,
    });
  }

  handlers(): CtrlHandlers {
    return new Map([
      [contentType.route, (frame: Frame, from: Controller) => this.#onRoute(frame, from)],
      [contentType.unroute, (frame: Frame) => this.#onUnroute(frame)],
    ]);
  }

  /** The number of far ends that are being dialed now. */
  get dialCount(): number {
    return this.#dials.size;
  }

  close(): void {
    this.pool.close();
    for (const { abort } of this.#dials.values()) abort.abort();
  }

  #onRoute(frame: Frame, from: Controller): void {
    const receivedMs = performance.now();
    const route = ctrlMessages.route.of(frame);
    if (route.circuitId === '')
      throw new FrontdoorError('protocol', 'malformed-body', 'Route without a circuit');
    if (route.egress === undefined) {
      try {
        this.#complete(frame, route, from, new Map());
      } catch (error) {
        this.#defect(frame, route, from, error);
      }
      return;
    }
    if (this.pool.offer(() => this.#routeEgress(frame, route, from, receivedMs))) return;
    // Sends no answer, so the controller's time limit expires, as it does when OpenZiti's routers are full.
    this.#options.log.error(
      { circuit: route.circuitId, queued: this.pool.queueSize },
      'Route dropped: forwarder.xgressDialQueueLength circuits wait for their dial',
    );
  }

  #onUnroute(frame: Frame): void {
    const { circuitId, now } = ctrlMessages.unroute.of(frame);
    for (const dial of this.#dials.values()) if (dial.circuitId === circuitId) dial.abort.abort();
    if (now) this.#options.forwarder.unroute(circuitId);
    else this.#options.forwarder.unrouteWhenQuiet(circuitId);
  }

  async #routeEgress(frame: Frame, route: Route, from: Controller, receivedMs: number): Promise<void> {
    const { address } = route.egress!;
    let peerData: PeerData;
    try {
      const standing = this.#dials.get(address);
      if (standing !== undefined) peerData = await standing.done;
      else if (this.#options.forwarder.end(address) !== undefined)
        peerData = this.#options.forwarder.circuit(route.circuitId)?.egressData ?? new Map();
      else peerData = await this.#dial(route, from, receivedMs);
    } catch (error) {
      this.#fail(frame, route, from, error);
      return;
    }
    try {
      this.#complete(frame, route, from, peerData);
    } catch (error) {
      this.#defect(frame, route, from, error);
    }
  }

  /** An exception that is no refusal of the dial. */
  #defect(frame: Frame, route: Route, from: Controller, error: unknown): void {
    const { forwarder, log } = this.#options;
    const fail = (): void => {
      forwarder.unroute(route.circuitId);
      this.#fail(frame, route, from, new Error('internal error of the router'));
    };
    failAlone({ kind: 'route', id: route.circuitId, log, fail }, error);
  }

  async #dial(route: Route, from: Controller, receivedMs: number): Promise<PeerData> {
    const abort = new AbortController();
    const { address } = route.egress!;
    const done = this.#dialNow(route, from, receivedMs, abort.signal);
    this.#dials.set(address, { circuitId: route.circuitId, done, abort });
    try {
      return await done;
    } finally {
      this.#dials.delete(address);
    }
  }

  async #dialNow(route: Route, from: Controller, receivedMs: number, signal: AbortSignal): Promise<PeerData> {
    const { circuitId } = route;
    const { binding, address, destination, peerData } = route.egress!;
    const { forwarder, dialers } = this.#options;
    await this.#dwell(circuitId, signal);
    const routeMs = route.timeout > 0n ? Number(route.timeout / 1_000_000n) : DEFAULT_ROUTE_MS;
    const deadlineMs = receivedMs + routeMs;
    if (!signal.aborted && performance.now() >= deadlineMs)
      throw new FrontdoorError('timeout', 'dial-timeout', 'the route timed out before it was dialed');
    if (!signal.aborted) {
      const data = await dialers.dial(binding, {
        circuitId,
        address,
        destination,
        controllerId: from.id,
        peerData: peerDataOfEntries(peerData),
        deadlineMs,
        signal,
      });
      if (!signal.aborted) {
        const circuit = forwarder.circuit(circuitId);
        if (circuit !== undefined) circuit.egressData = data;
        return data;
      }
    }
    // The circuit was unrouted during the dial, so all its state is removed.
    forwarder.unroute(circuitId);
    throw new FrontdoorError('conflict', 'unrouted', 'the circuit was unrouted while it was dialed');
  }

  async #dwell(circuitId: string, signal: AbortSignal): Promise<void> {
    const { config, log } = this.#options;
    if (config.xgressDialDwellMs <= 0) return;
    log.info(
      { circuit: circuitId, dwellMs: config.xgressDialDwellMs },
      'delaying the dial by xgressDialDwellTime',
    );
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, config.xgressDialDwellMs);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #complete(frame: Frame, route: Route, from: Controller, peerData: PeerData): void {
    const { circuitId, attempt } = route;
    const { forwarder } = this.#options;
    const tags = this.#tags.of(route.tags);
    const problem = forwarder.route(circuitId, from.id, route.forwards.map(forwardOf), tags);
    if (problem !== undefined) {
      if (route.egress !== undefined) forwarder.unroute(circuitId);
      this.#fail(frame, route, from, problemError(problem.type, problem.address));
      return;
    }
    const result = { circuitId, attempt, isSuccess: true, error: '', errorCode: 0, peerData };
    from.channel.send(encodeRouteResult(frame, result));
  }

  #fail(frame: Frame, { circuitId, attempt, egress }: Route, from: Controller, error: unknown): void {
    const errorCode = routeErrorCode(error);
    const text = messageOf(error);
    const cause = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : undefined;
    const fields = {
      circuit: circuitId,
      destination: egress?.destination,
      err: text,
      cause,
      code: errorCode,
    };
    this.#summedLog.info(`${egress?.destination ?? ''} ${text}`, fields, 'route failed');
    const result = { circuitId, attempt, isSuccess: false, error: text, errorCode, peerData: new Map() };
    from.channel.send(encodeRouteResult(frame, result));
  }
}

function forwardOf({ srcAddress, dstAddress, dstType }: Route_Forward): CircuitForward {
  const type = dstType === DestType.LINK ? 'link' : dstType === DestType.END ? 'end' : 'start';
  return { source: srcAddress, destination: dstAddress, type };
}

function problemError(type: 'end' | 'link', address: string): FrontdoorError {
  return type === 'link'
    ? new FrontdoorError('notFound', 'unknown-link', `invalid link destination ${address}`)
    : new FrontdoorError('notFound', 'unknown-end', `invalid egress destination ${address}`);
}

const CODE_OF: Readonly<Record<string, number>> = {
  'unknown-terminator': RouteErrorCode.invalidTerminator,
  'misconfigured-terminator': RouteErrorCode.misconfiguredTerminator,
  'connection-refused': RouteErrorCode.connectionRefused,
  'name-not-found': RouteErrorCode.dnsFailed,
  'unknown-link': RouteErrorCode.invalidLinkDestination,
};

function routeErrorCode(error: unknown): number {
  if (error instanceof HostRefusal) return error.routeCode;
  if (!(error instanceof FrontdoorError)) return RouteErrorCode.generic;
  if (error.kind === 'timeout') return RouteErrorCode.dialTimeout;
  if (error.kind === 'limited') return RouteErrorCode.resourcesNotAvailable;
  return CODE_OF[error.code] ?? RouteErrorCode.generic;
}
