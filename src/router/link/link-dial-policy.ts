/**
 * Decides which links are dialed, with which keys and connections, and how long a failed dial is delayed. Pure;
 * `LinkRegistryMachine` keeps the state (peers, dialers, attempts).
 */
import type { BackOffOptions } from '#base';

/** The bounds of the wait after a failed dial, and the factor by which it grows. */
type DialBackoff = Omit<BackOffOptions, 'jitter'>;

/** An address at which a peer accepts links, as controllers report it. */
export interface PeerListener {
  /** The address as `tls:host:port`. */
  readonly address: string;
  readonly protocol: string;
  readonly groups: readonly string[];
  /** The interface of the listener; '' for all. */
  readonly localBinding: string;
}

/** The properties of a dialer that decide which peers it dials, and when. */
export interface DialerRule {
  readonly groups: readonly string[];
  /** Its interface, or '' if it has none. Part of a link's key. */
  readonly binding: string;
  readonly healthyBackoff: DialBackoff;
  readonly unhealthyBackoff: DialBackoff;
}

/** Groups of a listener or dialer without configured groups. */
const DEFAULT_GROUPS: readonly string[] = ['default'];

export function dials(dialer: DialerRule, listener: PeerListener): boolean {
  if (listener.protocol !== 'tls') return false;
  const groups = listener.groups.length === 0 ? DEFAULT_GROUPS : listener.groups;
  return groups.some((group) => dialer.groups.includes(group));
}

/** Both ends of a link compute keys of the same form. Two links with one key are duplicates. */
export function linkKey(
  dialerBinding: string,
  protocol: string,
  peerId: string,
  listenerBinding: string,
): string {
  return `${dialerBinding || 'default'}->${protocol}:${peerId}->${listenerBinding || 'default'}`;
}

export type LinkConnections = 'group' | 'split' | 'single';

/** Version 1.6.6 introduced groups of connections. `0.0.0` is a build from source, which supports them. */
export function connectionsTowards(version: string, isSplit: boolean): LinkConnections {
  const match = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+].*)?$/.exec(version);
  if (match !== null) {
    const [major, minor, patch] = match.slice(1).map(Number) as [number, number, number];
    if (major === 0 && minor === 0 && patch === 0) return 'group';
    if (major > 1 || (major === 1 && (minor > 6 || (minor === 6 && patch >= 6)))) return 'group';
  }
  return isSplit ? 'split' : 'single';
}

/**
 * Returns the delay after a failure in ms: `previousMs` (0 for the first failure) times a factor that is randomized by
 * up to 0.5 but never below 1, within the policy's bounds. `random` is from 0 to 1.
 */
export function retryDelayMs(previousMs: number, policy: DialBackoff, random: number): number {
  const factor = Math.max(1, policy.factor + random - 0.5);
  return Math.min(policy.maxMs, Math.max(policy.minMs, previousMs * factor));
}

/** Additional delay of 1 to 4 s if the peer already had such a link, so that both ends do not collide again. */
export function duplicateDelayMs(random: number): number {
  return 1_000 * (1 + Math.floor(random * 4));
}
