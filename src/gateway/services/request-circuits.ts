/**
 * The circuits of requests: a circuit of the pool for a service of HTTP/1.1, which it carries one request after the other, and a
 * stream of a session for a service of HTTP/2.
 */
import type { CircuitDialer } from '../circuits/circuit-dialer.ts';
import { CircuitPool } from '../circuits/circuit-pool.ts';
import type { CircuitWaiter, GatewayRoute, Upstream } from '../circuits/upstream.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import { ServiceStreams } from './service-streams.ts';

export class RequestCircuits {
  readonly #pool: CircuitPool;
  readonly #streams: ServiceStreams;

  /** `nowMs` may stand still between sweeps. */
  constructor(dialer: CircuitDialer, limits: GatewayLimits, nowMs: () => number, preciseNowMs: () => number) {
    this.#pool = new CircuitPool(dialer, limits, nowMs, preciseNowMs);
    this.#streams = new ServiceStreams(this.#pool, limits, nowMs);
  }

  get idleCount(): number {
    return this.#pool.idleCount;
  }

  get openCount(): number {
    return this.#pool.openCount;
  }

  get dialCount(): number {
    return this.#pool.dialCount;
  }

  get failedDialCount(): number {
    return this.#pool.failedDialCount;
  }

  /** Returns what a request can have at once. */
  take(route: GatewayRoute, isRepeatable: boolean): Upstream | undefined {
    return route.http2 === undefined ? this.#pool.takeIdle(route, isRepeatable) : this.#streams.take(route);
  }

  /** Waits for a circuit. Returns false if too many requests are waiting. */
  wait(route: GatewayRoute, waiter: CircuitWaiter): boolean {
    return (route.http2 === undefined ? this.#pool : this.#streams).wait(route, waiter);
  }

  cancel(route: GatewayRoute, waiter: CircuitWaiter): void {
    (route.http2 === undefined ? this.#pool : this.#streams).cancel(route, waiter);
  }

  /** A request has no sign of its agent. A dial shows whether it, or another one, answers. */
  suspect(route: GatewayRoute): void {
    (route.http2 === undefined ? this.#pool : this.#streams).suspect(route);
  }

  /** For a request that was answered, so that another may follow. `keepMs` is how long the service waits; -1 if unknown. */
  release(upstream: Upstream, keepMs: number): void {
    if (upstream.route.http2 === undefined) this.#pool.release(upstream, keepMs);
    else this.finish(upstream);
  }

  /** Ends a circuit that must not be used again; pending data is dropped. */
  discard(upstream: Upstream, reason: string): void {
    if (upstream.route.http2 === undefined) this.#pool.discard(upstream, reason);
    else upstream.destroy(reason);
  }

  /** Ends a circuit after its last data, so that the service sees a clean end. */
  finish(upstream: Upstream): void {
    if (upstream.route.http2 === undefined) this.#pool.finish(upstream);
    else {
      upstream.owner = undefined;
      upstream.circuit.end();
    }
  }

  /** Ends the idle circuits of a replaced route. Its waiting requests fail. */
  retire(route: GatewayRoute): void {
    this.#pool.retire(route);
    this.#streams.retire(route);
  }

  sweep(): void {
    this.#pool.sweep();
    this.#streams.sweep();
  }

  close(): void {
    this.#streams.close();
    this.#pool.close();
  }
}
