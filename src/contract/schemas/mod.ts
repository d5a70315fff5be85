/** The schemas of resources, and the types of answers and bodies. */
export type { AgentEnrollmentAnswer } from './resource-schemas.ts';
export type { SearchResultAnswer } from './search-schemas.ts';
export type {
  FrontdoorAttentionAnswer,
  FrontdoorSummaryAnswer,
  InstallationSummaryAnswer,
} from './summary-schemas.ts';
export type {
  ConsoleLogInAnswer,
  ConsoleSessionAnswer,
  InvitationAnswer,
  PersonAnswer,
} from './people-schemas.ts';
export type { SecondFactorAnswer } from './second-factor-schemas.ts';
export {
  type InstallationAnswer,
  type ProviderCheckAnswer,
  type ProviderDraftCheckAnswer,
} from './installation-schemas.ts';
export {
  errorSchema,
  shareSchema,
  type EnvironmentEntry,
  type ShareAnswer,
  type ShareChangeBody,
} from './resource-schemas.ts';
export {
  type FabricCircuitAnswer,
  type FabricLinkAnswer,
  type FabricRouteAnswer,
  type MeshAnswer,
  type FabricServiceAnswer,
  type FabricTerminatorAnswer,
  type FabricTerminatorChangeBody,
  type InspectionAnswer,
  type RouterAnswer,
} from './fabric-schemas.ts';
export {
  type AccessExplanationAnswer,
  type AccessQuestion,
  type PolicyComparisonAnswer,
  type PolicyDraftBody,
  type SharePolicy,
  type SharePolicyAnswer,
  type SharePolicyBody,
  sharePolicyReplacementSchema,
} from './access-schemas.ts';
export {
  type CustomFrontendAnswer,
  type DnsCheckAnswer,
  type DnsRecordAnswer,
  type HostnameClaimAnswer,
} from './custom-frontend-schemas.ts';
export { type FrontdoorDomainAnswer, type ShareDomainAnswer } from './domain-schemas.ts';
export {
  type EndedSessionsAnswer,
  type LoginSessionAnswer,
  type ProviderAnswer,
} from './provider-schemas.ts';
export {
  type BusiestSharesAnswer,
  type EnvironmentMetricsAnswer,
  type FrontdoorMetricsAnswer,
  type SparklinesAnswer,
} from './metric-schemas.ts';
export {
  type AuditEventAnswer,
  type AuditVerificationAnswer,
  type CallerAnswer,
  type RestingNameAnswer,
  type OrganizationAnswer,
  type SigningKeyAnswer,
} from './organization-schemas.ts';
export type { NotificationDeliveryAnswer, NotificationDestinationAnswer } from './notification-schemas.ts';
export {
  type FailureAnswer,
  type FailureGroupAnswer,
  type InspectedRequestEntryAnswer,
  type InspectedRequestAnswer,
  type InspectorAnswer,
  type InspectorReplacementBody,
  type ReplayBody,
  type UnroutedFailureAnswer,
} from './record-schemas.ts';
export type { LoggedRequestAnswer, RequestLogAnswer } from './request-log-schemas.ts';
export type { ShareUpstreamAnswer } from './upstream-schemas.ts';
export type { AuthoritiesAnswer, SealingKeyAnswer } from './authority-schemas.ts';
export { agentFileSchema, type AgentConfig, type ConfiguredShare } from './agent-file-schema.ts';
export { fileJsonSchema } from './file-json-schema.ts';
export { fileSchemaOf } from './file-schema.ts';
export { DEFAULT_POLICY } from './default-policy.ts';
export {
  frontdoorFileSchema,
  type FileAuthProvider,
  type FileCustomFrontend,
  type FileGuardedShare,
  type FrontdoorFile,
} from './frontdoor-file-schema.ts';
