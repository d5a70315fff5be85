/** Control planes that share a database: the list of them, and the measurements that they exchange. */
export { controllerIdOf } from './controller-id.ts';
export type { ControlPlanePresence } from './replica-roll.ts';
export { Replicas } from './replicas.ts';
