/** The overlay in memory: stored resources, measured status, and API sessions. */
export type { ApiSession, ServiceGrant } from './api-sessions.ts';
export {
  DEFAULT_AUTH_POLICY_ID,
  type LogInWay,
  authPolicyIdOf,
  authPolicyOf,
  lockoutOf,
  passwordProblem,
  permitsExpired,
  permitsLogIn,
  requiredSignerOf,
  requiresTotp,
} from './auth-policy.ts';
export { builtInEntities } from './built-in-entities.ts';
export {
  type EdgeEntityKind,
  type EdgeEntityRecord,
  type EdgePolicy,
  type JsonObject,
  type ManagedService,
  ROUTER_IDENTITY_TYPE,
  isTunnelRouter,
  tunnelIdentityOf,
} from './edge-entity.ts';
export type { EdgeModel } from './edge-model.ts';
export type { FabricDiagnostics } from './fabric-diagnostics.ts';
export {
  type CircuitEvent,
  type FabricEventKind,
  type FabricEventTable,
  FabricEvents,
  type MetricsReport,
} from './fabric-events.ts';
export type { ComparedRouter, RouterComparison } from './fabric-validation.ts';
export { inSlices } from './in-slices.ts';
export { type AttachedModel, attachModel } from './model-loader.ts';
export {
  type EdgeController,
  type EdgeRouter,
  type Identity,
  type ModelChange,
  OverlayModel,
} from './overlay-model.ts';
export { POSTURE_CHECK_TYPES, type PostureCheckType } from './posture-check.ts';
export type { FailedPolicy, KnownCheck } from './posture-checks.ts';
export { namedIds } from './role-policy.ts';
export { type ProjectedService, isHostedService, type Service, type ServiceEndpoint } from './service.ts';
export { serviceConfigIds, serviceConfigs, type ServiceRights } from './service-configs.ts';
export type {
  MeasuredKind,
  MeasuredListener,
  MeasuredService,
  Measurements,
  ServiceState,
  ServiceStatus,
  StatusBoard,
} from './service-status.ts';
