/** Events of the mesh and of its clients that readers of the edge management API follow. Nothing is kept: without a listener an event is dropped. */

/** The report of one router. */
export interface UsageReport {
  readonly routerId: string;
  readonly circuits: readonly UsageInterval[];
}

/** Bytes of one circuit in one interval. */
export interface UsageInterval {
  readonly circuitId: string;
  /** Bytes by kind, such as `ingress.rx`. */
  readonly usage: Readonly<Record<string, number>>;
  /** Unix time in seconds. */
  readonly intervalStartS: number;
  readonly intervalLengthS: number;
  /** Ids of service, dialer and host, as the router reports them; none for bytes over links. */
  readonly tags: Readonly<Record<string, string>>;
}

export type CircuitEventType = 'created' | 'pathUpdated' | 'deleted' | 'failed';

export interface CircuitEvent {
  readonly type: CircuitEventType;
  readonly circuitId: string;
  /** Id of the session or, without one, of the identity that dialed; '' for a router. */
  readonly clientId: string;
  readonly serviceId: string;
  /** '' for a circuit that failed. */
  readonly terminatorId: string;
  readonly instanceId: string;
  /** The ingress first; empty for a circuit that failed. */
  readonly routerIds: readonly string[];
  readonly linkIds: readonly string[];
  readonly ingressAddress: string;
  readonly egressAddress: string;
  /** Undefined while a link of the path is away. */
  readonly cost: number | undefined;
  /** How long the dial took; undefined for later events. */
  readonly creationMs: number | undefined;
  /** Time since its creation; undefined for a circuit that was just created, or failed. */
  readonly durationMs: number | undefined;
  /** OpenZiti's name of the cause; undefined if it has none. */
  readonly failureCause: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
}

export interface RouterEvent {
  readonly routerId: string;
  readonly isOnline: boolean;
}

export interface MeshLinkEvent {
  /** `fault`: the link was lost. */
  readonly type: 'routerLinkNew' | 'fault';
  readonly linkId: string;
  /** The router that dialed. */
  readonly sourceId: string;
  readonly destinationId: string;
  readonly protocol: string;
  readonly dialAddress: string;
  readonly cost: number;
  readonly connections: readonly {
    readonly type: string;
    readonly localAddress: string;
    readonly remoteAddress: string;
  }[];
}

export type TerminatorChangeType = 'created' | 'updated' | 'deleted';

export interface TerminatorEvent {
  readonly type: TerminatorChangeType;
  readonly terminatorId: string;
  readonly serviceId: string;
  readonly routerId: string;
  /** The hosting identity; '' for a terminator of a router itself. */
  readonly hostId: string;
  readonly instanceId: string;
  readonly isRouterOnline: boolean;
  readonly precedence: string;
  readonly staticCost: number;
  readonly dynamicCost: number;
  /** The number of the service's terminators after the change. The two below count those whose router is connected. */
  readonly total: number;
  readonly usableDefault: number;
  readonly usableRequired: number;
}

export interface ApiSessionEvent {
  readonly type: 'created' | 'deleted';
  readonly sessionId: string;
  readonly identityId: string;
  /** Whether its tokens are signed (JWT). */
  readonly isSigned: boolean;
}

/** An attempt to log in. Ids that are not known are ''. */
export interface AuthenticationEvent {
  readonly method: 'cert' | 'password' | 'ext-jwt';
  readonly isSuccess: boolean;
  readonly identityId: string;
  readonly authenticatorId: string;
  /** The signer of the token, for `ext-jwt`. */
  readonly signerId: string;
  readonly authPolicyId: string;
  /** `host:port` of the client. */
  readonly remoteAddress: string;
  /** Why it was refused; '' for a success. */
  readonly problem: string;
}

/** A permission to dial or host a service that a client asked for. */
export interface ServiceSessionEvent {
  readonly sessionId: string;
  readonly sessionType: 'Dial' | 'Bind';
  readonly isSigned: boolean;
  readonly apiSessionId: string;
  readonly identityId: string;
  readonly serviceId: string;
}

export interface SdkEvent {
  readonly identityId: string;
  readonly isOnline: boolean;
}

export interface ConnectEvent {
  readonly sourceType: 'identity' | 'router';
  readonly sourceId: string;
  readonly sourceAddress: string;
  readonly destinationType: 'router' | 'ctrl';
  /** Undefined for this control plane. */
  readonly destinationId: string | undefined;
  readonly destinationAddress: string;
  /** Unix milliseconds; undefined: now. */
  readonly atMs: number | undefined;
}

/** Dials with one outcome in one interval. */
export interface ServiceDialsEvent {
  /** OpenZiti's name: `service.dial.success`. */
  readonly type: string;
  readonly serviceId: string;
  /** '' for those that are not of one terminator. */
  readonly terminatorId: string;
  readonly count: number;
  /** Unix time in seconds. */
  readonly intervalStartS: number;
  readonly intervalLengthS: number;
}

export interface AlertEvent {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly sourceType: string;
  readonly sourceId: string;
  readonly severity: string;
  readonly message: string;
  readonly details: readonly string[];
  readonly relatedEntities: Readonly<Record<string, string>>;
}

export interface ClusterEvent {
  readonly type: 'members.changed' | 'leadership.gained' | 'leadership.lost';
  readonly index: number | undefined;
  /** At which routers reach the control planes; undefined where an event has none. */
  readonly addresses: readonly string[] | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

export interface EntityChangeEvent {
  readonly type: 'created' | 'updated' | 'deleted';
  /** OpenZiti's name: `servicePolicies`. */
  readonly entityType: string;
  readonly before: Fields | undefined;
  readonly after: Fields | undefined;
  /** The author and the source of the change. */
  readonly metadata: Fields;
}

export interface Metric {
  readonly name: string;
  readonly type: 'intValue' | 'floatValue' | 'meter' | 'histogram' | 'timer';
  /** By OpenZiti's names; `value` for a single one. */
  readonly values: Readonly<Record<string, number>>;
}

/** All metrics of one report of a router. */
export interface MetricsReport {
  readonly routerId: string;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly eventId: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly metrics: readonly Metric[];
  readonly linkEnds: (
    linkId: string,
  ) => { readonly sourceId: string; readonly destinationId: string } | undefined;
}

/** A message of a traced channel. */
export interface TraceReport {
  readonly contentType: number;
  /** The report as it is on the wire (TraceEvent). */
  readonly body: Uint8Array;
}

export interface FabricEventTable {
  usage: UsageReport;
  circuit: CircuitEvent;
  router: RouterEvent;
  link: MeshLinkEvent;
  terminator: TerminatorEvent;
  apiSession: ApiSessionEvent;
  authentication: AuthenticationEvent;
  session: ServiceSessionEvent;
  sdk: SdkEvent;
  connect: ConnectEvent;
  service: ServiceDialsEvent;
  alert: AlertEvent;
  cluster: ClusterEvent;
  entityChange: EntityChangeEvent;
  metrics: MetricsReport;
  trace: TraceReport;
}

export type FabricEventKind = keyof FabricEventTable;
type Listener<K extends FabricEventKind> = (event: FabricEventTable[K]) => void;

export class FabricEvents {
  readonly #listeners: { readonly [K in FabricEventKind]: Set<Listener<K>> } = {
    usage: new Set(),
    circuit: new Set(),
    router: new Set(),
    link: new Set(),
    terminator: new Set(),
    apiSession: new Set(),
    authentication: new Set(),
    session: new Set(),
    sdk: new Set(),
    connect: new Set(),
    service: new Set(),
    alert: new Set(),
    cluster: new Set(),
    entityChange: new Set(),
    metrics: new Set(),
    trace: new Set(),
  };

  /** Whether an event has to be made at all. */
  has(kind: FabricEventKind): boolean {
    return this.#listeners[kind].size > 0;
  }

  emit<K extends FabricEventKind>(kind: K, event: FabricEventTable[K]): void {
    for (const listener of this.#listeners[kind]) listener(event);
  }

  /** Returns the function that ends it. */
  listen<K extends FabricEventKind>(kind: K, listener: Listener<K>): () => void {
    this.#listeners[kind].add(listener);
    return () => void this.#listeners[kind].delete(listener);
  }
}
