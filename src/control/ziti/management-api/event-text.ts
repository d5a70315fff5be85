/** What the views of all kinds of events share: the form of an event, of a subscription, and the options that select. */
import { isoTime } from '../client-api/service-view.ts';
import type { FabricEventKind, FabricEventTable, JsonObject } from '../../overlay/model/mod.ts';

const MAX_QUOTED_CHARS = 100;

/** An event as it is sent: its type, for a header, and its JSON. */
export interface EventText {
  readonly type: string;
  readonly text: string;
}

export interface EventOrigin {
  readonly controllerId: string;
  readonly nowMs: number;
}

export interface EventSubscription<K extends FabricEventKind = FabricEventKind> {
  readonly kind: K;
  /** Makes what the subscriber gets of the event, one by one. */
  view(event: FabricEventTable[K], origin: EventOrigin): Iterator<EventText>;
}

/** Counts of all entities, in intervals. */
export interface CountSubscription {
  readonly kind: 'entityCount';
  readonly intervalMs: number;
  view(counts: Readonly<Record<string, number>>, origin: EventOrigin): EventText;
}

/** Traces are subscribed to by a request of their own. */
export type EventKind = Exclude<FabricEventKind, 'trace'>;

export type AnySubscription = { [K in EventKind]: EventSubscription<K> }[EventKind] | CountSubscription;

/** Reads the options of a subscription under its name. Returns a text if they are refused. */
export type SubscriptionReader = (namespace: string, options: JsonObject) => AnySubscription | string;

/** A subscription whose only option is `include`, which selects by a type of `types`, or that has no option. */
export function simpleReader<K extends FabricEventKind>(
  kind: K,
  view: (event: FabricEventTable[K], head: JsonObject) => Iterable<JsonObject>,
  types?: { readonly known: readonly string[]; readonly of: (event: FabricEventTable[K]) => string },
): SubscriptionReader {
  return (namespace, options) => {
    const { include, ...others } = types === undefined ? { ...options, include: undefined } : options;
    const included = types === undefined ? undefined : includedOf(include, types.known);
    const problem = unknownOption(others) ?? (typeof included === 'string' ? included : undefined);
    if (problem !== undefined) return `${namespace}: ${problem}`;
    const subscription: EventSubscription<K> = {
      kind,
      *view(event, origin) {
        if (typeof included === 'object' && types?.of(event) !== undefined && !included.has(types.of(event)))
          return;
        for (const one of view(event, headOf(namespace, origin))) yield eventText(kind, one);
      },
    };
    return subscription as AnySubscription;
  };
}

/** Returns all of `known` for undefined, and a text if it is refused. */
export function includedOf(include: unknown, known: readonly string[]): ReadonlySet<string> | string {
  if (include === undefined) return new Set(known);
  const listed: unknown[] = Array.isArray(include) ? include : [include];
  const wrong = listed.find((one) => !known.some((name) => name === one));
  if (wrong !== undefined) return `invalid include ${quoted(wrong)}: ${known.join(', ')} are valid`;
  return listed.length === 0 ? 'include is empty' : new Set(listed as string[]);
}

export function unknownOption(options: JsonObject): string | undefined {
  const name = Object.keys(options).find((one) => options[one] !== undefined);
  return name === undefined ? undefined : `option ${quoted(name)} is not supported`;
}

export function headOf(namespace: string, { controllerId, nowMs }: EventOrigin): JsonObject {
  return { namespace, event_src_id: controllerId, timestamp: isoTime(nowMs) };
}

export function eventText(type: string, event: JsonObject): EventText {
  return { type, text: JSON.stringify(event) };
}

export function optional(name: string, value: unknown): JsonObject {
  return value === undefined ? {} : { [name]: value };
}

export function quoted(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, MAX_QUOTED_CHARS);
}
