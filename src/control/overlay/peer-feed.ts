/** Tells routers of one another: who is connected, where its link listeners are, who is away or gone for good. */
import { ctrlMessages, PeerState } from '#wire/ctrl';
import type { ConnectedRouter, RouterRegistry } from './connected-router.ts';

export class PeerFeed {
  readonly #routers: RouterRegistry;

  constructor(routers: RouterRegistry) {
    this.#routers = routers;
  }

  onConnect(router: ConnectedRouter): void {
    const others = [...this.#routers.all()].filter((each) => each !== router);
    if (others.length === 0) return;
    router.send(ctrlMessages.peerStateChanges.frame({ changes: others.map(healthy) }));
    for (const other of others)
      other.send(ctrlMessages.peerStateChanges.frame({ changes: [healthy(router)] }));
  }

  onGone(routerId: string): void {
    this.#tell(routerId, PeerState.UNHEALTHY);
  }

  onRemoved(routerId: string): void {
    this.#tell(routerId, PeerState.REMOVED);
  }

  #tell(id: string, state: PeerState): void {
    for (const router of this.#routers.all()) {
      if (router.id !== id) router.send(ctrlMessages.peerStateChanges.frame({ changes: [{ id, state }] }));
    }
  }
}

function healthy({ id, version, listeners }: ConnectedRouter) {
  return { id, version, state: PeerState.HEALTHY, listeners: [...listeners] };
}
