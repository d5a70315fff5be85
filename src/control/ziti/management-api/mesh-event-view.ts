/** Events of the mesh in the JSON of OpenZiti 1.7.2: usage, circuits, routers, links and terminators. */
import type { CircuitEvent, JsonObject } from '../../overlay/model/mod.ts';
import {
  eventText,
  headOf,
  includedOf,
  optional,
  quoted,
  unknownOption,
  type AnySubscription,
} from './event-text.ts';

const NS_PER_MS = 1_000_000;
const USAGE_KINDS = ['ingress.rx', 'ingress.tx', 'egress.rx', 'egress.tx', 'fabric.rx', 'fabric.tx'];
const CIRCUIT_TYPES = ['created', 'pathUpdated', 'deleted', 'failed'];

export function usageSubscription(namespace: string, options: JsonObject): AnySubscription | string {
  const { version = 2, include, ...others } = options;
  const included = includedOf(include, USAGE_KINDS);
  const problem = unknownOption(others) ?? (typeof included === 'string' ? included : undefined);
  if (problem !== undefined) return `${namespace}: ${problem}`;
  if (!['2', '3'].includes(String(version))) return `${namespace}: unsupported version ${quoted(version)}`;
  const isV3 = String(version) === '3';
  if (!isV3 && include !== undefined) return `${namespace}: include needs version 3`;
  return {
    kind: 'usage',
    *view({ routerId, circuits }, origin) {
      for (const { circuitId, usage, intervalStartS, intervalLengthS, tags } of circuits) {
        const head = { ...headOf(namespace, origin), source_id: routerId, circuit_id: circuitId };
        const tail = {
          interval_start_utc: intervalStartS,
          interval_length: intervalLengthS,
          tags: Object.keys(tags).length === 0 ? null : tags,
        };
        const chosen = Object.entries(usage).filter(([kind]) => (included as ReadonlySet<string>).has(kind));
        if (isV3 && chosen.length > 0)
          yield eventText('usage.v3', { ...head, version: 3, usage: Object.fromEntries(chosen), ...tail });
        if (isV3) continue;
        for (const [kind, bytes] of chosen)
          yield eventText('usage', {
            ...head,
            version: 2,
            event_type: `usage.${kind}`,
            usage: bytes,
            ...tail,
          });
      }
    },
  };
}

export function circuitSubscription(namespace: string, options: JsonObject): AnySubscription | string {
  const { include, ...others } = options;
  const included = includedOf(include, CIRCUIT_TYPES);
  const problem = unknownOption(others) ?? (typeof included === 'string' ? included : undefined);
  if (problem !== undefined) return `${namespace}: ${problem}`;
  return {
    kind: 'circuit',
    *view(event, origin) {
      if ((included as ReadonlySet<string>).has(event.type))
        yield eventText('circuit', { ...headOf(namespace, origin), ...circuitView(event) });
    },
  };
}

function circuitView(event: CircuitEvent): JsonObject {
  const isEmpty = event.routerIds.length === 0;
  return {
    version: 2,
    event_type: event.type,
    circuit_id: event.circuitId,
    client_id: event.clientId,
    service_id: event.serviceId,
    terminator_id: event.terminatorId,
    instance_id: event.instanceId,
    ...optional('creation_timespan', nanoseconds(event.creationMs)),
    path: {
      nodes: isEmpty ? null : event.routerIds,
      links: event.linkIds.length === 0 ? null : event.linkIds,
      ingress_id: event.ingressAddress,
      egress_id: event.egressAddress,
    },
    link_count: event.linkIds.length,
    ...optional('path_cost', event.cost),
    ...optional('failure_cause', event.failureCause),
    ...optional('duration', nanoseconds(event.durationMs)),
    tags: event.tags,
  };
}

export function routerSubscription(namespace: string, options: JsonObject): AnySubscription | string {
  const problem = unknownOption(options);
  if (problem !== undefined) return `${namespace}: ${problem}`;
  return {
    kind: 'router',
    *view({ routerId, isOnline }, origin) {
      yield eventText('router', {
        ...headOf(namespace, origin),
        event_type: isOnline ? 'router-online' : 'router-offline',
        router_id: routerId,
        router_online: isOnline,
      });
    },
  };
}

export function linkSubscription(namespace: string, options: JsonObject): AnySubscription | string {
  const problem = unknownOption(options);
  if (problem !== undefined) return `${namespace}: ${problem}`;
  return {
    kind: 'link',
    *view({ type, linkId, sourceId, destinationId, protocol, dialAddress, cost, connections }, origin) {
      yield eventText('link', {
        ...headOf(namespace, origin),
        event_type: type,
        link_id: linkId,
        src_router_id: sourceId,
        dst_router_id: destinationId,
        protocol,
        dial_address: dialAddress,
        cost,
        connections: connections.map(({ type: id, localAddress, remoteAddress }) => ({
          id,
          local_addr: localAddress,
          remote_addr: remoteAddress,
        })),
      });
    },
  };
}

export function terminatorSubscription(namespace: string, options: JsonObject): AnySubscription | string {
  const problem = unknownOption(options);
  if (problem !== undefined) return `${namespace}: ${problem}`;
  return {
    kind: 'terminator',
    *view(event, origin) {
      yield eventText('terminator', {
        ...headOf(namespace, origin),
        event_type: event.type,
        service_id: event.serviceId,
        terminator_id: event.terminatorId,
        router_id: event.routerId,
        host_id: event.hostId,
        instance_id: event.instanceId,
        router_online: event.isRouterOnline,
        precedence: event.precedence,
        static_cost: event.staticCost,
        dynamic_cost: event.dynamicCost,
        total_terminators: event.total,
        usable_default_terminators: event.usableDefault,
        usable_required_terminators: event.usableRequired,
      });
    },
  };
}

function nanoseconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * NS_PER_MS);
}
