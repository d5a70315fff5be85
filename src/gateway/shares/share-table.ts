/**
 * The share for each host: one Map with one look-up per request. The entry is both the route of the request and
 * the basis of its access decision. A snapshot or delta is prepared first and then applied, which cannot fail; a
 * bad entry is closed or left out and reported, while the others are applied. `Slot` is the owner's state per
 * entry (idle circuits); this file opens no connections and reads no clock.
 */
import { compileRules, type CompiledRules, type GatewayShare, type ServedShare } from '#domain';
import { canonicalHost } from '../http/host-policy.ts';
import { closedShare, type FeedProblem } from './closed-share.ts';

/** One published version of a share. A change makes a new route and retires this one. */
export class ShareRoute<Slot> {
  readonly share: ServedShare;
  readonly rules: CompiledRules;
  readonly slot: Slot;
  /** Whether the route was replaced or withdrawn, so that nothing new may use it. */
  retired = false;
  /** Whether the share was withdrawn, or lost one of its names, so that current uses must end now. */
  revoked = false;

  /** `rules` are those of the share. */
  constructor(share: ServedShare, rules: CompiledRules, slot: Slot) {
    this.share = share;
    this.rules = rules;
    this.slot = slot;
  }
}

/** One name of a share, with its route and the providers that guard it under this name. */
export class HostEntry<Slot> {
  /** In canonical form. */
  readonly host: string;
  readonly route: ShareRoute<Slot>;
  readonly authProviderIds: readonly string[];
  /** Whether every caller must be identified. */
  readonly needsIdentity: boolean;
  /** Whether there is any rule. */
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

export interface ShareRouteTableOptions<Slot> {
  readonly makeSlot: (share: GatewayShare) => Slot;
  /** Called for each route that was replaced or withdrawn, after the table has changed. */
  readonly onRetired: (route: ShareRoute<Slot>) => void;
  readonly maxShares?: number;
}

const MAX_SHARES = 2_000_000;

export class ShareRouteTable<Slot> {
  readonly #options: ShareRouteTableOptions<Slot>;
  readonly #byHost = new Map<string, HostEntry<Slot>>();
  readonly #byId = new Map<string, ShareRoute<Slot>>();
  #loaded = false;
  /** Number of shares that request a client certificate. */
  #asking = 0;
  /** Routes with a name that another share still has. They get it when that share gives it up. */
  readonly #waiting = new Set<ShareRoute<Slot>>();

  constructor(options: ShareRouteTableOptions<Slot>) {
    this.#options = options;
  }

  /** Whether any share list has arrived, from the control plane or from disk. */
  get loaded(): boolean {
    return this.#loaded;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Looks up by canonical host. */
  find(host: string): HostEntry<Slot> | undefined {
    return this.#byHost.get(host);
  }

  /** Looks up by the overlay service's id. */
  route(id: string): ShareRoute<Slot> | undefined {
    return this.#byId.get(id);
  }

  /** Returns the authorities (PEM) for which a host requests client certificates, or undefined if it requests none. */
  clientAuthorities(host: string): readonly string[] | undefined {
    return this.#byHost.get(host)?.route.share.rules?.clientCertificate?.authorities;
  }

  get hasClientAuthorities(): boolean {
    return this.#asking > 0;
  }

  shares(): ServedShare[] {
    return Array.from(this.#byId.values(), (route) => route.share);
  }

  /** Applies the whole list and returns its problems. */
  replaceAll(shares: readonly ServedShare[]): readonly FeedProblem[] {
    const problems = this.change(shares, [...this.#byId.keys()]);
    this.#loaded = true;
    return problems;
  }

  /** Applies one change and returns its problems. */
  change(set: readonly ServedShare[], removed: readonly string[]): readonly FeedProblem[] {
    const problems: FeedProblem[] = [];
    const routes = this.#prepare(set, removed, problems);
    const before = new Map<string, ShareRoute<Slot>>();
    for (const id of [...removed, ...routes.keys()]) {
      const route = this.#byId.get(id);
      if (route === undefined) continue;
      before.set(id, route);
      this.#remove(route);
    }
    for (const route of routes.values()) {
      this.#byId.set(route.share.id, route);
      if (isAsking(route.share)) this.#asking += 1;
      const taken = this.#takeNames(route);
      if (taken !== undefined)
        problems.push(problemOf(route.share, `hosts: ${taken} belongs to another share`));
    }
    for (const route of this.#waiting) this.#takeNames(route);
    for (const [id, route] of before) {
      const now = this.#byId.get(id);
      if (now === route) continue;
      route.retired = true;
      route.revoked =
        now === undefined || now.share.unreadable !== undefined || isNarrower(route.share, now.share);
      this.#options.onRetired(route);
    }
    return problems;
  }

  /** Returns the new routes by id. Only this part of a change may encounter unexpected data. */
  #prepare(
    set: readonly ServedShare[],
    removed: readonly string[],
    problems: FeedProblem[],
  ): Map<string, ShareRoute<Slot>> {
    const max = this.#options.maxShares ?? MAX_SHARES;
    const routes = new Map<string, ShareRoute<Slot>>();
    let others = this.#byId.size;
    for (const id of new Set(removed)) if (this.#byId.has(id)) others -= 1;
    const gone = new Set(removed);
    for (const share of set) {
      const isNew = !routes.has(share.id) && (gone.has(share.id) || !this.#byId.has(share.id));
      if (isNew && others >= max) {
        problems.push(problemOf(share, `more than ${max} shares`));
        continue;
      }
      if (isNew) others += 1;
      const problem = wrongFieldOf(share, routes);
      if (problem !== undefined) problems.push(problemOf(share, problem));
      routes.set(share.id, this.#routeOf(problem === undefined ? share : closed(share, problem), problems));
    }
    return routes;
  }

  #routeOf(share: ServedShare, problems: FeedProblem[]): ShareRoute<Slot> {
    const old = this.#byId.get(share.id);
    if (old !== undefined && isSameShare(old.share, share)) return old;
    let taken = share;
    let rules: CompiledRules;
    try {
      rules = compileRules(share.rules);
    } catch {
      problems.push(problemOf(share, 'rules'));
      taken = closed(share, 'rules');
      rules = compileRules(null);
    }
    return new ShareRoute(taken, rules, this.#options.makeSlot(taken));
  }

  #remove(route: ShareRoute<Slot>): void {
    this.#byId.delete(route.share.id);
    this.#waiting.delete(route);
    if (isAsking(route.share)) this.#asking -= 1;
    for (const { host } of namesOf(route.share))
      if (this.#byHost.get(host)?.route === route) this.#byHost.delete(host);
  }

  /** Returns a name that another share has, if there is one. */
  #takeNames(route: ShareRoute<Slot>): string | undefined {
    let taken: string | undefined;
    for (const { host, authProviderIds } of namesOf(route.share)) {
      const owner = this.#byHost.get(host)?.route;
      if (owner === undefined) this.#byHost.set(host, new HostEntry(host, route, authProviderIds));
      else if (owner !== route) taken = host;
    }
    if (taken === undefined) this.#waiting.delete(route);
    else this.#waiting.add(route);
    return taken;
  }
}

function wrongFieldOf(share: ServedShare, others: ReadonlyMap<string, unknown>): string | undefined {
  if (others.has(share.id)) return 'id';
  return namesOf(share).every(({ host }) => canonicalHost(host) === host) ? undefined : 'hosts';
}

function closed(share: ServedShare, field: string): ServedShare {
  const hosts = namesOf(share).map(({ host }) => host);
  return closedShare({ ...share, hosts: hosts.filter((host) => canonicalHost(host) === host) }, field);
}

function problemOf({ id, token }: GatewayShare, field: string): FeedProblem {
  return { kind: 'share', id, token, field };
}

/** Returns every name of a share with the providers that guard it there. */
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

function isSameShare(a: ServedShare, b: ServedShare): boolean {
  return (
    a.updatedAtMs === b.updatedAtMs &&
    a.unreadable === b.unreadable &&
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

/** The values come from one writer, so that their fields have the same order. */
function isSameValue(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
