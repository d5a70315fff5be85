/** Ends the circuits of an SDK that policies granted when they began, and no longer do. */
import type { Channel } from '#net/channel';
import type { EdgePeerContext } from './edge-peer-context.ts';
import { ofCircuit, stateClosed, type EdgeCircuit } from './edge-circuit.ts';
import type { ConnectionGrant } from './service-grants.ts';

export const SESSION_ENDED = 'the service session has ended';

/** Returns why a grant is over, or undefined while it holds. */
export type GrantFault = (grant: ConnectionGrant) => string | undefined;

/**
 * `circuits` and `granted` are those of the channel, by connection id. The SDK gets the reason that `faultOf` returns.
 * Data of these circuits that waits here is dropped.
 */
export function endForbiddenCircuits(
  channel: Channel,
  context: Pick<EdgePeerContext, 'log' | 'forwarder' | 'reportFault'>,
  circuits: Pick<ReadonlyMap<number, EdgeCircuit>, 'get'>,
  granted: ReadonlyMap<number, ConnectionGrant>,
  faultOf: GrantFault,
): void {
  for (const [connId, grant] of granted) {
    const circuit = circuits.get(connId);
    if (circuit === undefined) continue;
    // A circuit whose grant cannot be checked ends, too.
    ofCircuit(circuit, context.forwarder, () => {
      const reason = faultOf(grant);
      if (reason !== undefined) endCircuit(channel, context, circuit, grant.session.identityId, reason);
    });
  }
}

/** Ends the circuits of service sessions that a controller has ended. */
export function endSessionCircuits(
  channel: Channel,
  context: Pick<EdgePeerContext, 'log' | 'forwarder' | 'reportFault'>,
  circuits: Iterable<EdgeCircuit>,
  tokens: ReadonlySet<string>,
): void {
  for (const circuit of [...circuits]) {
    if (circuit.sessionToken === '' || !tokens.has(circuit.sessionToken)) continue;
    ofCircuit(circuit, context.forwarder, () =>
      endCircuit(channel, context, circuit, channel.peer.id, SESSION_ENDED),
    );
  }
}

function endCircuit(
  channel: Channel,
  context: Pick<EdgePeerContext, 'log' | 'forwarder' | 'reportFault'>,
  circuit: EdgeCircuit,
  identity: string,
  reason: string,
): void {
  const { circuitId, controllerId, address, connId, isTerminator } = circuit;
  context.log.info({ identity, circuitId, reason }, 'circuit ended');
  channel.send(stateClosed(connId, reason));
  context.forwarder.unregister(circuitId, address);
  circuit.unrouted();
  context.reportFault(circuitId, controllerId, isTerminator);
}
