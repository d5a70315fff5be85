/** Control planes over one database: which there are, and what each measures for the others. */
export { controllerIdOf } from './controller-id.ts';
export type { ControlPlanePresence } from './replica-roll.ts';
export { Replicas } from './replicas.ts';
