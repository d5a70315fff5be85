/** The controller of the overlay: routers, links, terminators and circuits, and views of them. */
export type { LocalEnds } from './circuits/key-exchange-policy.ts';
export type {
  FabricCircuitView,
  FabricLinkView,
  FabricTerminatorView,
  FabricView,
  RouteCandidate,
  RouteView,
} from './model/fabric-view.ts';
export { type OverlayController, startOverlayController } from './overlay-controller.ts';
export type { ClusterMembers, ClusterSource } from './routers/cluster-announcer.ts';
export { serviceStatusAt } from './terminators/service-status-machine.ts';
