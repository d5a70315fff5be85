/** Opens the listeners that the configuration lists, each by the part of its binding. */
import type { Clock, Log } from '#base';
import type { ServerTls, TlsPorts } from '#net';
import type { CircuitPart } from './circuits/circuit-part.ts';
import type { ListenerConfig, RouterConfig, TunnelListenerConfig } from './config/router-config.ts';
import type { EdgePart } from './edge/edge-part.ts';
import { MachineRecord } from './tunnel/machine/machine-record.ts';
import { removeLeftovers } from './tunnel/tproxy/leftovers.ts';
import { TunnelPart } from './tunnel/tunnel-part.ts';

export interface RouterListenersOptions {
  readonly routerId: string;
  readonly config: RouterConfig;
  readonly edge: EdgePart;
  readonly circuits: CircuitPart;
  readonly ports: TlsPorts;
  readonly tls: ServerTls;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Resolves with the part of the listeners with the binding `tunnel`, if there are any. Rejects with a `FrontdoorError`
 * when an address cannot be listened on.
 */
export async function openListeners(options: RouterListenersOptions): Promise<TunnelPart | undefined> {
  const { config, edge, circuits, ports, tls, log } = options;
  for (const listener of config.listeners) {
    if (listener.binding === 'edge') await edge.listen(listener, ports, tls);
    else if (listener.binding !== 'tunnel') await circuits.listen(listener);
  }
  if (edge.listener === undefined) log.warn({}, 'no edge listener is configured: SDKs cannot connect');
  const path = config.edge?.db ?? config.file;
  // The router may have had another configuration when it was killed.
  const record = await MachineRecord.load(`${path}.machine`, log);
  await removeLeftovers(record, log);
  const listeners = config.listeners.filter(isTunnel);
  if (listeners.length === 0) return undefined;
  return TunnelPart.open({
    routerId: options.routerId,
    listeners,
    ...edge.forTunnel,
    ...circuits.forTunnel,
    namesFile: `${path}.names`,
    record,
    placeOf: (path) => config.placeOf(path),
    clock: options.clock,
    log,
  });
}

function isTunnel(listener: ListenerConfig): listener is TunnelListenerConfig {
  return listener.binding === 'tunnel';
}
