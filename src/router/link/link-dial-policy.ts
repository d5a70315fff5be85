/**
 * Which links are dialed, under which key, over which connections, and how long a failed one waits. Pure decisions;
 * what they rest on (peers, dialers, attempts) is kept by `LinkRegistryMachine`.
 */
import type { BackoffConfig } from '../config/router-config.ts';

/** An address where a peer accepts links, as controllers report it. */
export interface PeerListener {
  /** `tls:host:port`. */
  readonly address: string;
  readonly protocol: string;
  readonly groups: readonly string[];
  /** The interface that it listens on; '' for all. */
  readonly localBinding: string;
}

/** What of a dialer decides whom it dials and when. */
export interface DialerRule {
  readonly groups: readonly string[];
  /** Its interface; '' when it has none. Part of a link's key. */
  readonly binding: string;
  readonly healthyBackoff: BackoffConfig;
  readonly unhealthyBackoff: BackoffConfig;
}

/** Group names that a listener without any belongs to. */
const DEFAULT_GROUPS: readonly string[] = ['default'];

export function dials(dialer: DialerRule, listener: PeerListener): boolean {
  if (listener.protocol !== 'tls') return false;
  const groups = listener.groups.length === 0 ? DEFAULT_GROUPS : listener.groups;
  return groups.some((group) => dialer.groups.includes(group));
}

/** Both ends of a link come to keys of the same form; two links of one key are duplicates. */
export function linkKey(
  dialerBinding: string,
  protocol: string,
  peerId: string,
  listenerBinding: string,
): string {
  return `${dialerBinding || 'default'}->${protocol}:${peerId}->${listenerBinding || 'default'}`;
}

export type LinkConnections = 'group' | 'split' | 'single';

/** Groups of connections came with 1.6.6; `0.0.0` is a build from source, which has them. */
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
 * The delay after a failure, in ms: `previousMs` (0: the first failure) times a factor that is up to 0.5 more or less
 * than the policy's but never below 1, within the policy's bounds. `random` is from 0 to 1.
 */
export function retryDelayMs(previousMs: number, policy: BackoffConfig, random: number): number {
  const factor = Math.max(1, policy.factor + random - 0.5);
  return Math.min(policy.maxMs, Math.max(policy.minMs, previousMs * factor));
}

/** On top of that when the peer had such a link already: so that both ends do not meet again. 1 to 4 s. */
export function duplicateDelayMs(random: number): number {
  return 1_000 * (1 + Math.floor(random * 4));
}
