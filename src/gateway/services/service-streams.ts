/**
 * Sessions of HTTP/2 to services, and the requests that wait for a stream of one. A share has one session for all of its requests,
 * and further ones while the service refuses further streams; requests beyond wait, and client addresses take turns. Every number
 * is bounded. ADR 0121.
 */
import { messageOf } from '#base';
import { CircuitError } from '#sdk';
import type { CircuitPool } from '../circuits/circuit-pool.ts';
import { Upstream, type CircuitWaiter, type GatewayRoute } from '../circuits/upstream.ts';
import { WaitingLine } from '../circuits/waiting-line.ts';
import { HeadBuffer } from '../http/head-buffer.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import { Http2ServiceSession, type ServiceSessionOwner } from './service-session.ts';
import { ServiceStream } from './service-stream.ts';

/** Sessions of one share, which has its own limit of streams for each. */
const MAX_SESSIONS = 16;

/** The state of one target. */
interface RouteSessions {
  /** The newest one last. Those that are being opened are among them. */
  readonly sessions: Http2ServiceSession[];
  readonly waiters: WaitingLine<CircuitWaiter>;
  opening: number;
  /** When a session was last opened to replace an old one. */
  renewedMs: number;
}

const nothing = (): void => {};

export class ServiceStreams implements ServiceSessionOwner {
  readonly #pool: CircuitPool;
  readonly #limits: GatewayLimits;
  readonly #nowMs: () => number;
  readonly #routes = new Map<GatewayRoute, RouteSessions>();
  #isClosed = false;

  constructor(pool: CircuitPool, limits: GatewayLimits, nowMs: () => number) {
    this.#pool = pool;
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** Returns a stream for the next request, if there is room in a session. */
  take(route: GatewayRoute): Upstream | undefined {
    const state = this.#routes.get(route);
    if (state === undefined || state.waiters.size > 0) return undefined;
    const session = sessionWithRoom(state);
    if (session === undefined) return undefined;
    this.#renew(route, state, session);
    return this.#streamOf(session);
  }

  /** Waits for a stream. Returns false if too many requests are waiting. */
  wait(route: GatewayRoute, waiter: CircuitWaiter): boolean {
    const state = this.#stateOf(route);
    if (this.#isClosed || state.waiters.size >= this.#limits.maxWaitingPerShare) return false;
    state.waiters.add(waiter);
    // Later, because the request does not expect its circuit before the call returns.
    if (state.waiters.size === 1 || route.namesClient) queueMicrotask(() => this.#advance(route, waiter));
    return true;
  }

  cancel(route: GatewayRoute, waiter: CircuitWaiter): void {
    const state = this.#routes.get(route);
    if (state === undefined) return;
    state.waiters.delete(waiter);
    this.#forget(route, state);
  }

  /** A request has no sign of its agent. Another session shows whether it, or another agent, answers. */
  suspect(route: GatewayRoute): void {
    const state = this.#routes.get(route);
    if (state === undefined || route.retired || state.opening > 0 || route.namesClient) return;
    if (state.sessions.length < MAX_SESSIONS) this.#open(route, state);
  }

  /** The route was replaced. Its requests continue; those that wait fail if the share was withdrawn. */
  retire(route: GatewayRoute): void {
    const state = this.#routes.get(route);
    if (state === undefined) return;
    if (route.revoked)
      failAll(state, new CircuitError('not-authorized', 'control', 'the share was withdrawn'));
    if (state.waiters.size === 0)
      for (const session of [...state.sessions]) if (session.wasOpened) session.leave();
    this.#forget(route, state);
  }

  /** Ends sessions that had no stream for too long. */
  sweep(): void {
    const endMs = this.#nowMs() - this.#limits.idleCircuitMs;
    for (const [route, { sessions }] of this.#routes) {
      for (const session of [...sessions]) {
        // One that is being opened has a limit of its own, and requests may wait for it.
        if (!session.wasOpened) continue;
        const isIdle = session.streams === 0 && session.busyMs <= endMs;
        if (isIdle || (route.retired && session.streams === 0)) session.leave();
      }
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const { sessions } of this.#routes.values())
      for (const session of [...sessions]) session.destroy('gateway closes');
  }

  sessionOpened(session: Http2ServiceSession): void {
    const { route, only } = session;
    const state = this.#routes.get(route);
    if (state === undefined) return;
    state.opening -= 1;
    if (only !== undefined) {
      if (state.waiters.delete(only)) this.#hand(only, session);
      session.leave();
      return;
    }
    const nowMs = this.#nowMs();
    for (const old of [...state.sessions]) if (old !== session && old.isOld(nowMs)) old.leave();
    this.#serve(route, state);
  }

  sessionFreed({ route }: Http2ServiceSession): void {
    const state = this.#routes.get(route);
    if (state !== undefined && state.waiters.size > 0 && !route.namesClient) this.#serve(route, state);
  }

  sessionOver(session: Http2ServiceSession, failure: CircuitError | undefined): void {
    const { route, only } = session;
    const state = this.#routes.get(route);
    if (state === undefined) return;
    const at = state.sessions.indexOf(session);
    if (at >= 0) state.sessions.splice(at, 1);
    if (!session.wasOpened) state.opening -= 1;
    if (failure !== undefined) {
      if (only !== undefined) {
        if (state.waiters.delete(only)) only.circuitFailed(failure);
      } else if (sessionWithRoom(state) === undefined) failAll(state, failure);
    } else if (session.uses === 0 && !state.sessions.some(({ uses }) => uses > 0)) {
      // Requests that wait would have the next one opened at once, and without end.
      failAll(state, UNUSED);
    }
    if (state.waiters.size > 0 && only === undefined) queueMicrotask(() => this.#advance(route));
    else this.#forget(route, state);
  }

  /** Serves the requests that wait, or opens a session for them. `waiter`: the one that has just begun to wait. */
  #advance(route: GatewayRoute, waiter?: CircuitWaiter): void {
    const state = this.#routes.get(route);
    if (state === undefined || state.waiters.size === 0 || this.#isClosed) return;
    if (route.namesClient) {
      if (waiter !== undefined) this.#open(route, state, waiter);
    } else this.#serve(route, state);
  }

  #serve(route: GatewayRoute, state: RouteSessions): void {
    while (state.waiters.size > 0) {
      const session = sessionWithRoom(state);
      if (session === undefined) {
        if (state.opening === 0 && state.sessions.length < MAX_SESSIONS) this.#open(route, state);
        return;
      }
      this.#hand(state.waiters.next(false)!, session);
    }
  }

  #hand(waiter: CircuitWaiter, session: Http2ServiceSession): void {
    const upstream = this.#streamOf(session);
    try {
      waiter.circuitReady(upstream);
    } catch (error) {
      upstream.owner?.upstreamFault(error);
      upstream.destroy(messageOf(error));
    }
  }

  #streamOf(session: Http2ServiceSession): Upstream {
    const { route } = session;
    const { maxResponseHeadBytes } = this.#limits;
    const heads = new HeadBuffer(maxResponseHeadBytes, maxResponseHeadBytes);
    const upstream = new Upstream(new ServiceStream(session), route, heads, nothing);
    // A session that carried others may be ending at this moment.
    upstream.uses = session.uses;
    session.reserve();
    return upstream;
  }

  #open(route: GatewayRoute, state: RouteSessions, only?: CircuitWaiter): void {
    const parts = { pool: this.#pool, limits: this.#limits, nowMs: this.#nowMs };
    const session = new Http2ServiceSession(parts, route, this, only);
    state.opening += 1;
    state.sessions.push(session);
    if (!session.start()) session.circuitFailed(TOO_MANY);
  }

  /** Replaces a session of some age in the background, so that sessions leave draining parts, and reach all agents. */
  #renew(route: GatewayRoute, state: RouteSessions, newest: Http2ServiceSession): void {
    const nowMs = this.#nowMs();
    if (!newest.isOld(nowMs) || state.opening > 0 || state.sessions.length >= MAX_SESSIONS) return;
    if (route.retired || nowMs - state.renewedMs < this.#limits.circuitAgeMs) return;
    state.renewedMs = nowMs;
    this.#open(route, state);
  }

  #stateOf(route: GatewayRoute): RouteSessions {
    let state = this.#routes.get(route);
    if (state === undefined) {
      state = { sessions: [], waiters: new WaitingLine(), opening: 0, renewedMs: -Infinity };
      this.#routes.set(route, state);
    }
    return state;
  }

  #forget(route: GatewayRoute, { sessions, waiters }: RouteSessions): void {
    if (sessions.length === 0 && waiters.size === 0) this.#routes.delete(route);
  }
}

const UNUSED = new CircuitError(
  'circuit-closed',
  'service',
  'the service ended the HTTP/2 connection before it allowed a stream',
);
const TOO_MANY = new CircuitError('timeout', 'gateway', 'too many requests are waiting for a circuit');

/** The newest session with room, because an older one may belong to a part that no longer answers. */
function sessionWithRoom({ sessions }: RouteSessions): Http2ServiceSession | undefined {
  for (let i = sessions.length - 1; i >= 0; i -= 1) if (sessions[i]!.hasRoom) return sessions[i];
  return undefined;
}

function failAll({ waiters }: RouteSessions, failure: CircuitError): void {
  for (let waiter = waiters.next(false); waiter !== undefined; waiter = waiters.next(false))
    waiter.circuitFailed(failure);
}
