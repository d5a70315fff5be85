/**
 * Sends routers the list of control planes, when they connect and whenever it changes. A single control plane
 * sends nothing, because a router that knows it by another address would lose that address.
 */
import type { Log } from '#base';
import type { Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { FabricEvents } from '../model/fabric-events.ts';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';

export interface ClusterMembers {
  /** `tls:host:port` addresses that routers dial. */
  readonly addresses: readonly string[];
  /** A newer membership has a higher index, whichever control plane sends it. */
  readonly index: bigint;
  /** True for exactly one of them. */
  readonly isLeader: boolean;
}

export interface ClusterSource {
  /** Returns undefined if it is not known, or there is nothing to send. */
  members(): ClusterMembers | undefined;
  onMembersChange(listener: () => void): void;
}

export class ClusterAnnouncer {
  readonly #routers: RouterRegistry;
  readonly #source: ClusterSource | undefined;
  readonly #events: FabricEvents;
  readonly #log: Log;
  #wasLeader = false;

  constructor(routers: RouterRegistry, source: ClusterSource | undefined, events: FabricEvents, log: Log) {
    this.#routers = routers;
    this.#source = source;
    this.#events = events;
    this.#log = log;
    source?.onMembersChange(() => this.#onChange());
  }

  onConnect(router: ConnectedRouter): void {
    const members = this.#source?.members();
    this.#send([router], members);
    // Another control plane may have sent the same membership with a higher index; then this list is ignored.
    if (members?.isLeader === true) router.send(leaderFrame(members.index));
  }

  /** RequestClusterMembers. The response is not a reply frame. */
  onRequest(router: ConnectedRouter): void {
    this.#send([router], this.#source?.members());
  }

  #onChange(): void {
    const members = this.#source?.members();
    if (members === undefined) return;
    const { addresses, index, isLeader } = members;
    this.#log.info({ addresses, isLeader }, 'control planes changed; notifying routers');
    this.#send(this.#routers.all(), members);
    if (isLeader && !this.#wasLeader) {
      for (const router of this.#routers.all()) router.send(leaderFrame(index));
    }
    const event = { index: Number(index), addresses };
    this.#events.emit('cluster', { ...event, type: 'members.changed' });
    if (isLeader !== this.#wasLeader)
      this.#events.emit('cluster', { ...event, type: isLeader ? 'leadership.gained' : 'leadership.lost' });
    this.#wasLeader = isLeader;
  }

  #send(routers: Iterable<ConnectedRouter>, members: ClusterMembers | undefined): void {
    if (members === undefined || members.addresses.length === 0) return;
    const { addresses, index, isLeader } = members;
    for (const router of routers) {
      router.send(ctrlMessages.updateCtrlAddresses.frame({ addresses: [...addresses], index, isLeader }));
    }
  }
}

function leaderFrame(index: bigint): Frame {
  return ctrlMessages.updateClusterLeader.frame({ index });
}
