/**
 * Values for inspections of circuits: `router-circuits`, `router-edge-circuits`, `circuit:<id>` and
 * `circuitandstacks:<id>`, with the field names of OpenZiti's routers. The first two always have a value, because
 * OpenZiti's controller crashes if one is missing.
 */
import type { RoutedCircuit } from './circuit-table.ts';
import type { Forwarder } from './forwarder.ts';

const PREFIXES = ['circuit:', 'circuitandstacks:'];

/** Returns undefined for unknown names and circuits. */
export function inspectCircuits(forwarder: Forwarder, name: string, nowMs: number): unknown {
  if (name === 'router-circuits') {
    const circuits = [...forwarder.circuits()].map((it) => [it.id, circuitRow(forwarder, it, nowMs)]);
    return { circuits: Object.fromEntries(circuits) };
  }
  if (name === 'router-edge-circuits') return { circuits: Object.fromEntries(edgeCircuits(forwarder)) };
  const prefix = PREFIXES.find((it) => name.startsWith(it));
  const circuit = prefix === undefined ? undefined : forwarder.circuit(name.slice(prefix.length));
  return circuit === undefined ? undefined : circuitDetail(forwarder, circuit);
}

function circuitRow(forwarder: Forwarder, circuit: RoutedCircuit, nowMs: number): object {
  const addresses = new Set([...circuit.next.keys(), ...circuit.next.values()]);
  const destinations = [...addresses].map((address) => [address, destinationKind(forwarder, address)]);
  return {
    id: circuit.id,
    timeSinceActivity: `${Math.round(nowMs - circuit.lastActiveMs) / 1_000}s`,
    ctrlId: circuit.controllerId,
    routes: Object.fromEntries(circuit.next),
    destinations: Object.fromEntries(destinations),
  };
}

/** The circuits with an end that an SDK holds. */
function* edgeCircuits(forwarder: Forwarder): Generator<[string, object]> {
  for (const { id, ends } of forwarder.circuits()) {
    for (const address of ends) {
      const end = forwarder.end(address);
      if (end?.kind === 'xg-edge-fwd')
        yield [`${id}/${address}`, { circuitId: id, address, ...end.inspect() }];
    }
  }
}

function circuitDetail(forwarder: Forwarder, circuit: RoutedCircuit): object {
  const links = [...circuit.next.values()].filter((address) => forwarder.hasLink(address));
  return {
    circuitId: circuit.id,
    forwards: Object.fromEntries(circuit.next),
    xgressDetails: Object.fromEntries(
      circuit.ends.map((address) => [address, { address, ...forwarder.end(address)?.inspect() }]),
    ),
    relatedEntities: links.length === 0 ? {} : { link: Object.fromEntries(links.map((id) => [id, {}])) },
    errors: null,
  };
}

function destinationKind(forwarder: Forwarder, address: string): string {
  if (forwarder.hasLink(address)) return 'link';
  return forwarder.end(address)?.kind ?? 'missing';
}
