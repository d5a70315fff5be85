/**
 * Which share answers for a host: one Map, looked up once per request; the entry found is both where the request
 * goes and what decides whether it may. Fed with snapshots and deltas that are taken whole or not at all. `Slot` is
 * whatever the owner keeps per entry (idle circuits); this file neither makes connections nor knows the time.
 */
import { compileRules, type CompiledRules, type GatewayShare } from '#domain';
import { canonicalHost } from '../http/host-policy.ts';

/** A share as it was published once; a change makes a new route and retires this one. */
export class ShareRoute<Slot> {
  readonly share: GatewayShare;
  readonly rules: CompiledRules;
  readonly slot: Slot;
  /** Replaced or withdrawn: nothing new may use it. */
  retired = false;
  /** Withdrawn, or not under all of its names any more: what uses it must end now. */
  revoked = false;

  constructor(share: GatewayShare, slot: Slot) {
    this.share = share;
    this.rules = compileRules(share.rules);
    this.slot = slot;
  }
}

/** One name of a share: where its requests go and who guards it there, found together. */
export class HostEntry<Slot> {
  /** Canonical. */
  readonly host: string;
  readonly route: ShareRoute<Slot>;
  readonly authProviderIds: readonly string[];
  /** Nobody gets in without proving who he is. */
  readonly needsIdentity: boolean;
  /** There is some rule. */
  readonly isGuarded: boolean;

  constructor(host: string, route: ShareRoute<Slot>, authProviderIds: readonly string[]) {
    const { rules } = route.share;
    this.host = host;
    this.route = route;
    this.authProviderIds = authProviderIds;
    this.needsIdentity = authProviderIds.length > 0 || (rules?.basicAuth.length ?? 0) > 0;
    this.isGuarded = this.needsIdentity || rules !== null;
  }
}

export interface ShareTableOptions<Slot> {
  readonly makeSlot: (share: GatewayShare) => Slot;
  /** Called for each route that was replaced or withdrawn, after the table has changed. */
  readonly onRetired: (route: ShareRoute<Slot>) => void;
  readonly maxShares?: number;
}

const MAX_SHARES = 200_000;

export class ShareTable<Slot> {
  readonly #options: ShareTableOptions<Slot>;
  readonly #byHost = new Map<string, HostEntry<Slot>>();
  readonly #byId = new Map<string, ShareRoute<Slot>>();
  #loaded = false;
  /** Shares that ask their clients for a certificate. */
  #asking = 0;

  constructor(options: ShareTableOptions<Slot>) {
    this.#options = options;
  }

  /** Whether any share list has arrived yet, from the control plane or from disk. */
  get loaded(): boolean {
    return this.#loaded;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** By canonical host. */
  find(host: string): HostEntry<Slot> | undefined {
    return this.#byHost.get(host);
  }

  /** By the overlay service's id. */
  route(id: string): ShareRoute<Slot> | undefined {
    return this.#byId.get(id);
  }

  /** The authorities (PEM) whose certificates clients of a host are asked for; undefined: they are not asked. */
  clientAuthorities(host: string): readonly string[] | undefined {
    return this.#byHost.get(host)?.route.share.rules?.clientCertificate?.authorities;
  }

  get hasClientAuthorities(): boolean {
    return this.#asking > 0;
  }

  shares(): GatewayShare[] {
    return Array.from(this.#byId.values(), (route) => route.share);
  }

  /** Takes the whole list, or says why not and keeps the last good one. */
  replaceAll(shares: readonly GatewayShare[]): string | undefined {
    const problem = this.change(shares, [...this.#byId.keys()]);
    if (problem === undefined) this.#loaded = true;
    return problem;
  }

  /** Takes one change, or says why not and keeps everything as it was. */
  change(set: readonly GatewayShare[], removed: readonly string[]): string | undefined {
    const problem = this.#problem(set, removed);
    if (problem !== undefined) return problem;
    const before = new Map<string, ShareRoute<Slot>>();
    for (const id of [...removed, ...set.map((share) => share.id)]) {
      const route = this.#byId.get(id);
      if (route === undefined) continue;
      before.set(id, route);
      this.#byId.delete(id);
      if (isAsking(route.share)) this.#asking -= 1;
      for (const { host } of namesOf(route.share)) this.#byHost.delete(host);
    }
    for (const share of set) {
      const old = before.get(share.id);
      const same = old !== undefined && isSameShare(old.share, share);
      const route = same ? old : new ShareRoute(share, this.#options.makeSlot(share));
      this.#byId.set(share.id, route);
      if (isAsking(share)) this.#asking += 1;
      for (const { host, authProviderIds } of namesOf(share)) {
        this.#byHost.set(host, new HostEntry(host, route, authProviderIds));
      }
    }
    for (const [id, route] of before) {
      const now = this.#byId.get(id);
      if (now === route) continue;
      route.retired = true;
      route.revoked = now === undefined || isNarrower(route.share, now.share);
      this.#options.onRetired(route);
    }
    return undefined;
  }

  #problem(set: readonly GatewayShare[], removed: readonly string[]): string | undefined {
    const max = this.#options.maxShares ?? MAX_SHARES;
    const gone = new Set(removed);
    const ids = new Set<string>();
    const hosts = new Set<string>();
    for (const share of set) {
      if (ids.has(share.id)) return `share ${share.id} is listed twice`;
      ids.add(share.id);
      gone.add(share.id);
    }
    let kept = this.#byId.size;
    for (const id of gone) if (this.#byId.has(id)) kept -= 1;
    if (kept + set.length > max) return `more than ${max} shares`;
    for (const share of set) {
      for (const { host } of namesOf(share)) {
        if (canonicalHost(host) !== host)
          return `share ${share.id} has a host that is not canonical: ${host}`;
        const owner = this.#byHost.get(host);
        if (hosts.has(host) || (owner !== undefined && !gone.has(owner.route.share.id))) {
          return `host ${host} is listed for two shares`;
        }
        hosts.add(host);
      }
    }
    return undefined;
  }
}

/** Every name of a share with the providers that guard it there. */
function namesOf(
  share: GatewayShare,
): { readonly host: string; readonly authProviderIds: readonly string[] }[] {
  const { hosts, authProviderIds, customHosts } = share;
  return [...hosts.map((host) => ({ host, authProviderIds })), ...customHosts];
}

function isAsking({ rules }: GatewayShare): boolean {
  return rules !== null && rules.clientCertificate !== null;
}

function isNarrower(before: GatewayShare, now: GatewayShare): boolean {
  const names = new Set(namesOf(now).map(({ host }) => host));
  return namesOf(before).some(({ host }) => !names.has(host));
}

function isSameShare(a: GatewayShare, b: GatewayShare): boolean {
  return (
    a.updatedAtMs === b.updatedAtMs &&
    a.token === b.token &&
    a.frontdoorId === b.frontdoorId &&
    a.environmentId === b.environmentId &&
    isSameList(a.hosts, b.hosts) &&
    isSameList(a.authProviderIds, b.authProviderIds) &&
    isSameValue(a.customHosts, b.customHosts) &&
    isSameValue(a.rules, b.rules) &&
    isSameValue(a.inspection, b.inspection)
  );
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

/** Of values that came from one writer: their fields stand in one order. */
function isSameValue(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
