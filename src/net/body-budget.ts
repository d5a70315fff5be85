/**
 * How much of the bodies of requests may be in memory at one time: in all, and for one peer. When there is no more room,
 * the oldest unfinished body of the peer that holds most is evicted, so that a peer with little gets in all the same.
 */

export interface BodyBounds {
  /** Bytes of all peers together. */
  readonly maxBytes: number;
  readonly maxBytesPerPeer: number;
  readonly maxBodiesPerPeer: number;
}

/** A body that takes room until it is released. */
export interface HeldBody {
  /** False: it arrived, and its request is being answered. */
  readonly isArriving: boolean;
  /** It has to go. Releases it. */
  evict(): void;
}

interface Peer {
  /** Bytes by body, oldest first. */
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

  /** Enters a body that holds nothing yet; false when its peer has too many, none of which can go. */
  enter(peerKey: string, body: HeldBody): boolean {
    let peer = this.#peers.get(peerKey);
    if (peer !== undefined && peer.bodies.size >= this.#bounds.maxBodiesPerPeer && !evictOldest(peer))
      return false;
    // The peer's last body may have gone just now, and the peer with it.
    peer = this.#peers.get(peerKey) ?? { bodies: new Map(), bytes: 0 };
    this.#peers.set(peerKey, peer);
    peer.bodies.set(body, 0);
    return true;
  }

  /** More room for a body that was entered; false when there is none. Other bodies may go for it. */
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

/** False when nothing but `asking` and what is being answered is left. */
function evictOldest(peer: Peer, asking?: HeldBody): boolean {
  for (const body of peer.bodies.keys()) {
    if (body === asking || !body.isArriving) continue;
    body.evict();
    return true;
  }
  return false;
}
