/**
 * Limits how much of the bodies of requests is in memory at one time, in total and per peer. When there is no
 * room, the oldest unfinished body of the peer that holds most is evicted, so that a peer with little data is
 * still served.
 */

export interface BodyBounds {
  /** Limit for all peers together, in bytes. */
  readonly maxBytes: number;
  readonly maxBytesPerPeer: number;
  readonly maxBodiesPerPeer: number;
}

/** A body that occupies memory until it is released. */
export interface HeldBody {
  /** False once it has arrived and its request is being answered. */
  readonly isArriving: boolean;
  /** Drops the body and releases its memory. */
  evict(): void;
}

interface Peer {
  /** Bytes by body, the oldest first. */
  readonly bodies: Map<HeldBody, number>;
  bytes: number;
}

export class BodyBudget {
  readonly #bounds: BodyBounds;
  readonly #peers = new Map<string, Peer>();
  #bytes = 0;

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds an empty body. Returns false if its peer has too many and none of them can be evicted. */
  enter(peerKey: string, body: HeldBody): boolean {
    let peer = this.#peers.get(peerKey);
    if (peer !== undefined && peer.bodies.size >= this.#bounds.maxBodiesPerPeer && !evictOldest(peer))
      return false;
    // The eviction may have removed the peer's last body, and the peer with it.
    peer = this.#peers.get(peerKey) ?? { bodies: new Map(), bytes: 0 };
    this.#peers.set(peerKey, peer);
    peer.bodies.set(body, 0);
    return true;
  }

  /** Takes more memory for an added body, evicting others if necessary. Returns false if there is no room. */
  take(peerKey: string, body: HeldBody, bytes: number): boolean {
    const peer = this.#peers.get(peerKey)!;
    const { maxBytes, maxBytesPerPeer } = this.#bounds;
    while (peer.bytes + bytes > maxBytesPerPeer) if (!evictOldest(peer, body)) return false;
    while (this.#bytes + bytes > maxBytes) {
      const heaviest = this.#heaviest();
      if (heaviest === undefined || !evictOldest(heaviest, body)) return false;
    }
    peer.bodies.set(body, peer.bodies.get(body)! + bytes);
    peer.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  release(peerKey: string, body: HeldBody): void {
    const peer = this.#peers.get(peerKey);
    const bytes = peer?.bodies.get(body);
    if (peer === undefined || bytes === undefined) return;
    peer.bodies.delete(body);
    peer.bytes -= bytes;
    this.#bytes -= bytes;
    if (peer.bodies.size === 0) this.#peers.delete(peerKey);
  }

  #heaviest(): Peer | undefined {
    let heaviest: Peer | undefined;
    for (const peer of this.#peers.values()) {
      if (peer.bytes > (heaviest?.bytes ?? 0)) heaviest = peer;
    }
    return heaviest;
  }
}

/** Returns false if only `asking` and bodies of requests that are being answered are left. */
function evictOldest(peer: Peer, asking?: HeldBody): boolean {
  for (const body of peer.bodies.keys()) {
    if (body === asking || !body.isArriving) continue;
    body.evict();
    return true;
  }
  return false;
}
