/**
 * Dials for one use, of shares with a port, or whose agents name the client of each connection: every dial is for one request, or
 * connection, and its circuit goes to no other.
 */
import { encodeCircuitClient } from '#domain/agent-shapes';
import { dialOptionsOf, type CircuitDialOptions } from './circuit-dialer.ts';
import type { CircuitWaiter, GatewayRoute } from './upstream.ts';

export class NamedDials {
  /** Requests with a dial under way. */
  readonly #dialed = new Set<CircuitWaiter>();

  /** Returns the request that the next dial is for; undefined if it may be for any. */
  begin({ isForOneUse, slot }: GatewayRoute): CircuitWaiter | undefined {
    if (!isForOneUse) return undefined;
    const named = slot.waiters.nextBeside(this.#dialed);
    if (named !== undefined) this.#dialed.add(named);
    return named;
  }

  end(named: CircuitWaiter | undefined): void {
    if (named !== undefined) this.#dialed.delete(named);
  }
}

/** Dials for the target of a path name the path, and others of a share that names its clients the client. */
export function optionsOf(
  { path, namesClient }: GatewayRoute,
  named: CircuitWaiter | undefined,
): CircuitDialOptions {
  if (!namesClient || named?.client === undefined) return dialOptionsOf(path);
  return { appData: encodeCircuitClient(named.client) };
}

/** Takes the request that gets the circuit of a dial, or its failure, out of the line; undefined if it has left. */
export function waiterOf(route: GatewayRoute, named: CircuitWaiter | undefined): CircuitWaiter | undefined {
  const { waiters } = route.slot;
  if (!route.isForOneUse) return waiters.next(false);
  return named !== undefined && waiters.delete(named) ? named : undefined;
}
