/** Methods of running programs that a test makes throw: one for each kind of thing that has to fail alone. */
export interface FaultPlace {
  readonly name: string;
  readonly part: 'agent' | 'gateway' | 'router' | 'control' | 'tunnel';
  /** From the root of the repository. */
  readonly file: string;
  readonly owner: string;
  readonly method: string;
  /** It throws only for calls whose arguments have this text, and each time. Otherwise it throws once. */
  readonly only?: string;
}

export const POISONED = 'poisoned';

export const FAULT_PLACES: readonly FaultPlace[] = [
  place('agent-share', 'agent', 'src/agent/own-targets.ts', 'OwnTargets', 'has', POISONED),
  place('agent-circuit', 'agent', 'src/agent/agent-traffic.ts', 'AgentTraffic', 'begin'),
  place('agent-circuit-end', 'agent', 'src/agent/agent-traffic.ts', 'AgentTraffic', 'end'),
  place('agent-data', 'agent', 'src/sdk/overlay-circuit.ts', 'OverlayCircuit', 'writeLent'),
  place('agent-target', 'agent', 'src/agent/backends/target-connection.ts', 'TargetConnection', 'flush'),
  place('agent-look-up', 'agent', 'src/agent/backends/target-resolver.ts', 'TargetResolver', 'resolve'),
  place('gateway-request', 'gateway', 'src/gateway/exchange/exchange.ts', 'Exchange', 'connect'),
  place('gateway-answer', 'gateway', 'src/gateway/exchange/exchange.ts', 'Exchange', 'upstreamData'),
  place('gateway-sweep', 'gateway', 'src/gateway/circuits/circuit-pool.ts', 'CircuitPool', 'sweep'),
  place('gateway-circuit', 'gateway', 'src/sdk/overlay-circuit.ts', 'OverlayCircuit', 'receive'),
  place('router-data', 'router', 'src/router/edge/edge-peer.ts', 'EdgePeer', 'onData'),
  place('router-message', 'router', 'src/router/edge/edge-peer.ts', 'EdgePeer', 'onFrame'),
  place('router-route', 'router', 'src/router/forwarder/forwarder.ts', 'Forwarder', 'route'),
  place('router-circuit', 'router', 'src/router/edge/edge-circuit.ts', 'XgressCircuit', 'deliver'),
  place('tunnel-connection', 'tunnel', 'src/agent/access/access-circuits.ts', 'AccessCircuits', 'join'),
  place('tunnel-data', 'tunnel', 'src/sdk/overlay-circuit.ts', 'OverlayCircuit', 'receive'),
  place(
    'control-dial',
    'control',
    'src/control/overlay/circuits/circuit-requests.ts',
    'CircuitRequests',
    'create',
  ),
  place(
    'control-tick',
    'control',
    'src/control/overlay/terminators/service-prober.ts',
    'ServiceProber',
    'tick',
  ),
  place(
    'control-feed',
    'control',
    'src/control/shares/gateway-feed/gateway-feed.ts',
    'GatewayFeed',
    'heartbeat',
  ),
  place(
    'control-record',
    'control',
    'src/control/overlay/model/overlay-model.ts',
    'OverlayModel',
    'setHostedService',
    POISONED,
  ),
];

function place(
  name: string,
  part: FaultPlace['part'],
  file: string,
  owner: string,
  method: string,
  only?: string,
): FaultPlace {
  return only === undefined ? { name, part, file, owner, method } : { name, part, file, owner, method, only };
}
