/**
 * The share for each host: one Map with one look-up per request. The entry is both the route of the request and
 * the basis of its access decision. A delta, or a slice of a list, is prepared first and then applied, which cannot
 * fail; a bad entry is closed or left out and reported, while the others are applied. `Slot` is the owner's state per entry.
 */
import { compileRules, type CompiledRules } from '#domain/access';
import type { GatewayShare, ServedShare } from '#domain/gateway-shapes';
import { failAlone } from '#net';
import { canonicalHost } from '../http/host-policy.ts';
import { closedShare, type FeedProblem } from './closed-share.ts';
import { isSameShare } from './share-comparison.ts';
import { HostEntry, ShareRoute, type ShareName } from './share-route.ts';
import { StreamRoutes } from './stream-routes.ts';

export interface ShareRouteTableOptions<Slot> {
  readonly makeSlot: (share: GatewayShare) => Slot;
  /** Called for each route that was replaced or withdrawn, after the table has changed. */
  readonly onRetired: (route: ShareRoute<Slot>) => void;
  readonly maxShares?: number;
}

const MAX_SHARES = 2_000_000;
/** Shares that one step of a replacement changes, which takes some milliseconds. */
const SHARES_PER_STEP = 500;

export class ShareRouteTable<Slot> {
  readonly #options: ShareRouteTableOptions<Slot>;
  readonly #byHost = new Map<string, HostEntry<Slot>>();
  readonly #byId = new Map<string, ShareRoute<Slot>>();
  #loaded = false;
  /** Number of shares that request a client certificate. */
  #asking = 0;
  /** Numbers of shares by organization. */
  readonly #organizations = new Map<string, number>();
  /** The shares that do not speak HTTP, which have no hosts here. */
  readonly streams = new StreamRoutes<Slot>();
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

  /** All names, in an iteration that may pause while shares change. */
  entries(): IterableIterator<HostEntry<Slot>> {
    return this.#byHost.values();
  }

  /** Looks up by the overlay service's id. */
  route(id: string): ShareRoute<Slot> | undefined {
    return this.#byId.get(id);
  }

  /** Returns the authorities (PEM) for which a host requests client certificates, or undefined if it requests none. */
  clientAuthorities(host: string): readonly string[] | undefined {
    const entry = this.#byHost.get(host) ?? this.streams.named(host)?.host;
    return entry?.route.share.rules?.clientCertificate?.authorities;
  }

  get hasClientAuthorities(): boolean {
    return this.#asking > 0;
  }

  /** How many organizations have shares here. Those of older control planes count as one. */
  get organizationCount(): number {
    return this.#organizations.size;
  }

  shares(): ServedShare[] {
    return Array.from(this.#byId.values(), (route) => route.share);
  }

  /** Applies the whole list at once and returns its problems. */
  replaceAll(shares: readonly ServedShare[]): readonly FeedProblem[] {
    const steps = this.replacement(shares);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  }

  /**
   * Applies the whole list in steps, and returns its problems. Requests may be served between two steps: withdrawn
   * shares are removed first, then each share has its old or its new route. `change` must wait for the last step.
   */
  *replacement(shares: readonly ServedShare[]): Generator<undefined, readonly FeedProblem[]> {
    const problems: FeedProblem[] = [];
    const listed = new Set<string>();
    for (const slice of slicesOf(shares)) {
      for (const { id } of slice) listed.add(id);
      if (slice.length === SHARES_PER_STEP) yield;
    }
    for (const slice of slicesOf([...this.#byId.keys()])) {
      const withdrawn = slice.filter((id) => !listed.has(id));
      if (withdrawn.length > 0) this.#apply([], withdrawn, new Set(), problems);
      if (slice.length === SHARES_PER_STEP) yield;
    }
    const seen = new Set<string>();
    for (const slice of slicesOf(shares)) {
      this.#apply(slice, [], seen, problems);
      if (slice.length === SHARES_PER_STEP) yield;
    }
    this.#loaded = true;
    return [...problems, ...this.#contested(this.#waiting)];
  }

  /** Applies one change and returns its problems. */
  change(set: readonly ServedShare[], removed: readonly string[]): readonly FeedProblem[] {
    const problems: FeedProblem[] = [];
    const routes = this.#apply(set, removed, new Set(), problems);
    return [...problems, ...this.#contested(routes)];
  }

  /** Returns the routes of `set`. `seen` has the ids that came before `set` in the same list, and gets those of `set`. */
  #apply(
    set: readonly ServedShare[],
    removed: readonly string[],
    seen: Set<string>,
    problems: FeedProblem[],
  ): Iterable<ShareRoute<Slot>> {
    const withdrawn: string[] = [];
    const routes = this.#prepare(set, removed, seen, problems, withdrawn);
    const before = new Map<string, ShareRoute<Slot>>();
    for (const id of [...removed, ...withdrawn, ...routes.keys()]) {
      const route = this.#byId.get(id);
      if (route === undefined) continue;
      before.set(id, route);
      this.#remove(route);
    }
    for (const route of routes.values()) {
      this.#byId.set(route.share.id, route);
      if (isAsking(route.share)) this.#asking += 1;
      this.#count(route.share, 1);
      this.streams.add(route);
      this.#takeNames(route);
    }
    for (const route of this.#waiting) this.#takeNames(route);
    for (const [id, route] of before) {
      const now = this.#byId.get(id);
      if (now === route) continue;
      const isRevoked =
        now === undefined || now.share.unreadable !== undefined || isNarrower(route.share, now.share);
      for (const each of [route, ...(route.targets?.routes ?? [])]) this.#retire(each, isRevoked);
    }
    return routes.values();
  }

  #retire(route: ShareRoute<Slot>, isRevoked: boolean): void {
    route.retired = true;
    route.revoked = isRevoked;
    try {
      this.#options.onRetired(route);
    } catch (error) {
      failAlone({ kind: 'record', id: `the share ${route.share.token}` }, error);
    }
  }

  /**
   * Returns the new routes by id, and adds those to `withdrawn` that cannot even be closed. Only this part of a change may encounter
   * unexpected data.
   */
  #prepare(
    set: readonly ServedShare[],
    removed: readonly string[],
    seen: Set<string>,
    problems: FeedProblem[],
    withdrawn: string[],
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
      try {
        routes.set(share.id, this.#checkedRouteOf(share, seen, problems));
      } catch (error) {
        // Its new rules are unknown, so that it must not be served by the former ones.
        withdrawn.push(share.id);
        const fail = (): void =>
          void routes.set(share.id, this.#routeOf(closed(share, 'internal error'), problems));
        failAlone({ kind: 'record', id: `the share ${share.token}`, fail }, error);
        problems.push(problemOf(share, 'internal error'));
      }
    }
    return routes;
  }

  #checkedRouteOf(share: ServedShare, seen: Set<string>, problems: FeedProblem[]): ShareRoute<Slot> {
    const problem = wrongFieldOf(share, seen);
    seen.add(share.id);
    if (problem === undefined) return this.#routeOf(share, problems);
    problems.push(problemOf(share, problem));
    return this.#routeOf(closed(share, problem), problems);
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
    return new ShareRoute(taken, rules, this.#options.makeSlot);
  }

  #remove(route: ShareRoute<Slot>): void {
    this.#byId.delete(route.share.id);
    this.#waiting.delete(route);
    if (isAsking(route.share)) this.#asking -= 1;
    this.#count(route.share, -1);
    this.streams.remove(route);
    for (const { host } of namesOf(route.share))
      if (this.#byHost.get(host)?.route === route) this.#byHost.delete(host);
  }

  #count({ organizationId = '' }: ServedShare, change: number): void {
    const count = (this.#organizations.get(organizationId) ?? 0) + change;
    if (count > 0) this.#organizations.set(organizationId, count);
    else this.#organizations.delete(organizationId);
  }

  /** Takes each name of the route that no other share has. The route waits for the others. */
  #takeNames(route: ShareRoute<Slot>): void {
    let isComplete = true;
    for (const name of namesOf(route.share)) {
      const owner = this.#byHost.get(name.host)?.route;
      if (owner === undefined) this.#byHost.set(name.host, new HostEntry(name, route));
      else if (owner !== route) isComplete = false;
    }
    if (isComplete) this.#waiting.delete(route);
    else this.#waiting.add(route);
  }

  /** Returns a problem for each of the routes that waits for a name. */
  *#contested(routes: Iterable<ShareRoute<Slot>>): Generator<FeedProblem> {
    for (const route of routes) {
      if (!this.#waiting.has(route)) continue;
      const name = namesOf(route.share).findLast(({ host }) => this.#byHost.get(host)?.route !== route);
      yield problemOf(route.share, `hosts: ${name!.host} belongs to another share`);
    }
  }
}

function* slicesOf<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += SHARES_PER_STEP) yield list.slice(at, at + SHARES_PER_STEP);
}

function wrongFieldOf(share: ServedShare, others: ReadonlySet<string>): string | undefined {
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
function namesOf(share: GatewayShare): ShareName[] {
  const { hosts, authProviderIds, customHosts } = share;
  return [...hosts.map((host) => ({ host, authProviderIds })), ...customHosts];
}

function isAsking({ rules }: GatewayShare): boolean {
  return rules !== null && rules.clientCertificate !== null;
}

function isNarrower(before: GatewayShare, now: GatewayShare): boolean {
  const [was, is] = [before.ingress, now.ingress];
  if (was?.kind !== is?.kind || was?.port !== is?.port) return true;
  const names = new Set([...namesOf(now).map(({ host }) => host), ...(is?.hosts ?? [])]);
  return (
    namesOf(before).some(({ host }) => !names.has(host)) ||
    (was?.hosts ?? []).some((host) => !names.has(host))
  );
}
