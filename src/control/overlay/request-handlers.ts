/** Answers requests of routers, and takes their reports. */
import type { FabricEvents } from './model/fabric-events.ts';
import type { CircuitParts } from './circuit-parts.ts';
import { CircuitRequests } from './circuits/circuit-requests.ts';
import { LinkReports } from './routers/link-reports.ts';
import type { MeshParts, OverlayClocks } from './mesh-parts.ts';
import type { OverlayControllerOptions } from './overlay-options.ts';
import type { PermissionParts } from './permission-parts.ts';
import { RouterAlerts } from './routers/router-alerts.ts';
import { TerminatorRequests } from './terminators/terminator-requests.ts';

export interface RequestHandlers {
  readonly linkReports: LinkReports;
  readonly circuitRequests: CircuitRequests;
  readonly terminatorRequests: TerminatorRequests;
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
  const { routers, links, circuits, terminators } = mesh;
  return {
    linkReports: new LinkReports({ routers, links, circuits, rerouter, events, clock, log }),
    circuitRequests: new CircuitRequests({
      model,
      sessions,
      builder,
      circuits,
      localEnds: access.localEnds ?? (() => undefined),
      clock,
      refusals,
      log,
      limits,
    }),
    terminatorRequests: new TerminatorRequests({ model, terminators, sessions, refusals, clock, log }),
    alerts: new RouterAlerts({ refusals, events, clock, log }),
  };
}
