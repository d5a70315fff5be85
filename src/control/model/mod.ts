/** What is true now, in memory: the overlay as it is stored, what is measured, and who is logged in. */
export type { ApiSession, ApiSessions } from './api-sessions.ts';
export { GatewayCommands } from './gateway-commands.ts';
export { attachModel } from './model-loader.ts';
export {
  OverlayModel,
  type FabricService,
  type FabricTerminator,
  type Identity,
  type ModelChange,
  type Service,
} from './overlay-model.ts';
export type { MeasuredKind, MeasuredShare, Measurements, ShareStatus, StatusBoard } from './share-status.ts';
