/**
 * Decides which links this router dials, keeps and closes. It has one state per key on the dialing side, and one
 * current link among all links with the same key. Controllers report peers. Both ends keep the same one of two
 * duplicates, selected by id. Pure: the driver dials, closes and reports as the effects of `step` request.
 */
import {
  dials,
  duplicateDelayMs,
  linkKey,
  retryDelayMs,
  type DialerRule,
  type PeerListener,
} from './link-dial-policy.ts';
import type { DialFault, DialOrder, LinkEffect, LinkEvent, LiveLink } from './link-event.ts';
import type { LinkState, LinkedRouter, PeerView } from './link-state.ts';

export interface LinkRegistryOptions {
  readonly routerId: string;
  readonly dialers: readonly DialerRule[];
  newLinkId(): string;
  /** A random number from 0 to 1. */
  random(): number;
}

interface Current {
  readonly link: LiveLink;
  rejectedCount: number;
}

export const FULL_SCAN_MS = 60_000;
const FORGOTTEN_AFTER_MS = 48 * 3_600_000;
/**
 * A link that breaks sooner counts as a failed dial, so that a peer that accepts and closes is not dialed in a loop.
 */
const STABLE_MS = 5_000;
const MAX_REJECTED = 5;
/**
 * Delay before the replaced one of two links is closed, so that circuits can move. The dialing side closes it first.
 */
const REPLACED_DIALED_CLOSE_MS = 60_000;
const REPLACED_ACCEPTED_CLOSE_MS = 75_000;
/** Time limit for the dialer to close a rejected link itself. */
const REJECTED_ACCEPTED_CLOSE_MS = 30_000;
const MAX_REPLACED_PER_KEY = 8;
const MAX_PEERS = 10_000;
const MAX_LISTENERS_PER_PEER = 64;

export class LinkRegistryMachine {
  readonly #options: LinkRegistryOptions;
  readonly #peers = new Map<string, LinkedRouter>();
  readonly #current = new Map<string, Current>();
  /** By key: replaced links that are not closed yet, oldest first. */
  readonly #replaced = new Map<string, LiveLink[]>();
  #effects: LinkEffect[] = [];
  #nowMs = 0;
  #nextScanMs = 0;

  constructor(options: LinkRegistryOptions) {
    this.#options = options;
  }

  step(event: LinkEvent, nowMs: number): LinkEffect[] {
    this.#nowMs = nowMs;
    this.#effects = [];
    this.#handle(event);
    return this.#effects;
  }

  /** The time at which `tick` is next required. */
  get nextDueMs(): number {
    let due = this.#nextScanMs;
    for (const peer of this.#peers.values()) {
      for (const state of peer.links.values()) {
        if (this.#isWaiting(state) && state.nextDialMs < due) due = state.nextDialMs;
      }
    }
    return due;
  }

  /** Returns false if the dial is no longer needed. */
  isWanted(order: DialOrder): boolean {
    return this.#stateOf(order)?.status === 'dialing';
  }

  /** The current links, one per key. */
  *links(): Generator<LiveLink> {
    for (const { link } of this.#current.values()) yield link;
  }

  /** The peers that this router dials or would dial. */
  peers(): Iterable<PeerView> {
    return this.#peers.values();
  }

  peer(peerId: string): PeerView | undefined {
    return this.#peers.get(peerId);
  }

  #handle(event: LinkEvent): void {
    switch (event.kind) {
      case 'peerHealthy':
        this.#onHealthy(event.peerId, event.version, event.listeners);
        break;
      case 'peerUnhealthy':
        this.#onUnhealthy(event.peerId);
        break;
      case 'peerRemoved':
        this.#onRemoved(event.peerId);
        break;
      case 'dialFailed':
        this.#onDialFailed(event.order, event.fault);
        break;
      case 'linkUp':
        this.#onUp(event.link);
        break;
      case 'linkClosed':
        this.#onClosed(event.link);
        break;
      case 'linkFault':
        this.#onFault(event.linkId, event.iteration);
        break;
      case 'tick':
        this.#onTick();
        break;
    }
  }

  #onHealthy(peerId: string, version: string, listeners: readonly PeerListener[]): void {
    if (peerId === this.#options.routerId) return;
    let peer = this.#peers.get(peerId);
    const becameHealthy = peer !== undefined && !peer.isHealthy;
    if (peer === undefined) {
      if (this.#peers.size >= MAX_PEERS) return;
      peer = { id: peerId, version, isHealthy: true, unhealthySinceMs: 0, links: new Map() };
      this.#peers.set(peerId, peer);
    }
    peer.version = version;
    peer.isHealthy = true;
    const orphans = new Map(peer.links);
    const seen = new Set<string>();
    for (const listener of listeners.slice(0, MAX_LISTENERS_PER_PEER)) {
      for (const [dialer, rule] of this.#options.dialers.entries()) {
        if (!dials(rule, listener)) continue;
        const key = linkKey(rule.binding, listener.protocol, peerId, listener.localBinding);
        if (seen.has(key)) continue;
        seen.add(key);
        orphans.delete(key);
        this.#offer(peer, key, listener, dialer, becameHealthy);
      }
    }
    for (const state of orphans.values()) {
      peer.links.delete(state.key);
      if (state.established?.isDialed === true) this.#close(state.established, 0, 'groups no longer match');
    }
  }

  #offer(
    peer: LinkedRouter,
    key: string,
    listener: PeerListener,
    dialer: number,
    becameHealthy: boolean,
  ): void {
    const known = peer.links.get(key);
    if (known === undefined) {
      const state: LinkState = {
        key,
        linkId: this.#options.newLinkId(),
        peer,
        status: 'pending',
        listener,
        dialer,
        dialAttempts: 0,
        connectedCount: 0,
        retryDelayMs: 0,
        nextDialMs: this.#nowMs,
        establishedMs: 0,
        isRedialDue: false,
        established: undefined,
      };
      peer.links.set(key, state);
      this.#evaluate(state);
      return;
    }
    const moved = known.listener.address !== listener.address;
    known.listener = listener;
    known.dialer = dialer;
    if (moved && known.established?.isDialed === true) {
      this.#close(known.established, 0, 'the address of the other router changed');
    }
    if (!becameHealthy && !moved) return;
    known.retryDelayMs = 0;
    known.nextDialMs = this.#nowMs;
    if (known.status === 'dialing') known.isRedialDue = true;
    else this.#evaluate(known);
  }

  #onUnhealthy(peerId: string): void {
    const peer = this.#peers.get(peerId);
    if (peer === undefined || !peer.isHealthy) return;
    peer.isHealthy = false;
    peer.unhealthySinceMs = this.#nowMs;
  }

  #onRemoved(peerId: string): void {
    this.#peers.delete(peerId);
    for (const { link } of this.#current.values()) {
      if (link.peerId === peerId) this.#close(link, 0, 'the other router was removed');
    }
  }

  #onDialFailed(order: DialOrder, fault: DialFault): void {
    const state = this.#stateOf(order);
    if (state?.status !== 'dialing') return;
    state.status = fault === 'queueFull' ? 'queueFailed' : 'dialFailed';
    if (state.isRedialDue) {
      state.isRedialDue = false;
      state.nextDialMs = this.#nowMs;
      this.#evaluate(state);
      return;
    }
    this.#backOff(state);
    if (fault === 'duplicate') state.nextDialMs += duplicateDelayMs(this.#options.random());
  }

  #onUp(link: LiveLink): void {
    const state = this.#peers.get(link.peerId)?.links.get(link.key);
    if (link.isDialed && state === undefined) {
      this.#close(link, 0, 'it is no longer wanted');
      return;
    }
    const current = this.#current.get(link.key);
    if (current !== undefined && current.link !== link) {
      // Ids are ASCII, so this compares bytes. Of two links with the same id, the later one is a redial, and the older
      // one is broken.
      if (current.link.id < link.id && current.rejectedCount < MAX_REJECTED) {
        current.rejectedCount += 1;
        this.#close(link, link.isDialed ? 0 : REJECTED_ACCEPTED_CLOSE_MS, 'duplicate of a link');
        if (state?.status === 'dialing') this.#establish(state, current.link);
        return;
      }
      this.#replace(current.link);
    }
    this.#current.set(link.key, { link, rejectedCount: 0 });
    if (state !== undefined) this.#establish(state, link);
    this.#effects.push({ kind: 'established', link });
  }

  #establish(state: LinkState, link: LiveLink): void {
    state.status = 'established';
    state.established = link;
    state.connectedCount += 1;
    state.establishedMs = this.#nowMs;
    state.isRedialDue = false;
  }

  #replace(link: LiveLink): void {
    this.#effects.push({ kind: 'replaced', link });
    const replaced = this.#replaced.get(link.key) ?? [];
    this.#replaced.set(link.key, replaced);
    replaced.push(link);
    this.#close(
      link,
      link.isDialed ? REPLACED_DIALED_CLOSE_MS : REPLACED_ACCEPTED_CLOSE_MS,
      'replaced by another link',
    );
    if (replaced.length > MAX_REPLACED_PER_KEY) this.#close(replaced[0]!, 0, 'replaced by another link');
  }

  #onClosed(link: LiveLink): void {
    const replaced = this.#replaced.get(link.key);
    const index = replaced?.indexOf(link) ?? -1;
    if (index >= 0) {
      replaced!.splice(index, 1);
      if (replaced!.length === 0) this.#replaced.delete(link.key);
      // The later link with the same id is still open.
      if (this.#current.get(link.key)?.link.id !== link.id) this.#effects.push({ kind: 'lost', link });
      return;
    }
    if (this.#current.get(link.key)?.link !== link) return;
    this.#current.delete(link.key);
    this.#effects.push({ kind: 'lost', link });
    const state = this.#peers.get(link.peerId)?.links.get(link.key);
    if (state === undefined) return;
    state.established = undefined;
    state.status = 'linkFailed';
    if (this.#nowMs - state.establishedMs < STABLE_MS && !this.#wasMoved(state)) {
      this.#backOff(state);
      return;
    }
    state.retryDelayMs = 0;
    state.nextDialMs = this.#nowMs;
    this.#evaluate(state);
  }

  /** The link was closed because its address changed, and `#offer` has scheduled the next dial. */
  #wasMoved(state: LinkState): boolean {
    return state.nextDialMs > state.establishedMs;
  }

  #onFault(linkId: string, iteration: number): void {
    const others = [...this.#replaced.values()].flat();
    for (const link of [...this.links(), ...others]) {
      if (link.id !== linkId || (iteration > 0 && iteration < link.iteration)) continue;
      this.#close(link, 0, 'a controller reported a fault');
    }
  }

  #onTick(): void {
    for (const peer of this.#peers.values()) {
      for (const state of peer.links.values()) if (this.#isWaiting(state)) this.#evaluate(state);
    }
    if (this.#nowMs < this.#nextScanMs) return;
    this.#nextScanMs = this.#nowMs + FULL_SCAN_MS;
    for (const peer of this.#peers.values()) {
      const hasLink = [...peer.links.values()].some(({ established }) => established !== undefined);
      const isLost = !peer.isHealthy && this.#nowMs - peer.unhealthySinceMs > FORGOTTEN_AFTER_MS;
      if (peer.links.size === 0 || (isLost && !hasLink)) this.#peers.delete(peer.id);
    }
  }

  #isWaiting({ status }: LinkState): boolean {
    return status !== 'established' && status !== 'dialing';
  }

  /** Dials if the delay has elapsed. */
  #evaluate(state: LinkState): void {
    if (!this.#isWaiting(state) || state.nextDialMs > this.#nowMs) return;
    const current = this.#current.get(state.key);
    if (current !== undefined) {
      this.#establish(state, current.link);
      return;
    }
    state.status = 'dialing';
    state.dialAttempts += 1;
    const { key, linkId, peer, dialer, listener } = state;
    this.#effects.push({
      kind: 'dial',
      order: {
        key,
        linkId,
        iteration: state.dialAttempts,
        peerId: peer.id,
        peerVersion: peer.version,
        dialer,
        address: listener.address,
      },
    });
  }

  /** The retry policy depends on the health of the peer. */
  #backOff(state: LinkState): void {
    const { healthyBackoff, unhealthyBackoff } = this.#options.dialers[state.dialer]!;
    const policy = state.peer.isHealthy ? healthyBackoff : unhealthyBackoff;
    state.retryDelayMs = retryDelayMs(state.retryDelayMs, policy, this.#options.random());
    state.nextDialMs = this.#nowMs + state.retryDelayMs;
  }

  #stateOf({ peerId, key, linkId, iteration }: DialOrder): LinkState | undefined {
    const state = this.#peers.get(peerId)?.links.get(key);
    return state?.linkId === linkId && state.dialAttempts === iteration ? state : undefined;
  }

  #close(link: LiveLink, afterMs: number, reason: string): void {
    this.#effects.push({ kind: 'close', link, afterMs, reason });
  }
}
