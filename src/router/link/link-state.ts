/** The state of `LinkRegistryMachine`: the peers that controllers announced, and each link to them. */
import type { PeerListener } from './link-dial-policy.ts';
import type { LiveLink } from './link-event.ts';

/** The names are OpenZiti's. OpenZiti keeps removed links as `destRemoved`; this router deletes them. */
export type LinkStatus = 'pending' | 'dialing' | 'established' | 'dialFailed' | 'linkFailed' | 'queueFailed';

/** A link that this router dials, or would dial if the peer had not dialed it. */
export interface LinkState {
  readonly key: string;
  /** Every dial of the link sends this id. The iteration number distinguishes the dials. */
  readonly linkId: string;
  readonly peer: LinkedRouter;
  status: LinkStatus;
  listener: PeerListener;
  /** Index of the dialer. */
  dialer: number;
  dialAttempts: number;
  connectedCount: number;
  retryDelayMs: number;
  nextDialMs: number;
  establishedMs: number;
  /** The peer became healthy while a dial was under way: if that fails, the next one follows at once. */
  isRedialDue: boolean;
  established: LiveLink | undefined;
}

export interface LinkedRouter {
  readonly id: string;
  version: string;
  isHealthy: boolean;
  unhealthySinceMs: number;
  /** Maps the key of a link to its state. */
  readonly links: Map<string, LinkState>;
}

/** A peer for readers, such as inspections, which cannot change it. */
export interface PeerView extends Readonly<Omit<LinkedRouter, 'links'>> {
  readonly links: ReadonlyMap<string, Readonly<LinkState>>;
}
