/** Answers requests of routers, and takes their reports. */
import type { FabricEvents } from '../model/fabric-events.ts';
import type { CircuitParts } from '../circuits/circuit-parts.ts';
import { CircuitRequests } from '../circuits/circuit-requests.ts';
import { FabricCircuitRequests } from '../circuits/fabric-circuit-requests.ts';
import { FabricTerminatorRequests } from '../terminators/fabric-terminator-requests.ts';
import { LinkReports } from './link-reports.ts';
import type { MeshParts, OverlayClocks } from '../mesh-parts.ts';
import type { OverlayControllerOptions } from '../overlay-options.ts';
import type { PermissionParts } from '../permits/permission-parts.ts';
import { RouterAlerts } from './router-alerts.ts';
import { TerminatorCreation } from '../terminators/terminator-creation.ts';
import { TerminatorRequests } from '../terminators/terminator-requests.ts';
import { TunnelCircuitRequests } from '../circuits/tunnel-circuit-requests.ts';
import { TunnelTerminatorRequests } from '../terminators/tunnel-terminator-requests.ts';

export interface RequestHandlers {
  readonly linkReports: LinkReports;
  readonly circuitRequests: CircuitRequests;
  readonly fabricCircuitRequests: FabricCircuitRequests;
  /** Undefined if routers cannot create terminators of fabric services. */
  readonly fabricTerminatorRequests: FabricTerminatorRequests | undefined;
  readonly terminatorRequests: TerminatorRequests;
  readonly tunnelCircuits: TunnelCircuitRequests;
  readonly tunnelTerminators: TunnelTerminatorRequests;
  readonly alerts: RouterAlerts;
}

export function makeRequestHandlers(
  options: OverlayControllerOptions,
  events: FabricEvents,
  mesh: MeshParts,
  { builder, rerouter }: CircuitParts,
  { sessionCheck: sessions, refusals }: PermissionParts,
  { clock }: OverlayClocks,
): RequestHandlers {
  const { model, log, access } = options;
  const limits = options.tuning?.pendingLimits;
  const writer = access.fabricTerminators;
  const { routers, links, circuits, terminators, fabricTerminators } = mesh;
  const fabricTerminatorRequests =
    writer && new FabricTerminatorRequests({ model, terminators: fabricTerminators, writer, log });
  const creation = new TerminatorCreation({ terminators, fabricTerminators, clock, log });
  return {
    linkReports: new LinkReports({ routers, links, circuits, rerouter, events, clock, log }),
    circuitRequests: new CircuitRequests({
      model,
      sessions,
      builder,
      circuits,
      terminators,
      localEnds: access.localEnds ?? (() => undefined),
      clock,
      refusals,
      log,
      limits,
    }),
    fabricCircuitRequests: new FabricCircuitRequests({ model, builder, circuits, log, limits }),
    fabricTerminatorRequests,
    terminatorRequests: new TerminatorRequests({
      terminators,
      creation,
      fabricRequests: fabricTerminatorRequests,
      sessions,
      refusals,
      log,
    }),
    tunnelCircuits: new TunnelCircuitRequests({ model, builder, circuits, refusals, log, limits }),
    tunnelTerminators: new TunnelTerminatorRequests({ model, terminators, creation, refusals, log }),
    alerts: new RouterAlerts({ refusals, events, clock, log }),
  };
}
