/**
 * The links between routers: reports of the dialing routers, measurements of both ends, and the resulting costs.
 * A router can report only its own links. Every table and text here is bounded.
 */
import type { CtrlBody } from '#wire/ctrl';

export interface FabricLinkConnection {
  readonly type: string;
  readonly localAddress: string;
  readonly remoteAddress: string;
}

/** Mutable on purpose, because measurements arrive continuously. Only the registry changes it. */
export interface FabricLink {
  readonly id: string;
  /** The router that dialed. */
  readonly sourceId: string;
  readonly destinationId: string;
  readonly iteration: number;
  readonly protocol: string;
  readonly dialAddress: string;
  readonly staticCost: number;
  /** Mean round trip and queueing time as measured by each end; undefined until it reported. */
  sourceLatencyNs: number | undefined;
  destinationLatencyNs: number | undefined;
  cost: number;
  stateIteration: number;
  connections: readonly FabricLinkConnection[];
}

type LinkListener = (link: FabricLink, isLost: boolean) => void;
type Report = CtrlBody<'routerLinks'>;
type ConnState = NonNullable<CtrlBody<'linkState'>['connState']>;

const STATIC_COST = 1;
/** Used for an end that has not reported a measurement. */
export const UNMEASURED_MS = 65_000;
const NS_PER_MS = 1_000_000;
/** The value that routers, including OpenZiti's, report for a link over which nothing arrives. */
const SILENT_NS = 8_888_888_888_888;
const MAX_LINKS_PER_ROUTER = 10_000;
const MAX_ID_CHARACTERS = 64;
const MAX_TEXT_CHARACTERS = 512;
const MAX_CONNECTIONS = 32;
const NO_LINKS: ReadonlySet<FabricLink> = new Set();

export class LinkRegistry {
  readonly #links = new Map<string, FabricLink>();
  readonly #bySource = new Map<string, Set<FabricLink>>();
  readonly #byDestination = new Map<string, Set<FabricLink>>();
  #version = 0;
  #onReported: LinkListener = () => {};

  /** Incremented whenever the existence or cost of a path may have changed. */
  get version(): number {
    return this.#version;
  }

  /** The listener is called for each link that a router reports as new or lost. */
  onReported(listener: LinkListener): void {
    this.#onReported = listener;
  }

  get(id: string): FabricLink | undefined {
    return this.#links.get(id);
  }

  all(): IterableIterator<FabricLink> {
    return this.#links.values();
  }

  /** Links that the router dialed, and those that others dialed to it. */
  *of(routerId: string): Generator<FabricLink> {
    yield* this.#bySource.get(routerId) ?? NO_LINKS;
    yield* this.#byDestination.get(routerId) ?? NO_LINKS;
  }

  /** `isWhole`: links of the router that are missing in the report were removed, and are returned. */
  report(routerId: string, { links }: Report, isWhole: boolean): FabricLink[] {
    const named = new Set<string>();
    for (const { id, destRouterId, iteration, linkProtocol, dialAddress, connState } of links) {
      named.add(id);
      const known = this.#links.get(id);
      // Reports concern own links only, so another router's link with the same id is kept.
      if (known !== undefined && (known.sourceId !== routerId || known.iteration >= iteration)) continue;
      if (!isId(id) || !isId(destRouterId) || destRouterId === routerId) continue;
      if (known !== undefined) this.#drop(known);
      else if ((this.#bySource.get(routerId)?.size ?? 0) >= MAX_LINKS_PER_ROUTER) break;
      const link: FabricLink = {
        id,
        sourceId: routerId,
        destinationId: destRouterId,
        iteration,
        protocol: cut(linkProtocol),
        dialAddress: cut(dialAddress),
        staticCost: STATIC_COST,
        sourceLatencyNs: undefined,
        destinationLatencyNs: undefined,
        cost: STATIC_COST + 2 * UNMEASURED_MS,
        stateIteration: connState?.stateIteration ?? 0,
        connections: connectionsOf(connState),
      };
      this.#put(link);
      this.#onReported(link, false);
    }
    if (!isWhole) return [];
    const gone = [...(this.#bySource.get(routerId) ?? NO_LINKS)].filter(({ id }) => !named.has(id));
    for (const link of gone) {
      this.#drop(link);
      this.#onReported(link, true);
    }
    return gone;
  }

  /** Sets the complete list of a link's connections. Messages may be reordered, so the highest count wins. */
  setState(routerId: string, { linkId, linkIteration, connState }: CtrlBody<'linkState'>): void {
    const link = this.#links.get(linkId);
    if (link?.sourceId !== routerId || link.iteration !== linkIteration || connState === undefined) return;
    if (connState.stateIteration <= link.stateIteration && link.stateIteration !== 0) return;
    link.stateIteration = connState.stateIteration;
    link.connections = connectionsOf(connState);
  }

  /**
   * Sets the latencies measured by one end, by link id; called for links of that router only. Returns links that
   * became silent.
   */
  setLatencies(routerId: string, latencyNs: (linkId: string) => number | undefined): FabricLink[] {
    const silent: FabricLink[] = [];
    for (const link of this.of(routerId)) {
      const measured = latencyNs(link.id);
      if (measured === undefined || !Number.isFinite(measured) || measured < 0) continue;
      const before = (link.sourceId === routerId ? link.sourceLatencyNs : link.destinationLatencyNs) ?? 0;
      if (measured >= SILENT_NS && before < SILENT_NS) silent.push(link);
      if (link.sourceId === routerId) link.sourceLatencyNs = measured;
      else link.destinationLatencyNs = measured;
      const cost = link.staticCost + wholeMs(link.sourceLatencyNs) + wholeMs(link.destinationLatencyNs);
      if (cost === link.cost) continue;
      link.cost = cost;
      this.#version += 1;
    }
    return silent;
  }

  /**
   * An end reports the loss of a link. Returns undefined if the link is unknown, belongs to another router, or is
   * an earlier one of that id.
   */
  remove(id: string, routerId: string, iteration: number): FabricLink | undefined {
    const link = this.#links.get(id);
    if (link === undefined || (link.sourceId !== routerId && link.destinationId !== routerId))
      return undefined;
    if (iteration !== 0 && iteration < link.iteration) return undefined;
    this.#drop(link);
    this.#onReported(link, true);
    return link;
  }

  /** Removes the reports of a router that was disconnected. */
  removeOf(routerId: string): FabricLink[] {
    const gone = [...(this.#bySource.get(routerId) ?? NO_LINKS)];
    for (const link of gone) this.#drop(link);
    return gone;
  }

  #put(link: FabricLink): void {
    this.#links.set(link.id, link);
    indexed(this.#bySource, link.sourceId).add(link);
    indexed(this.#byDestination, link.destinationId).add(link);
    this.#version += 1;
  }

  #drop(link: FabricLink): void {
    this.#links.delete(link.id);
    unindexed(this.#bySource, link.sourceId, link);
    unindexed(this.#byDestination, link.destinationId, link);
    this.#version += 1;
  }
}

function wholeMs(latencyNs: number | undefined): number {
  return latencyNs === undefined ? UNMEASURED_MS : Math.floor(latencyNs / NS_PER_MS);
}

function connectionsOf(state: ConnState | undefined): FabricLinkConnection[] {
  return (state?.conns ?? []).slice(0, MAX_CONNECTIONS).map(({ type, localAddr, remoteAddr }) => ({
    type: cut(type),
    localAddress: cut(localAddr),
    remoteAddress: cut(remoteAddr),
  }));
}

function isId(text: string): boolean {
  return text !== '' && text.length <= MAX_ID_CHARACTERS;
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT_CHARACTERS);
}

function indexed(index: Map<string, Set<FabricLink>>, key: string): Set<FabricLink> {
  let found = index.get(key);
  if (found === undefined) index.set(key, (found = new Set()));
  return found;
}

function unindexed(index: Map<string, Set<FabricLink>>, key: string, link: FabricLink): void {
  const found = index.get(key);
  if (found?.delete(link) === true && found.size === 0) index.delete(key);
}
