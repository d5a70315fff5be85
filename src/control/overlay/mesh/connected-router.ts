/**
 * The connected routers, one channel each, with what each reported about itself. Only frames of a router's
 * current channel are handled.
 */
import type { Channel } from '#net/channel';
import { contentType, headerId, HeaderWriter, makeFrame, type Frame } from '#wire';
import type { Listener, RouterHello } from '#wire/ctrl';

/** The address at which SDKs reach a router. */
export interface EdgeAddress {
  readonly hostname: string;
  readonly port: number;
}

export class ConnectedRouter {
  readonly id: string;
  readonly channel: Channel;
  readonly version: string;
  /** Our release, '' if the router does not state it; undefined if the router is not ours. */
  readonly release: string | undefined;
  /** Addresses at which other routers dial links to it. */
  listeners: readonly Listener[];
  readonly connectedAtMs: number;
  /** SHA-1 of its current certificate: the channel's, or a newer one that it has used. */
  fingerprint: string;
  /** Identities with a channel to this router. */
  readonly presentIdentities = new Set<string>();
  /** From its ClientHello. Routers without an edge part send none. */
  edge: EdgeAddress | undefined;
  hasEdge = false;
  /** Whether it requested the keys that sign service sessions. */
  wantsPublicKeys = false;
  /** Circuits whose creation it requested. */
  pendingCircuits = 0;
  /** Whether it has reported all its links since it connected. */
  hasReportedLinks = false;

  constructor(channel: Channel, hello: RouterHello, connectedAtMs: number) {
    this.id = channel.peer.id;
    this.channel = channel;
    this.fingerprint = channel.peer.fingerprint;
    this.version = hello.version;
    this.release = hello.release;
    this.listeners = hello.listeners;
    this.connectedAtMs = connectedAtMs;
  }

  send(frame: Frame): void {
    this.channel.send(frame);
  }

  result(request: Frame, isSuccess: boolean, text = ''): void {
    this.channel.reply(request, makeResultFrame(isSuccess, text));
  }
}

export class RouterRegistry {
  readonly #routers = new Map<string, ConnectedRouter>();
  readonly #edgeAddresses = new Map<string, EdgeAddress>();
  readonly #edgeListeners: ((routerId: string) => void)[] = [];
  readonly #quiesced = new Set<string>();
  #version = 0;

  /** Incremented whenever a path through the routers may have changed. */
  get version(): number {
    return this.#version;
  }

  /** Calls the listener whenever the data for SDKs about a router may have changed. */
  onEdgeChange(listener: (routerId: string) => void): void {
    this.#edgeListeners.push(listener);
  }

  get(id: string): ConnectedRouter | undefined {
    return this.#routers.get(id);
  }

  all(): IterableIterator<ConnectedRouter> {
    return this.#routers.values();
  }

  get size(): number {
    return this.#routers.size;
  }

  isCurrent(router: ConnectedRouter): boolean {
    return this.#routers.get(router.id) === router;
  }

  add(router: ConnectedRouter): void {
    this.#routers.set(router.id, router);
    // A router that still drains repeats its request; a restarted one does not.
    this.#quiesced.delete(router.id);
    this.#version += 1;
  }

  /** Whether it requested no new circuits, over its current channel or the last one. */
  isQuiesced(id: string): boolean {
    return this.#quiesced.has(id);
  }

  setQuiesced(id: string, isQuiesced: boolean): void {
    if (isQuiesced) this.#quiesced.add(id);
    else this.#quiesced.delete(id);
    this.#version += 1;
  }

  /** Returns false if a newer channel replaced it. */
  remove(router: ConnectedRouter): boolean {
    if (!this.isCurrent(router) || !this.#routers.delete(router.id)) return false;
    this.#version += 1;
    this.#notifyEdge(router.id);
    return true;
  }

  setEdge(router: ConnectedRouter, edge: EdgeAddress | undefined): void {
    router.edge = edge;
    if (edge !== undefined) this.#edgeAddresses.set(router.id, edge);
    this.#notifyEdge(router.id);
  }

  #notifyEdge(routerId: string): void {
    for (const listener of this.#edgeListeners) listener(routerId);
  }

  /** Returns the last known address for SDKs, also while the router is disconnected. */
  edgeAddress(id: string): EdgeAddress | undefined {
    return this.#edgeAddresses.get(id);
  }

  forget(id: string): void {
    this.#edgeAddresses.delete(id);
    this.#quiesced.delete(id);
  }
}

function makeResultFrame(isSuccess: boolean, text: string): Frame {
  return makeFrame(contentType.result, {
    headers: new HeaderWriter().bool(headerId.channel.resultSuccess, isSuccess),
    body: text,
  });
}
