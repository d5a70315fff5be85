/** The controller of the overlay: routers, links, terminators and circuits, and views of them. */
export type { ClusterMembers, ClusterSource } from './cluster-announcer.ts';
export type {
  FabricCircuitView,
  FabricLinkView,
  LinkCounts,
  FabricRouterView,
  FabricTerminatorView,
  FabricView,
  InspectionView,
  RouteCandidate,
  RouteView,
} from './fabric-view.ts';
export type { LocalEnds } from './key-exchange-policy.ts';
export { startOverlayController, type OverlayController } from './overlay-controller.ts';
export { shareStatusAt } from './share-status-machine.ts';
