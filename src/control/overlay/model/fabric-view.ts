/** The mesh as this controller knows it, for the Management API: routers, links, circuits, terminators, inspections. */

import type { TerminatorStrategy } from '#domain';

export interface FabricRouterView {
  readonly id: string;
  readonly name: string;
  readonly isOnline: boolean;
  /** From its hello, such as `v1.7.2`; undefined while it is disconnected. */
  readonly version: string | undefined;
  /** In Unix milliseconds. */
  readonly connectedAtMs: number | undefined;
  /** `tls:host:port` of each link listener. */
  readonly linkListeners: readonly string[];
  /** `host:port` that SDKs dial, as last reported. */
  readonly edgeAddress: string | undefined;
}

export interface FabricLinkView {
  readonly id: string;
  readonly sourceRouterId: string;
  readonly destinationRouterId: string;
  readonly protocol: string;
  readonly dialAddress: string;
  readonly iteration: number;
  readonly staticCost: number;
  /** Means, as measured by both ends; undefined until reported. */
  readonly sourceLatencyMs: number | undefined;
  readonly destinationLatencyMs: number | undefined;
  readonly cost: number;
  readonly isUsable: boolean;
  readonly connections: readonly {
    readonly type: string;
    readonly localAddress: string;
    readonly remoteAddress: string;
  }[];
}

export interface FabricCircuitView {
  readonly id: string;
  readonly serviceId: string;
  readonly serviceName: string;
  /** The dialing identity; undefined for circuits of a router itself. */
  readonly identityId: string | undefined;
  readonly terminatorId: string;
  /** The ingress first. */
  readonly routerIds: readonly string[];
  readonly linkIds: readonly string[];
  readonly cost: number;
  readonly createdAtMs: number;
}

export interface FabricTerminatorView {
  readonly id: string;
  readonly serviceId: string;
  readonly serviceName: string;
  /** What the service is; `edge` is one of the edge management API. */
  readonly kind: 'share' | 'fabric' | 'edge';
  readonly routerId: string;
  readonly binding: string;
  readonly address: string;
  readonly instanceId: string;
  readonly cost: number;
  /** Cost added for open circuits and failures. */
  readonly dynamicCost: number;
  readonly precedence: 'default' | 'required' | 'failed';
  readonly isHealthy: boolean;
}

/** A terminator that a circuit could end at. */
export interface RouteCandidate {
  readonly terminator: FabricTerminatorView;
  /** Undefined if no usable links lead to its router. The ingress is first. */
  readonly path:
    | { readonly routerIds: readonly string[]; readonly linkIds: readonly string[]; readonly cost: number }
    | undefined;
  /** As it counts now: `failed` while its router takes no new circuits. */
  readonly precedence: FabricTerminatorView['precedence'];
  /** The costs of the path and of the terminator together; undefined without a path. */
  readonly cost: number | undefined;
}

/** The way that a new circuit would take. */
export interface RouteView {
  readonly serviceName: string;
  readonly strategy: TerminatorStrategy;
  readonly candidates: readonly RouteCandidate[];
  /** The selected candidate, or one of several that the strategy draws from; undefined: the dial would fail. */
  readonly chosenId: string | undefined;
  /** Why the dial would fail. */
  readonly problem: string | undefined;
}

export interface InspectionView {
  readonly routerId: string;
  readonly name: string;
  /** JSON, or text if it is not JSON; absent if the router returned an error. */
  readonly value?: unknown;
  readonly error?: string;
}

export interface LinkCounts {
  readonly total: number;
  /** Those between two connected routers. */
  readonly usable: number;
}

export interface FabricView {
  routers(): FabricRouterView[];
  links(): FabricLinkView[];
  readonly linkCounts: LinkCounts;
  readonly circuitCount: number;
  readonly terminatorCount: number;
  circuits(): FabricCircuitView[];
  terminators(): FabricTerminatorView[];
  /** What circuits and failed dials here add to the cost of a terminator now. */
  dynamicCost(terminatorId: string): number;
  /** Returns undefined if there is no such service. Nothing is dialed. */
  route(ingressId: string, serviceId: string, instanceId: string): RouteView | undefined;
  /** Inspects the router, or every connected one, with a limit of 10 s each. */
  inspect(names: readonly string[], routerId?: string): Promise<InspectionView[]>;
  /** Returns false if there is no such circuit. Its ends are notified at once. */
  endCircuit(id: string): boolean;
}
