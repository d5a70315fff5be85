/** Events and effects of `LinkRegistryMachine`: peers as controllers report them, and links that open and close. */
import type { PeerListener } from './link-dial-policy.ts';

/** A link after its hello. The machine compares links by object identity, because two links may have one id. */
export interface LiveLink {
  readonly id: string;
  readonly key: string;
  /** The router at the other end. */
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
  /** `tls:host:port`. */
  readonly address: string;
}

export type DialFault =
  | 'failed'
  /** The pool took no more dials. */
  | 'queueFull'
  /** It was closed before it was of use: the peer has such a link already. */
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
  /** A controller holds that the link is broken; iteration 0: whichever it is. */
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
  /** It is the link of its key now. */
  | { readonly kind: 'established'; readonly link: LiveLink }
  /** Another link took the place of this one: circuits have to move. */
  | { readonly kind: 'replaced'; readonly link: LiveLink }
  /** It was established, and is gone. */
  | { readonly kind: 'lost'; readonly link: LiveLink };
