/** Events and effects of `LinkRegistryMachine`: peers as controllers report them, and links that open and close. */
import type { PeerListener } from './link-dial-policy.ts';

/** A link after its hello. The machine compares links by object identity, because two links can have the same id. */
export interface LiveLink {
  readonly id: string;
  readonly key: string;
  /** Id of the peer's router. */
  readonly peerId: string;
  readonly iteration: number;
  /** True when this router dialed the link, false when the peer did. */
  readonly isDialed: boolean;
}

/** One dial of a link. */
export interface DialOrder {
  readonly linkId: string;
  readonly key: string;
  readonly iteration: number;
  readonly peerId: string;
  readonly peerVersion: string;
  /** Index of the dialer. */
  readonly dialer: number;
  /** The address as `tls:host:port`. */
  readonly address: string;
}

export type DialFault =
  | 'failed'
  /** The dial was refused because the pool is full. */
  | 'queueFull'
  /** The peer closed the new link because it has another one with the same key. */
  | 'duplicate';

export type LinkEvent =
  | {
      readonly kind: 'peerHealthy';
      readonly peerId: string;
      readonly version: string;
      readonly listeners: readonly PeerListener[];
    }
  | { readonly kind: 'peerUnhealthy'; readonly peerId: string }
  | { readonly kind: 'peerRemoved'; readonly peerId: string }
  | { readonly kind: 'dialFailed'; readonly order: DialOrder; readonly fault: DialFault }
  | { readonly kind: 'linkUp'; readonly link: LiveLink }
  | { readonly kind: 'linkClosed'; readonly link: LiveLink }
  /** A controller reported that the link is broken. Iteration 0 stands for any iteration. */
  | { readonly kind: 'linkFault'; readonly linkId: string; readonly iteration: number }
  /** Time has passed. */
  | { readonly kind: 'tick' };

export type LinkEffect =
  | { readonly kind: 'dial'; readonly order: DialOrder }
  | {
      readonly kind: 'close';
      readonly link: LiveLink;
      readonly afterMs: number;
      readonly reason: string;
    }
  /** The link is now the current one of its key. */
  | { readonly kind: 'established'; readonly link: LiveLink }
  /** Another link has replaced this one, so its circuits must move. */
  | { readonly kind: 'replaced'; readonly link: LiveLink }
  /** The link was established and has closed. */
  | { readonly kind: 'lost'; readonly link: LiveLink };
