/** The overlay in memory: stored resources, measured status, and API sessions. */
export type { ApiSession, ApiSessions, EndedSession, EndedSessions, ServiceGrant } from './api-sessions.ts';
export {
  isTunnelRouter,
  ROUTER_IDENTITY_TYPE,
  textsOf,
  tunnelIdentityOf,
  type EdgeEntityKind,
  type EdgeEntityRecord,
  type EdgePolicy,
  type ManagedService,
  type JsonObject,
  type OverlayService,
} from './edge-entity.ts';
export type { RouterTraits } from './router-traits.ts';
export type { EdgeModel } from './edge-model.ts';
export {
  authPolicyIdOf,
  authPolicyOf,
  lockoutOf,
  requiredSignerOf,
  requiresTotp,
  DEFAULT_AUTH_POLICY_ID,
  passwordProblem,
  permitsExpired,
  permitsLogIn,
  type LogInWay,
} from './auth-policy.ts';
export { builtInEntities } from './built-in-entities.ts';
export {
  FabricEvents,
  type Metric,
  type MetricsReport,
  type CircuitEvent,
  type CircuitEventType,
  type UsageInterval,
  type FabricEventKind,
  type FabricEventTable,
  type TerminatorChangeType,
  type UsageReport,
} from './fabric-events.ts';
export type { DiagnosticValue, FabricDiagnostics, ToggledTraces } from './fabric-diagnostics.ts';
export type { ComparedRouter, FabricValidation, RouterComparison } from './fabric-validation.ts';
export { GatewayCommands } from './gateway-commands.ts';
export { hostConfig, interceptConfig } from './share-endpoint-config.ts';
export { attachModel, type AttachedModel } from './model-loader.ts';
export {
  isShare,
  OverlayModel,
  type AnyService,
  type EdgeController,
  type EdgeRouter,
  type FabricService,
  type Identity,
  type ModelChange,
  type Service,
} from './overlay-model.ts';
export { POSTURE_CHECK_TYPES, postureCheckOf, type PostureCheckType } from './posture-check.ts';
export type { FailedPolicy, KnownCheck } from './posture-checks.ts';
export { isSelected, namedIds, type Semantic } from './role-policy.ts';
export { StateCounts, type MachineCounts, type ShareCounts } from './state-counts.ts';
export { inSlices } from './in-slices.ts';
export type {
  MeasuredKind,
  MeasuredListener,
  MeasuredShare,
  Measurements,
  ShareState,
  ShareStatus,
  StatusBoard,
} from './share-status.ts';
