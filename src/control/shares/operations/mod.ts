/** The Management API, with the token endpoint. */
export { type ApiTls, setApiTls } from './api-tls.ts';
export { auditAnswerOf } from './audit-operations.ts';
export {
  CONSOLE_IDLE_MS,
  CONSOLE_LIFETIME_MS,
  type ConsolePrincipal,
  type ConsoleRouteContext,
  type OpenConsole,
  isRecentProof,
} from './console-access.ts';
export { createFabricEnrollment } from './fabric-operations.ts';
export { IdempotencySweep } from './idempotency-sweep.ts';
export type { ApiLimits } from './limits.ts';
export { createManagementApi } from './management-api.ts';
