/** The overlay in memory: stored resources, measured status, and API sessions. */
export type { ApiSession, ApiSessions, ServiceGrant } from './api-sessions.ts';
export { GatewayCommands } from './gateway-commands.ts';
export { attachModel } from './model-loader.ts';
export {
  OverlayModel,
  type EdgeController,
  type EdgeRouter,
  type FabricService,
  type Identity,
  type ModelChange,
  type Service,
} from './overlay-model.ts';
export type { MeasuredKind, MeasuredShare, Measurements, ShareStatus, StatusBoard } from './share-status.ts';
