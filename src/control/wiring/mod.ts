/** Opens the parts of the control plane in order, and closes them in the reverse order. */
export type { ControlPlane, ControlPlaneOptions } from './control-plane-options.ts';
export { startControlPlane } from './control-plane.ts';
export { type PublicApiUrl, parsePublicApiUrl } from './public-api-url.ts';
