/** Opens the parts of the control plane in order, and closes them in the reverse order. */
export { startControlPlane } from './control-plane.ts';
export type { ControlPlane, ControlPlaneOptions } from './control-plane-options.ts';
export { parsePublicApiUrl, type PublicApiUrl } from './public-api-url.ts';
