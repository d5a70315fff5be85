export {
  CTRL_ALPN,
  startOverlayController,
  type OverlayController,
  type OverlayControllerOptions,
  type OverlayRouter,
} from './overlay-controller.ts';
export type { ServiceKey } from './data-model-feed.ts';
export type { ServiceTokenClaims, VerifyServiceToken } from './service-session-check.ts';
export type { ProveLeaf } from './router-admission.ts';
