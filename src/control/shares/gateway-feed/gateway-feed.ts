/**
 * The public shares and their guards as a versioned stream for gateways. The changes of one tick make one delta;
 * the last deltas are kept so that a gateway that was away briefly can resume. This file uses the catalog and
 * produces lines of text; it does not use sockets.
 */
import { definedFields } from '#base';
import { BACKEND_MODE_TABLE, ingressHostsOf, type GuardedShare } from '#domain';
import { sentAccessRules, type AccessRules } from '#domain/access';
import type { GatewayDelta, GatewayFeedEvent, GatewayShare } from '#domain/gateway-shapes';
import { gatewayUpstreamOf } from '#domain/upstream';
import { contain, mapAlone } from '#net';
import type { AccessChange, GatewayAccessSource } from '../logins/gateway-access.ts';
import type { ShareCatalog } from '../catalog/share-catalog.ts';

/** Shares of one line of a snapshot in parts. */
export const SHARES_PER_PART = 200;
const MAX_KEPT_DELTAS = 1_024;
const MAX_KEPT_CHANGES = 50_000;

type Delta = Omit<GatewayDelta, 'type'>;

export interface FeedVersion {
  readonly version: number;
  readonly epoch: string;
}

export type FeedListener = (line: string) => void;

export class GatewayFeed {
  readonly #catalog: ShareCatalog;
  readonly #access: GatewayAccessSource;
  readonly #epoch: string;
  readonly #listeners = new Set<FeedListener>();
  /** Ids of the published shares. */
  readonly #published = new Set<string>();
  #dirty = new DirtyParts();
  /** The published signing key, which also changes with time. */
  #sentKeys: string;
  #deltas: Delta[] = [];
  #keptChanges = 0;
  #version = 1;
  #planned = false;

  /** `epoch` identifies this run. Versions of another run are not comparable. */
  constructor(catalog: ShareCatalog, access: GatewayAccessSource, epoch: string) {
    this.#catalog = catalog;
    this.#access = access;
    this.#epoch = epoch;
    this.#sentKeys = this.#keyIds();
    for (const { id, shareMode } of catalog.all()) if (shareMode === 'public') this.#published.add(id);
    catalog.onChange((shareId) => {
      this.#dirty.shares.add(shareId);
      this.#plan();
    });
    access.onChange((change) => {
      if (change.type === 'missed') this.#startOver();
      else {
        this.#dirty.note(change);
        this.#plan();
      }
    });
  }

  /** Returns the first lines for a subscriber: the deltas since its version if all are known, otherwise a snapshot. */
  opening(since: FeedVersion | undefined): string[] {
    return this.missedSince(since) ?? [this.#snapshot()];
  }

  /** Returns the deltas since a version, or undefined if they are not all known. */
  missedSince(since: FeedVersion | undefined): string[] | undefined {
    this.flush();
    if (since?.epoch !== this.#epoch || since.version > this.#version) return undefined;
    const missed = this.#deltas.filter((delta) => delta.version > since.version);
    if (missed.length !== this.#version - since.version) return undefined;
    return missed.map((delta) => line({ type: 'delta', ...delta }));
  }

  get position(): FeedVersion {
    return { version: this.#version, epoch: this.#epoch };
  }

  /**
   * Returns the lines of a snapshot in parts, each built when it is taken, from the catalog as it is then. The deltas after
   * the position before the first line make the whole consistent.
   */
  *snapshotInParts(): Generator<string, void> {
    let isFirst = true;
    let shares: GatewayShare[] = [];
    const part = (isContinued: boolean): string => {
      const some = shares;
      shares = [];
      if (!isFirst) return line({ type: 'shares', shares: some, isContinued });
      isFirst = false;
      return this.#snapshot(some, isContinued);
    };
    for (const share of this.#catalog.all()) {
      if (share.shareMode !== 'public') continue;
      if (shares.length === SHARES_PER_PART) yield part(true);
      shares.push(...this.#gatewayShares([share]));
    }
    yield part(false);
  }

  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  heartbeat(): void {
    if (this.#keyIds() !== this.#sentKeys) {
      this.#dirty.keys = true;
      this.flush();
    }
    this.#notify(line({ type: 'heartbeat' }));
  }

  /** Publishes the pending changes. */
  flush(): void {
    this.#planned = false;
    const dirty = this.#dirty;
    if (dirty.isEmpty) return;
    this.#dirty = new DirtyParts();
    const { set, removed } = this.#shares(dirty.shares);
    const providers = [...dirty.providers].flatMap((id) => this.#access.provider(id) ?? []);
    const removedProviders = [...dirty.providers].filter((id) => this.#access.provider(id) === undefined);
    if (dirty.keys) this.#sentKeys = this.#keyIds();
    const more = {
      ...(providers.length === 0 ? {} : { providers }),
      ...(removedProviders.length === 0 ? {} : { removedProviders }),
      ...(dirty.endedSessions.size === 0 ? {} : { endedSessions: [...dirty.endedSessions] }),
      ...(dirty.zones ? { zones: this.#access.zones(), zoneOwners: [...this.#access.zoneOwners()] } : {}),
      ...(dirty.keys ? { keys: this.#access.keys() } : {}),
    };
    if (set.length === 0 && removed.length === 0 && Object.keys(more).length === 0) return;
    this.#version += 1;
    const delta = { version: this.#version, set, removed, ...more };
    this.#keep(delta);
    this.#notify(line({ type: 'delta', ...delta }));
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(() => this.flush());
  }

  #shares(ids: ReadonlySet<string>): Pick<Delta, 'set' | 'removed'> {
    const set: GatewayShare[] = [];
    const removed: string[] = [];
    for (const id of ids) {
      const share = this.#catalog.get(id);
      if (share?.shareMode === 'public') {
        const [published] = this.#gatewayShares([share]);
        // Gateways must not serve it by its former rules.
        if (published === undefined) removed.push(id);
        else set.push(published);
        this.#published.add(id);
      } else if (this.#published.delete(id)) {
        removed.push(id);
      }
    }
    return { set, removed };
  }

  #snapshot(shares = this.#publicShares(), isContinued = false): string {
    return line({
      type: 'snapshot',
      version: this.#version,
      epoch: this.#epoch,
      shares,
      ...(isContinued ? { isContinued } : {}),
      providers: this.#access.providers(),
      zones: this.#access.zones(),
      zoneOwners: [...this.#access.zoneOwners()],
      keys: this.#access.keys(),
    });
  }

  #gatewayShares(shares: readonly GuardedShare[]): GatewayShare[] {
    return mapAlone(
      shares,
      ({ token }) => `the share ${token}`,
      (share) => gatewayShare(share, this.#access.organizationOf(share.frontdoorId)),
    );
  }

  #publicShares(): GatewayShare[] {
    return this.#gatewayShares([...this.#catalog.all()].filter(({ shareMode }) => shareMode === 'public'));
  }

  /** Ended sessions may have been missed. A snapshot makes gateways drop all cached sessions. */
  #startOver(): void {
    this.flush();
    this.#version += 1;
    this.#deltas = [];
    this.#keptChanges = 0;
    this.#notify(this.#snapshot());
  }

  #keyIds(): string {
    return this.#access
      .keys()
      .identityKeys.map(({ kid }) => kid)
      .join();
  }

  #keep(delta: Delta): void {
    this.#deltas.push(delta);
    this.#keptChanges += sizeOf(delta);
    while (this.#deltas.length > MAX_KEPT_DELTAS || this.#keptChanges > MAX_KEPT_CHANGES) {
      const oldest = this.#deltas.shift();
      if (oldest === undefined) return;
      this.#keptChanges -= sizeOf(oldest);
    }
  }

  #notify(text: string): void {
    for (const listener of this.#listeners)
      contain({ kind: 'connection', id: 'of a gateway that follows the feed' }, () => listener(text));
  }
}

/** Changes since the last line. */
class DirtyParts {
  readonly shares = new Set<string>();
  readonly providers = new Set<string>();
  readonly endedSessions = new Set<string>();
  zones = false;
  keys = false;

  get isEmpty(): boolean {
    const { shares, providers, endedSessions, zones, keys } = this;
    return shares.size + providers.size + endedSessions.size === 0 && !zones && !keys;
  }

  note(change: Exclude<AccessChange, { type: 'missed' }>): void {
    if (change.type === 'provider') this.providers.add(change.id);
    else if (change.type === 'ended-session') this.endedSessions.add(change.id);
    else this[change.type] = true;
  }
}

function sizeOf({
  set,
  removed,
  providers = [],
  removedProviders = [],
  endedSessions = [],
  zones = [],
}: Delta) {
  return (
    set.length +
    removed.length +
    // Each provider may have a thousand keys.
    10 * providers.length +
    removedProviders.length +
    endedSessions.length +
    zones.length
  );
}

function line(event: GatewayFeedEvent): string {
  return `${JSON.stringify(event)}\n`;
}

function gatewayShare(share: GuardedShare, organizationId: string | undefined): GatewayShare {
  const { id, token, authProviderIds, rules, inspection } = share;
  const { frontdoorId, environmentId, updatedAtMs } = share;
  return {
    id,
    token,
    authProviderIds,
    inspection,
    frontdoorId,
    environmentId,
    updatedAtMs,
    ...namesOf(share),
    // The reader adds the defaults.
    rules: rules === null ? null : (sentAccessRules(rules) as AccessRules),
    ...definedFields({ organizationId, upstream: gatewayUpstreamOf(share.upstream, share) }),
  };
}

/** A share of a stream is served by HTTP under no name, also at gateways that know no streams. */
function namesOf(share: GuardedShare): Pick<GatewayShare, 'hosts' | 'customHosts' | 'ingress'> {
  const { frontends, customHosts, backendMode, ingress, ingressPort } = share;
  if (ingress !== null) {
    const isUdp = BACKEND_MODE_TABLE[backendMode].speaks === 'datagrams';
    const kind = isUdp ? ('udp-port' as const) : ingress;
    const reached = {
      kind,
      hosts: [...ingressHostsOf(share)],
      ...definedFields({ port: ingressPort ?? undefined }),
    };
    return { hosts: [], customHosts: [], ingress: reached };
  }
  return {
    hosts: frontends.map(({ host }) => host),
    customHosts: customHosts.map(({ customFrontendId, host, authProviderIds: guards }) => {
      const custom = { host, authProviderIds: guards };
      return customFrontendId === null ? { ...custom, isDomain: true } : custom;
    }),
  };
}
