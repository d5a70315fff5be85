/**
 * Tells routers which control planes there are: on connect, and whenever that changes. A control plane that is alone
 * with its database tells nothing: a router that knows it by another address would lose that.
 */
import type { Log } from '#base';
import type { Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { ConnectedRouter, RouterRegistry } from './connected-router.ts';

export interface ClusterMembers {
  /** `tls:host:port` of each, where routers dial it. */
  readonly addresses: readonly string[];
  /** Newer memberships have higher ones, at whichever control plane. */
  readonly index: bigint;
  /** Exactly one of them is. */
  readonly isLeader: boolean;
}

export interface ClusterSource {
  /** Undefined: not known, or there is nothing to tell. */
  members(): ClusterMembers | undefined;
  onMembersChange(listener: () => void): void;
}

export class ClusterAnnouncer {
  readonly #routers: RouterRegistry;
  readonly #source: ClusterSource | undefined;
  readonly #log: Log;
  #wasLeader = false;

  constructor(routers: RouterRegistry, source: ClusterSource | undefined, log: Log) {
    this.#routers = routers;
    this.#source = source;
    this.#log = log;
    source?.onMembersChange(() => this.#onChange());
  }

  onConnect(router: ConnectedRouter): void {
    const members = this.#source?.members();
    this.#send([router], members);
    // Another may have told the router of the same membership under a higher index: then this list counts no more.
    if (members?.isLeader === true) router.send(leaderFrame(members.index));
  }

  /** RequestClusterMembers; the answer is no reply. */
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
