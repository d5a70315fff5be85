/** What routes share that answer identities of the overlay: its clients, agents and gateways. */
import type { EdgeController, EdgeRouter } from '../model/overlay-model.ts';
import type { FabricEvents } from '../model/fabric-events.ts';
import type { StatusBoard } from '../model/service-status.ts';
import type { Callers } from './callers.ts';
import type { EdgeBase } from './edge-base.ts';

/** The overlay, as clients see it. */
export interface EdgeMesh {
  /** What administrators follow. */
  readonly events: FabricEvents;
  readonly status: StatusBoard;
  readonly routers: () => readonly EdgeRouter[];
  /** Whether some host of the service cannot encrypt end to end. */
  readonly hasKeylessHost: (serviceId: string) => boolean;
}

/** Addresses in answers. Called for each response. */
export interface EdgeAddresses {
  /** `https://host:port` of the edge API as clients dial it. */
  readonly apiUrl: () => string;
  /** Every control plane over this database; this one only if it shares none. */
  readonly controllers: () => readonly EdgeController[];
  /** Returns the URLs under which gateways serve a public share's host. */
  readonly frontendUrls: (host: string) => readonly string[];
  /** Domain of the addresses of private shares (`<share>.<domain>`); undefined: they have none. */
  readonly interceptDomain: string | undefined;
}

export interface CallerContext extends EdgeBase {
  readonly callers: Callers;
}
