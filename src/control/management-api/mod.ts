/** The Management API, with the token endpoint. */
export { createFabricEnrollment } from './fabric-operations.ts';
export {
  CONSOLE_IDLE_MS,
  CONSOLE_LIFETIME_MS,
  isRecentProof,
  type ConsolePrincipal,
  type ConsoleRouteContext,
  type OpenConsole,
} from './console-access.ts';
export type { ApiLimits } from './limits.ts';
export { createManagementApi } from './management-api.ts';
export { setApiTls, type ApiTls } from './api-tls.ts';
