/** Ends the circuits of an SDK that policies granted when they began, and no longer do. */
import type { Channel } from '#net';
import type { EdgePeerContext } from './edge-peer-context.ts';
import { stateClosed, type EdgeCircuit } from './edge-circuit.ts';
import type { ConnectionGrant } from './service-grants.ts';

/** Returns why a grant is over, or undefined while it holds. */
export type GrantFault = (grant: ConnectionGrant) => string | undefined;

/**
 * `circuits` and `granted` are those of the channel, by connection id. The SDK gets the reason that `faultOf` returns.
 * Data of these circuits that waits here is dropped.
 */
export function endForbiddenCircuits(
  channel: Channel,
  context: Pick<EdgePeerContext, 'log' | 'forwarder' | 'reportFault'>,
  circuits: ReadonlyMap<number, EdgeCircuit>,
  granted: ReadonlyMap<number, ConnectionGrant>,
  faultOf: GrantFault,
): void {
  for (const [connId, grant] of granted) {
    const reason = faultOf(grant);
    const circuit = reason === undefined ? undefined : circuits.get(connId);
    if (reason === undefined || circuit === undefined) continue;
    const { circuitId, controllerId, address, isTerminator } = circuit;
    context.log.info({ identity: grant.session.identityId, circuitId, reason }, 'circuit ended');
    channel.send(stateClosed(connId, reason));
    context.forwarder.unregister(circuitId, address);
    circuit.unrouted();
    context.reportFault(circuitId, controllerId, isTerminator);
  }
}
