/** The mesh as this controller knows it, for the Management API: routers, links, circuits, terminators, inspections. */

export interface FabricRouterView {
  readonly id: string;
  readonly name: string;
  readonly isOnline: boolean;
  /** Of its hello, such as `v1.7.2`; undefined while it is away. */
  readonly version: string | undefined;
  /** Milliseconds since the epoch. */
  readonly connectedAtMs: number | undefined;
  /** `tls:host:port` of each link listener. */
  readonly linkListeners: readonly string[];
  /** `host:port` that SDKs dial, last seen. */
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
  /** Means of both ends; undefined until reported. */
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
  /** The identity that dialed; undefined for circuits that a router asked for itself. */
  readonly identityId: string | undefined;
  readonly terminatorId: string;
  /** Ingress first. */
  readonly routerIds: readonly string[];
  readonly linkIds: readonly string[];
  readonly cost: number;
  readonly createdAtMs: number;
}

export interface FabricTerminatorView {
  readonly id: string;
  readonly serviceId: string;
  readonly serviceName: string;
  readonly kind: 'share' | 'fabric';
  readonly routerId: string;
  readonly binding: string;
  readonly address: string;
  readonly instanceId: string;
  readonly cost: number;
  /** What circuits in use and failures add. */
  readonly dynamicCost: number;
  readonly precedence: 'default' | 'required' | 'failed';
  readonly isHealthy: boolean;
}

export interface InspectionView {
  readonly routerId: string;
  readonly name: string;
  /** JSON, or text when it is none; absent when the router had an error instead. */
  readonly value?: unknown;
  readonly error?: string;
}

export interface FabricView {
  routers(): FabricRouterView[];
  links(): FabricLinkView[];
  circuits(): FabricCircuitView[];
  terminators(): FabricTerminatorView[];
  /** Asks the router, or every connected one; each has 10 s. */
  inspect(names: readonly string[], routerId?: string): Promise<InspectionView[]>;
  /** False: no such circuit. Its ends learn it at once. */
  endCircuit(id: string): boolean;
}
