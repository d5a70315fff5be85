/** The Management API, with the token endpoint. */
export { createFabricEnrollment } from './fabric-operations.ts';
export type { ApiLimits } from './limits.ts';
export { createManagementApi, setApiTls, type ApiTls } from './management-api.ts';
