export {
  CTRL_ALPN,
  startOverlayController,
  type OverlayController,
  type OverlayRouter,
} from './overlay-controller.ts';
export type { OverlayControllerOptions } from './overlay-options.ts';
export type { ServiceKey } from './data-model-feed.ts';
export type { ServiceTokenClaims, VerifyServiceToken } from './service-session-check.ts';
export type { ProveLeaf } from './router-admission.ts';
export type { FabricTerminatorPersistence, NewFabricTerminator } from './fabric-terminator-persistence.ts';
export type {
  FabricCircuitView,
  FabricLinkView,
  FabricRouterView,
  FabricTerminatorView,
  FabricView,
  InspectionView,
} from './fabric-view.ts';
export type { ClusterMembers, ClusterSource } from './cluster-announcer.ts';
