/**
 * The entities of the edge management API in memory, and what their policies permit. It concerns only identities and
 * services of that API; environments and shares have rules of their own (ADR 0034). Policies that name services by id
 * are indexed, because programs create one or two for each service.
 */
import { builtInEntities } from './built-in-entities.ts';
import {
  attributedOf,
  edgePolicyOf,
  edgeServiceOf,
  isTunnelRouter,
  tunnelIdentityOf,
  type EdgeEntityKind,
  type EdgeEntityRecord,
  type EdgePolicy,
  type ManagedService,
} from './edge-entity.ts';
import { PolicyIndex } from './policy-index.ts';
import { PostureChecks } from './posture-checks.ts';
import { routerTraitsOf, USUAL_TRAITS, type RouterTraits } from './router-traits.ts';
import { isSelected, type Attributed, type RoleSelection } from './role-policy.ts';

const NONE: ReadonlyMap<string, EdgeEntityRecord> = new Map<string, EdgeEntityRecord>();

export class EdgeModel {
  readonly postureChecks = new PostureChecks();
  readonly #byKind = new Map<EdgeEntityKind, Map<string, EdgeEntityRecord>>();
  readonly #kinds = new Map<string, EdgeEntityKind>();
  readonly #identities = new Map<string, Attributed>();
  readonly #routers = new Map<string, Attributed>();
  readonly #traits = new Map<string, RouterTraits>();
  #traitsVersion = 0;
  readonly #services = new Map<string, ManagedService>();
  readonly #servicesByName = new Map<string, ManagedService>();
  readonly #policies = new Map<string, EdgePolicy>();
  readonly #indexes = {
    servicePoliciesByService: new PolicyIndex(({ services }) => services),
    servicePoliciesByIdentity: new PolicyIndex(({ identities }) => identities),
    routerPoliciesByIdentity: new PolicyIndex(({ identities }) => identities),
    routerPoliciesByService: new PolicyIndex(({ services }) => services),
  };

  get(kind: EdgeEntityKind, id: string): EdgeEntityRecord | undefined {
    return this.#byKind.get(kind)?.get(id) ?? builtInEntities(kind).find((entity) => entity.id === id);
  }

  count(kind: EdgeEntityKind): number {
    return this.#byKind.get(kind)?.size ?? 0;
  }

  configTypes(): EdgeEntityRecord[] {
    return this.withBuiltIns('config-type');
  }

  /** All entities of the kind, with the built-in ones that no row replaces. */
  withBuiltIns(kind: EdgeEntityKind): EdgeEntityRecord[] {
    const records = this.#byKind.get(kind) ?? NONE;
    return [...builtInEntities(kind).filter(({ id }) => !records.has(id)), ...records.values()];
  }

  find(id: string): EdgeEntityRecord | undefined {
    const kind = this.#kinds.get(id);
    return kind === undefined ? undefined : this.#byKind.get(kind)?.get(id);
  }

  /** Incremented whenever the traits of a router may have changed. */
  get traitsVersion(): number {
    return this.#traitsVersion;
  }

  /** A router that was made elsewhere has the usual ones. */
  routerTraits(id: string): RouterTraits {
    return this.#traits.get(id) ?? USUAL_TRAITS;
  }

  *records(): IterableIterator<EdgeEntityRecord> {
    for (const records of this.#byKind.values()) yield* records.values();
  }

  all(kind: EdgeEntityKind): IterableIterator<EdgeEntityRecord> {
    return (this.#byKind.get(kind) ?? NONE).values();
  }

  service(id: string): ManagedService | undefined {
    return this.#services.get(id);
  }

  serviceNamed(name: string): ManagedService | undefined {
    return this.#servicesByName.get(name);
  }

  services(): IterableIterator<ManagedService> {
    return this.#services.values();
  }

  policies(): IterableIterator<EdgePolicy> {
    return this.#policies.values();
  }

  policy(id: string): EdgePolicy | undefined {
    return this.#policies.get(id);
  }

  /** Returns the policies that select an identity or a service. */
  policiesSelecting(id: string): EdgePolicy[] {
    const [identity, service] = [this.#identities.get(id), this.#services.get(id)];
    return [...this.#policies.values()].filter(
      ({ semantic, identities, services }) =>
        (identity !== undefined && isSelected(identities, semantic, identity)) ||
        (service !== undefined && isSelected(services, semantic, service)),
    );
  }

  /** Whether the identity belongs to this API, so that its policies apply to it. */
  hasIdentity(id: string): boolean {
    return this.#identities.has(id);
  }

  /** Whether a router may tunnel, and its administrator gave it the role attribute (`mayTunnelFor` of the store). */
  tunnelsFor(routerId: string, role: string): boolean {
    return this.#identities.has(routerId) && this.#routerOf(routerId).roleAttributes.has(role);
  }

  /** Returns the identities of routers that may use their tunnel listeners. */
  tunnelIdentities(): EdgeEntityRecord[] {
    return [...this.all('edge-router')].filter(isTunnelRouter).map(tunnelIdentityOf);
  }

  isTunnelIdentity(id: string): boolean {
    return this.#kinds.get(id) === 'edge-router' && this.#identities.has(id);
  }

  /** Whether clients may connect to the router, and programs host at it. */
  hasEdge(routerId: string): boolean {
    return this.#kinds.get(routerId) !== 'transit-router';
  }

  identities(): IterableIterator<Attributed> {
    return this.#identities.values();
  }

  set(record: EdgeEntityRecord): void {
    this.remove(record.id);
    const { id, kind } = record;
    this.#kinds.set(id, kind);
    let records = this.#byKind.get(kind);
    if (records === undefined) this.#byKind.set(kind, (records = new Map()));
    records.set(id, record);
    if (kind === 'identity') this.#identities.set(id, attributedOf(record));
    else if (kind === 'edge-router') this.#setRouter(record);
    else if (kind === 'transit-router') this.#setTraits(record);
    else if (kind === 'posture-check') this.postureChecks.set(record);
    else if (kind === 'service') this.#setService(edgeServiceOf(record));
    else if (kind.endsWith('-policy')) this.#addPolicy(edgePolicyOf(record));
  }

  remove(id: string): void {
    const kind = this.#kinds.get(id);
    if (kind === undefined) return;
    this.#kinds.delete(id);
    if (this.#traits.delete(id)) this.#traitsVersion += 1;
    this.#byKind.get(kind)?.delete(id);
    this.postureChecks.remove(id);
    const name = this.#services.get(id)?.name;
    if (name !== undefined && this.#servicesByName.get(name)?.id === id) this.#servicesByName.delete(name);
    for (const each of [this.#identities, this.#routers, this.#services]) each.delete(id);
    const policy = this.#policies.get(id);
    if (policy === undefined) return;
    this.#policies.delete(id);
    for (const index of this.#indexesOf(policy)) index.remove(policy);
  }

  /** Whether some service policy of the type selects both. Policies may demand a posture besides. */
  permits(type: 'Dial' | 'Bind', identityId: string, serviceId: string): boolean {
    return this.grantingPolicies(type, identityId, serviceId).next().done === false;
  }

  /** Yields the service policies of the type that select both. */
  *grantingPolicies(
    type: 'Dial' | 'Bind',
    identityId: string,
    serviceId: string,
  ): Generator<EdgePolicy, undefined> {
    const identity = this.#identities.get(identityId);
    const service = this.#services.get(serviceId);
    if (identity === undefined || service === undefined) return undefined;
    for (const policy of this.#indexes.servicePoliciesByService.candidates(serviceId)) {
      if (policy.type !== type || !isSelected(policy.services, policy.semantic, service)) continue;
      if (isSelected(policy.identities, policy.semantic, identity)) yield policy;
    }
    return undefined;
  }

  /** Returns every service that the identity may dial or host. */
  servicesOf(identityId: string): ManagedService[] {
    const identity = this.#identities.get(identityId);
    if (identity === undefined) return [];
    const found = new Set<ManagedService>();
    for (const policy of this.#indexes.servicePoliciesByIdentity.candidates(identityId)) {
      if (!isSelected(policy.identities, policy.semantic, identity)) continue;
      for (const service of this.selectedServices(policy)) found.add(service);
    }
    return [...found];
  }

  selectedServices(policy: EdgePolicy): ManagedService[] {
    return selected(policy, policy.services, this.#services);
  }

  selectedIdentities(policy: EdgePolicy): Attributed[] {
    return selected(policy, policy.identities, this.#identities);
  }

  /** Whether an edge router policy lets the identity connect to the router. A router's own identity needs none. */
  mayUseRouter(identityId: string, routerId: string): boolean {
    const identity = this.#identities.get(identityId);
    if (identity === undefined || !this.hasEdge(routerId)) return false;
    if (identityId === routerId) return true;
    const router = this.#routerOf(routerId);
    for (const { identities, routers, semantic } of this.#indexes.routerPoliciesByIdentity.candidates(
      identityId,
    )) {
      if (isSelected(identities, semantic, identity) && isSelected(routers, semantic, router)) return true;
    }
    return false;
  }

  /** Whether a service edge router policy lets circuits of the service use the router. */
  mayCarry(serviceId: string, routerId: string): boolean {
    const service = this.#services.get(serviceId);
    if (service === undefined || !this.hasEdge(routerId)) return false;
    const router = this.#routerOf(routerId);
    for (const { services, routers, semantic } of this.#indexes.routerPoliciesByService.candidates(
      serviceId,
    )) {
      if (isSelected(services, semantic, service) && isSelected(routers, semantic, router)) return true;
    }
    return false;
  }

  /** A router that was made elsewhere has no attributes here. */
  #routerOf(id: string): Attributed {
    return this.#routers.get(id) ?? { id, roleAttributes: new Set() };
  }

  #setRouter(record: EdgeEntityRecord): void {
    const router = attributedOf(record);
    this.#routers.set(record.id, router);
    this.#setTraits(record);
    if (isTunnelRouter(record)) this.#identities.set(record.id, router);
  }

  #setTraits(record: EdgeEntityRecord): void {
    this.#traits.set(record.id, routerTraitsOf(record));
    this.#traitsVersion += 1;
  }

  #setService(service: ManagedService): void {
    this.#services.set(service.id, service);
    this.#servicesByName.set(service.name, service);
  }

  #addPolicy(policy: EdgePolicy): void {
    this.#policies.set(policy.id, policy);
    for (const index of this.#indexesOf(policy)) index.add(policy);
  }

  #indexesOf({ kind }: EdgePolicy): readonly PolicyIndex[] {
    const { servicePoliciesByService, servicePoliciesByIdentity, ...ofRouters } = this.#indexes;
    if (kind === 'service-policy') return [servicePoliciesByService, servicePoliciesByIdentity];
    return [
      kind === 'edge-router-policy' ? ofRouters.routerPoliciesByIdentity : ofRouters.routerPoliciesByService,
    ];
  }
}

function selected<T extends Attributed>(
  { semantic }: EdgePolicy,
  selection: RoleSelection,
  all: ReadonlyMap<string, T>,
): T[] {
  if (!selection.isAll && selection.attributes.length === 0)
    return [...selection.ids].flatMap((id) => all.get(id) ?? []);
  return [...all.values()].filter((entity) => isSelected(selection, semantic, entity));
}
