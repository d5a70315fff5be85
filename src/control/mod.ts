export { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
export type { FirstStart } from './store/first-start.ts';
