/** The edge management API, for programs that administer OpenZiti networks. */
export { type NewAdministrator, createAdministrator } from './administrator-creation.ts';
export type { MeshState } from './entity-resource.ts';
export { addManagementRoutes } from './management-routes.ts';
