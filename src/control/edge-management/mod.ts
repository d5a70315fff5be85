/** The edge management API, for programs that administer OpenZiti networks. */
export {
  createAdministrator,
  type AdministratorCredentials,
  type NewAdministrator,
} from './administrator-creation.ts';
export type { MeshState } from './entity-resource.ts';
export { addManagementRoutes } from './management-routes.ts';
