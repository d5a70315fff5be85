/**
 * The routers that are connected now, one channel each, and what each told of itself. Only what comes over a
 * router's current channel is acted on.
 */
import type { Channel } from '#net';
import { contentType, headerId, HeaderWriter, makeFrame, type Frame } from '#wire';
import type { Listener, RouterHello } from '#wire/ctrl';

/** Where SDKs reach a router. */
export interface EdgeAddress {
  readonly hostname: string;
  readonly port: number;
}

export class ConnectedRouter {
  readonly id: string;
  readonly channel: Channel;
  readonly version: string;
  /** Our release, '' when the router does not state it; undefined: the router is of another make. */
  readonly release: string | undefined;
  /** Where other routers dial links to it. */
  listeners: readonly Listener[];
  readonly connectedAtMs: number;
  /** SHA-1 of the certificate that stands for it: of the channel's, or of a younger one that it has shown. */
  fingerprint: string;
  /** Identities with a channel to this router. */
  readonly presentIdentities = new Set<string>();
  /** From its ClientHello; routers without an edge part send none. */
  edge: EdgeAddress | undefined;
  hasEdge = false;
  /** It asked for the keys that sign service sessions. */
  wantsPublicKeys = false;
  /** Circuits that it waits for. */
  pendingCircuits = 0;
  /** It told of all its links since it connected. */
  hasToldLinks = false;

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

  /** Moves whenever a path through the routers may have become possible, impossible or undesired. */
  get version(): number {
    return this.#version;
  }

  /** Whenever what SDKs are told of a router may have changed. */
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
    // One that still drains asks again; one that was restarted does not.
    this.#quiesced.delete(router.id);
    this.#version += 1;
  }

  /** It asked for no new circuits, over its present channel or the last one. */
  isQuiesced(id: string): boolean {
    return this.#quiesced.has(id);
  }

  setQuiesced(id: string, isQuiesced: boolean): void {
    if (isQuiesced) this.#quiesced.add(id);
    else this.#quiesced.delete(id);
    this.#version += 1;
  }

  /** False when a newer channel took its place. */
  remove(router: ConnectedRouter): boolean {
    if (!this.isCurrent(router) || !this.#routers.delete(router.id)) return false;
    this.#version += 1;
    this.#tellEdge(router.id);
    return true;
  }

  setEdge(router: ConnectedRouter, edge: EdgeAddress | undefined): void {
    router.edge = edge;
    if (edge !== undefined) this.#edgeAddresses.set(router.id, edge);
    this.#tellEdge(router.id);
  }

  #tellEdge(routerId: string): void {
    for (const listener of this.#edgeListeners) listener(routerId);
  }

  /** The last address that SDKs were given; kept while the router is away. */
  edgeAddress(id: string): EdgeAddress | undefined {
    return this.#edgeAddresses.get(id);
  }

  forget(id: string): void {
    this.#edgeAddresses.delete(id);
    this.#quiesced.delete(id);
  }

  isPresent(identityId: string): boolean {
    for (const router of this.#routers.values()) if (router.presentIdentities.has(identityId)) return true;
    return false;
  }
}

function makeResultFrame(isSuccess: boolean, text: string): Frame {
  return makeFrame(contentType.result, {
    headers: new HeaderWriter().bool(headerId.channel.resultSuccess, isSuccess),
    body: text,
  });
}
