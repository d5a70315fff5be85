/** Notifies routers of other routers: connected ones with their link listeners, disconnected ones, and deleted ones. */
import type { Frame } from '#wire';
import { ctrlMessages, PeerState, type Listener } from '#wire/ctrl';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';

const MAX_LISTENERS = 64;
const MAX_TEXT_CHARACTERS = 512;
const MAX_GROUPS = 32;

export class PeerFeed {
  readonly #routers: RouterRegistry;
  /** Routers that others know, including disconnected ones; bounded by the model. */
  readonly #notified = new Set<string>();

  constructor(routers: RouterRegistry) {
    this.#routers = routers;
  }

  onConnect(router: ConnectedRouter): void {
    this.#notified.add(router.id);
    const others = [...this.#routers.all()].filter((each) => each !== router);
    if (others.length === 0) return;
    router.send(ctrlMessages.peerStateChanges.frame({ changes: others.map(healthy) }));
    this.#announceHealthy(router);
  }

  /** UpdateLinkListeners. @throws FrontdoorError `protocol` */
  onListeners(router: ConnectedRouter, frame: Frame): void {
    const { listeners } = ctrlMessages.updateLinkListeners.decode(frame.body);
    router.listeners = listeners.filter(isBounded).slice(0, MAX_LISTENERS);
    this.#announceHealthy(router);
  }

  onGone(routerId: string): void {
    this.#notify(routerId, PeerState.UNHEALTHY);
  }

  /** The router was deleted, whether connected or not. */
  onRemoved(routerId: string): void {
    if (this.#notified.delete(routerId)) this.#notify(routerId, PeerState.REMOVED);
  }

  #announceHealthy(router: ConnectedRouter): void {
    for (const other of this.#routers.all()) {
      if (other !== router) other.send(ctrlMessages.peerStateChanges.frame({ changes: [healthy(router)] }));
    }
  }

  #notify(id: string, state: PeerState): void {
    for (const router of this.#routers.all()) {
      if (router.id !== id) router.send(ctrlMessages.peerStateChanges.frame({ changes: [{ id, state }] }));
    }
  }
}

function healthy({ id, version, listeners }: ConnectedRouter) {
  return { id, version, state: PeerState.HEALTHY, listeners: [...listeners] };
}

function isBounded({ address, protocol, localBinding, groups }: Listener): boolean {
  return (
    groups.length <= MAX_GROUPS &&
    [address, protocol, localBinding, ...groups].every((text) => text.length <= MAX_TEXT_CHARACTERS)
  );
}
