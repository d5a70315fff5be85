/**
 * The state that the overlay needs without a query: identities, routers, services and their permissions. Loaded
 * from the store at start and after each change, so that requests do not query the database.
 */
import type { TerminatorStrategy } from '#domain';
import { failAlone } from '#net';
import type { FabricTerminator } from '../records/terminator-store.ts';
import type { EdgeEntityRecord } from './edge-entity.ts';
import { EdgeModel } from './edge-model.ts';
import type { RouterTraits } from './router-traits.ts';
import { isHostedService, type Service, type ProjectedService } from './service.ts';

export interface Identity {
  readonly id: string;
  /** `edge`: made through the edge management API. */
  readonly kind: 'environment' | 'gateway' | 'router' | 'edge';
  readonly name: string;
  /** In the front door that it was made for, which the overlay only passes on; null for those of the installation. */
  readonly ownerId: string | null;
  /** What the last of our agents that used it reported; null if none did. */
  readonly agentVersion?: string | null;
  /** SHA-1 of each leaf certificate that it may present, in lower-case hex. */
  readonly fingerprints: readonly string[];
}

/**
 * A service of the installation, without an organization, which routers themselves dial (`proxy` and `transport`
 * listeners) and terminate (`transport` dialers). Its name is unique among fabric services. Agents and gateways
 * do not see it.
 */
export interface FabricService {
  readonly id: string;
  readonly name: string;
  readonly terminatorStrategy: TerminatorStrategy;
}

/** A router as SDKs see it. */
export interface EdgeRouter {
  readonly id: string;
  readonly name: string;
  readonly hostname: string;
  readonly port: number;
  readonly isOnline: boolean;
  readonly traits?: RouterTraits;
}

/** A control plane as SDKs see it. */
export interface EdgeController {
  /** Name by which routers know it. */
  readonly id: string;
  /** `https://host:port` of its edge API, the preferred one first. */
  readonly apiUrls: readonly string[];
  /** Leaf of its edge API, PEM. */
  readonly certificatePem: string;
  /** When it last started, in Unix milliseconds. */
  readonly startedAtMs: number;
  /** False for one that died without leaving. */
  readonly isOnline: boolean;
}

export type ModelChange =
  | { readonly type: 'fabric-service'; readonly id: string; readonly removed: boolean }
  | { readonly type: 'fabric-terminator'; readonly id: string; readonly removed: boolean }
  | { readonly type: 'identity'; readonly id: string; readonly removed: boolean }
  | {
      readonly type: 'service';
      readonly id: string;
      readonly removed: boolean;
      readonly before: ProjectedService | undefined;
    }
  /** An entity of the edge management API. Any of them may change what identities may do. */
  | {
      readonly type: 'edge';
      readonly id: string;
      readonly removed: boolean;
      readonly before: EdgeEntityRecord | undefined;
    };

const NO_IDS: ReadonlySet<string> = new Set();

export class OverlayModel {
  /** Identities, services and policies of the edge management API. */
  readonly edge = new EdgeModel();
  readonly #identities = new Map<string, Identity>();
  /** Those that are routers, which are few. */
  readonly #routers = new Map<string, Identity>();
  readonly #byFingerprint = new Map<string, Identity>();
  readonly #services = new Map<string, ProjectedService>();
  readonly #byHost = new Map<string, Set<string>>();
  readonly #byGrant = new Map<string, Set<string>>();
  readonly #fabricServices = new Map<string, FabricService>();
  readonly #fabricServicesByName = new Map<string, FabricService>();
  readonly #fabricTerminators = new Map<string, FabricTerminator>();
  readonly #listeners: ((change: ModelChange) => void)[] = [];

  onChange(listener: (change: ModelChange) => void): void {
    this.#listeners.push(listener);
  }

  identity(id: string): Identity | undefined {
    return this.#identities.get(id);
  }

  /** Returns the identity that may present the leaf certificate with this SHA-1, if any. */
  identityByFingerprint(fingerprint: string): Identity | undefined {
    return this.#byFingerprint.get(fingerprint);
  }

  identities(): IterableIterator<Identity> {
    return this.#identities.values();
  }

  get routerCount(): number {
    return this.#routers.size;
  }

  routers(): IterableIterator<Identity> {
    return this.#routers.values();
  }

  hostedService(id: string): ProjectedService | undefined {
    return this.#services.get(id);
  }

  hostedServices(): IterableIterator<ProjectedService> {
    return this.#services.values();
  }

  /** Returns the ids of the services that the identity hosts. */
  hostedBy(identityId: string): ReadonlySet<string> {
    return this.#byHost.get(identityId) ?? NO_IDS;
  }

  /** Returns the services whose grants name the identity. */
  grantedTo(identityId: string): ProjectedService[] {
    return [...(this.#byGrant.get(identityId) ?? NO_IDS)].flatMap((id) => this.#services.get(id) ?? []);
  }

  /** Returns a hosted service or one of the edge management API. */
  service(id: string): Service | undefined {
    return this.#services.get(id) ?? this.edge.service(id);
  }

  /** Returns the name of any service, that of the fabric included. */
  serviceName(id: string): string | undefined {
    const service = this.service(id);
    return service === undefined ? this.#fabricServices.get(id)?.name : service.name;
  }

  mayBind(identityId: string, service: Service): boolean {
    if (!isHostedService(service)) return this.edge.permits('Bind', identityId, service.id);
    return service.hostId === identityId;
  }

  /** Gateways may dial services that are open to them; the others are for granted environments and tunnel routers. */
  mayDial(identityId: string, service: Service): boolean {
    if (!isHostedService(service)) return this.edge.permits('Dial', identityId, service.id);
    const identity = this.#identities.get(identityId);
    if (identity === undefined) return false;
    if (identity.kind === 'gateway') return service.openTo === 'gateways';
    if (service.openTo !== 'grants' || !service.grants.includes(identityId)) return false;
    return identity.kind !== 'router' || this.edge.tunnelsFor(identityId, service.routerRole);
  }

  /** Returns the service of this name that the identity may dial by a grant. */
  grantedService(identityId: string, name: string): ProjectedService | undefined {
    for (const id of this.#byGrant.get(identityId) ?? NO_IDS) {
      const service = this.#services.get(id);
      if (service !== undefined && service.name === name && this.mayDial(identityId, service)) return service;
    }
    return undefined;
  }

  /** Whether the identity may use the service through this router. Those that are hosted are served by every router with an edge. */
  mayUseRouter(identityId: string, service: Service, routerId: string): boolean {
    if (isHostedService(service)) return this.edge.hasEdge(routerId);
    return this.edge.mayUseRouter(identityId, routerId) && this.edge.mayCarry(service.id, routerId);
  }

  /** Returns everything that the identity may dial or bind, by name. */
  servicesOf(identityId: string): Service[] {
    return [...this.hostedServicesOf(identityId), ...this.edge.servicesOf(identityId)].sort(byName);
  }

  /** Returns every hosted service that the identity may dial or bind, by name. */
  hostedServicesOf(identityId: string): ProjectedService[] {
    const identity = this.#identities.get(identityId);
    if (identity === undefined || identity.kind === 'edge') return [];
    const ids =
      identity.kind === 'gateway'
        ? this.#services.keys()
        : new Set([...(this.#byHost.get(identityId) ?? []), ...(this.#byGrant.get(identityId) ?? [])]);
    const found: ProjectedService[] = [];
    for (const id of ids) {
      const service = this.#services.get(id);
      if (service !== undefined && (this.mayBind(identityId, service) || this.mayDial(identityId, service))) {
        found.push(service);
      }
    }
    return found.sort(byName);
  }

  setIdentity(identity: Identity): void {
    this.#forgetFingerprints(identity.id);
    this.#identities.set(identity.id, identity);
    if (identity.kind === 'router') this.#routers.set(identity.id, identity);
    for (const fingerprint of identity.fingerprints) this.#byFingerprint.set(fingerprint, identity);
    this.#notify({ type: 'identity', id: identity.id, removed: false });
  }

  removeIdentity(id: string): void {
    if (!this.#identities.has(id)) return;
    this.#forgetFingerprints(id);
    this.#identities.delete(id);
    this.#routers.delete(id);
    this.#notify({ type: 'identity', id, removed: true });
  }

  setHostedService(service: ProjectedService): void {
    const before = this.#services.get(service.id);
    if (before !== undefined) this.#unindex(before);
    this.#services.set(service.id, service);
    indexed(this.#byHost, service.hostId).add(service.id);
    for (const grant of service.grants) indexed(this.#byGrant, grant).add(service.id);
    this.#notify({ type: 'service', id: service.id, removed: false, before });
  }

  removeHostedService(id: string): void {
    const before = this.#services.get(id);
    if (before === undefined) return;
    this.#unindex(before);
    this.#services.delete(id);
    this.#notify({ type: 'service', id, removed: true, before });
  }

  fabricService(id: string): FabricService | undefined {
    return this.#fabricServices.get(id);
  }

  fabricServiceNamed(name: string): FabricService | undefined {
    return this.#fabricServicesByName.get(name);
  }

  fabricServices(): IterableIterator<FabricService> {
    return this.#fabricServices.values();
  }

  fabricTerminator(id: string): FabricTerminator | undefined {
    return this.#fabricTerminators.get(id);
  }

  fabricTerminators(): IterableIterator<FabricTerminator> {
    return this.#fabricTerminators.values();
  }

  setFabricService(service: FabricService): void {
    this.#forgetFabricName(service.id);
    this.#fabricServices.set(service.id, service);
    this.#fabricServicesByName.set(service.name, service);
    this.#notify({ type: 'fabric-service', id: service.id, removed: false });
  }

  /** Its terminators must be removed before. */
  removeFabricService(id: string): void {
    this.#forgetFabricName(id);
    if (this.#fabricServices.delete(id)) this.#notify({ type: 'fabric-service', id, removed: true });
  }

  setFabricTerminator(terminator: FabricTerminator): void {
    this.#fabricTerminators.set(terminator.id, terminator);
    this.#notify({ type: 'fabric-terminator', id: terminator.id, removed: false });
  }

  removeFabricTerminator(id: string): void {
    if (this.#fabricTerminators.delete(id)) this.#notify({ type: 'fabric-terminator', id, removed: true });
  }

  setEdgeEntity(record: EdgeEntityRecord): void {
    const before = this.edge.find(record.id);
    this.edge.set(record);
    this.#notify({ type: 'edge', id: record.id, removed: false, before });
  }

  removeEdgeEntity(id: string): void {
    const before = this.edge.find(id);
    if (before === undefined) return;
    this.edge.remove(id);
    this.#notify({ type: 'edge', id, removed: true, before });
  }

  #forgetFabricName(id: string): void {
    const name = this.#fabricServices.get(id)?.name;
    if (name !== undefined && this.#fabricServicesByName.get(name)?.id === id)
      this.#fabricServicesByName.delete(name);
  }

  #unindex(service: ProjectedService): void {
    drop(this.#byHost, service.hostId, service.id);
    for (const grant of service.grants) drop(this.#byGrant, grant, service.id);
  }

  #forgetFingerprints(identityId: string): void {
    for (const fingerprint of this.#identities.get(identityId)?.fingerprints ?? []) {
      this.#byFingerprint.delete(fingerprint);
    }
  }

  #notify(change: ModelChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        failAlone({ kind: 'record', id: `a change of the ${change.type} ${change.id}` }, error);
      }
    }
  }
}

function byName(a: Service, b: Service): number {
  const [first, second] = [a.name, b.name];
  return first < second ? -1 : first > second ? 1 : a.id < b.id ? -1 : 1;
}

function indexed(index: Map<string, Set<string>>, key: string): Set<string> {
  let ids = index.get(key);
  if (ids === undefined) index.set(key, (ids = new Set()));
  return ids;
}

function drop(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key);
  if (ids?.delete(id) && ids.size === 0) index.delete(key);
}
