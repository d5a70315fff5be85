/**
 * Events of the mesh in the JSON of OpenZiti 1.7.2, and the subscriptions that select them. A kind that we do not have is
 * refused by its name, as is an option that has no effect.
 */
import { isoTime } from '../edge-api/mod.ts';
import type { CircuitEvent, FabricEventKind, FabricEventTable, JsonObject } from '../model/mod.ts';

const MAX_SUBSCRIPTIONS = 32;
const MAX_QUOTED_CHARS = 100;
const NS_PER_MS = 1_000_000;
const USAGE_KINDS = ['ingress.rx', 'ingress.tx', 'egress.rx', 'egress.tx', 'fabric.rx', 'fabric.tx'];
const CIRCUIT_TYPES = ['created', 'pathUpdated', 'deleted', 'failed'];

/** An event as it is sent: its type, for a header, and its JSON. */
export interface EventText {
  readonly type: string;
  readonly text: string;
}

export interface EventSubscription<K extends FabricEventKind = FabricEventKind> {
  readonly kind: K;
  /** Makes what the subscriber gets of the event, one by one. */
  view(event: FabricEventTable[K], origin: EventOrigin): Iterator<EventText>;
}

export interface EventOrigin {
  readonly controllerId: string;
  readonly nowMs: number;
}

type AnySubscription = { [K in FabricEventKind]: EventSubscription<K> }[FabricEventKind];
type Reader = (namespace: string, options: JsonObject) => AnySubscription | string;

/** By the names of 1.4 and later, and the earlier ones. The names of a subscription are those of its events. */
const READERS: Readonly<Record<string, Reader>> = {
  usage: usageSubscription,
  'fabric.usage': usageSubscription,
  circuit: circuitSubscription,
  'fabric.circuits': circuitSubscription,
  router: routerSubscription,
  'fabric.routers': routerSubscription,
  link: linkSubscription,
  'fabric.links': linkSubscription,
  terminator: terminatorSubscription,
  'fabric.terminators': terminatorSubscription,
};

/** Reads the body of a request. Returns a text if it is refused. */
export function subscriptionsOf(body: string): readonly AnySubscription[] | string {
  const request = objectOf(body);
  if (request === undefined) return 'the request is not a JSON object';
  const { format, subscriptions } = request;
  if (format !== 'json') return `invalid format ['${quoted(format)}']: only json is supported`;
  if (!Array.isArray(subscriptions)) return 'subscriptions is not a list';
  if (subscriptions.length > MAX_SUBSCRIPTIONS) return `more than ${MAX_SUBSCRIPTIONS} subscriptions`;
  const read: AnySubscription[] = [];
  for (const one of subscriptions as unknown[]) {
    const subscription = subscriptionOf(one);
    if (typeof subscription === 'string') return subscription;
    read.push(subscription);
  }
  return read;
}

function subscriptionOf(value: unknown): AnySubscription | string {
  if (!isObject(value)) return 'a subscription is not an object';
  const { type, options = null } = value;
  if (options !== null && !isObject(options)) return 'options of a subscription is not an object';
  const name = typeof type === 'string' ? type : '';
  const reader = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
  if (reader === undefined)
    return `event type ${quoted(type)} is not supported: ${Object.keys(READERS).join(', ')} are`;
  return reader(name, options ?? {});
}

function usageSubscription(namespace: string, options: JsonObject): AnySubscription | string {
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
          yield textOf('usage.v3', { ...head, version: 3, usage: Object.fromEntries(chosen), ...tail });
        if (isV3) continue;
        for (const [kind, bytes] of chosen)
          yield textOf('usage', { ...head, version: 2, event_type: `usage.${kind}`, usage: bytes, ...tail });
      }
    },
  };
}

function circuitSubscription(namespace: string, options: JsonObject): AnySubscription | string {
  const { include, ...others } = options;
  const included = includedOf(include, CIRCUIT_TYPES);
  const problem = unknownOption(others) ?? (typeof included === 'string' ? included : undefined);
  if (problem !== undefined) return `${namespace}: ${problem}`;
  return {
    kind: 'circuit',
    *view(event, origin) {
      if ((included as ReadonlySet<string>).has(event.type))
        yield textOf('circuit', { ...headOf(namespace, origin), ...circuitView(event) });
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

function routerSubscription(namespace: string, options: JsonObject): AnySubscription | string {
  const problem = unknownOption(options);
  if (problem !== undefined) return `${namespace}: ${problem}`;
  return {
    kind: 'router',
    *view({ routerId, isOnline }, origin) {
      yield textOf('router', {
        ...headOf(namespace, origin),
        event_type: isOnline ? 'router-online' : 'router-offline',
        router_id: routerId,
        router_online: isOnline,
      });
    },
  };
}

function linkSubscription(namespace: string, options: JsonObject): AnySubscription | string {
  const problem = unknownOption(options);
  if (problem !== undefined) return `${namespace}: ${problem}`;
  return {
    kind: 'link',
    *view({ type, linkId, sourceId, destinationId, protocol, dialAddress, cost, connections }, origin) {
      yield textOf('link', {
        ...headOf(namespace, origin),
        ...{ event_type: type, link_id: linkId, src_router_id: sourceId, dst_router_id: destinationId },
        ...{ protocol, dial_address: dialAddress, cost },
        connections: connections.map(({ type: id, localAddress, remoteAddress }) => ({
          ...{ id, local_addr: localAddress, remote_addr: remoteAddress },
        })),
      });
    },
  };
}

function terminatorSubscription(namespace: string, options: JsonObject): AnySubscription | string {
  const problem = unknownOption(options);
  if (problem !== undefined) return `${namespace}: ${problem}`;
  return {
    kind: 'terminator',
    *view(event, origin) {
      yield textOf('terminator', {
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

/** Returns all of `known` for undefined, and a text if it is refused. */
function includedOf(include: unknown, known: readonly string[]): ReadonlySet<string> | string {
  if (include === undefined) return new Set(known);
  const listed: unknown[] = Array.isArray(include) ? include : [include];
  const wrong = listed.find((one) => !known.some((name) => name === one));
  if (wrong !== undefined) return `invalid include ${quoted(wrong)}: ${known.join(', ')} are valid`;
  return listed.length === 0 ? 'include is empty' : new Set(listed as string[]);
}

function unknownOption(options: JsonObject): string | undefined {
  const [name] = Object.keys(options);
  return name === undefined ? undefined : `option ${quoted(name)} is not supported`;
}

function headOf(namespace: string, { controllerId, nowMs }: EventOrigin): JsonObject {
  return { namespace, event_src_id: controllerId, timestamp: isoTime(nowMs) };
}

function textOf(type: string, event: JsonObject): EventText {
  return { type, text: JSON.stringify(event) };
}

function optional(name: string, value: unknown): JsonObject {
  return value === undefined ? {} : { [name]: value };
}

function nanoseconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * NS_PER_MS);
}

function objectOf(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function quoted(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, MAX_QUOTED_CHARS);
}
