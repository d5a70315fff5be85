/** Composes the parts of the overlay controller. Nothing here listens or acts; OverlayCore drives the parts. */
import { FabricEvents } from './model/fabric-events.ts';
import { makeCircuitParts, type CircuitParts } from './circuit-parts.ts';
import { makeMeshParts, type MeshParts, type OverlayClocks } from './mesh-parts.ts';
import { MeshValidation } from './mesh-validation.ts';
import { MeshView } from './mesh-view.ts';
import type { OverlayControllerOptions } from './overlay-options.ts';
import { makePermissionParts, type PermissionParts } from './permission-parts.ts';
import { makeRequestHandlers } from './request-handlers.ts';
import { RouterFrameDispatcher } from './router-frame-dispatcher.ts';

export interface OverlayParts {
  readonly events: FabricEvents;
  readonly mesh: MeshParts;
  readonly circuits: CircuitParts;
  readonly permissions: PermissionParts;
  readonly dispatcher: RouterFrameDispatcher;
  readonly view: MeshView;
}

export function makeOverlayParts(options: OverlayControllerOptions, clocks: OverlayClocks): OverlayParts {
  const { model, log } = options;
  const { controllerId } = options.listener;
  const events = options.events ?? new FabricEvents();
  const mesh = makeMeshParts(options, events, clocks);
  const circuits = makeCircuitParts(options, events, mesh, clocks);
  const permissions = makePermissionParts(options, mesh, circuits, clocks);
  const requests = makeRequestHandlers(options, events, mesh, circuits, permissions, clocks);
  const dispatcher = new RouterFrameDispatcher({
    model,
    mesh,
    circuits,
    permissions,
    requests,
    events,
    clock: clocks.leases,
    log,
  });
  const { dataModel } = permissions;
  const comparisons = new MeshValidation({ ...mesh, controllerId, model, dataModel, log });
  const view = new MeshView({ model, mesh, circuits, dataModel, comparisons, controllerId });
  return { events, mesh, circuits, permissions, dispatcher, view };
}
