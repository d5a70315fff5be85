/** The rules of access to a share: their compiled form, explanations and summaries. */
export {
  DEFAULT_SESSION_LIMITS,
  accessRulesSchema,
  OPEN_RULES,
  sentAccessRules,
  type AccessRules,
  type BasicUser,
  type ClaimRule,
  type ClientCertificateRule,
  type RateLimit,
  type SessionLimits,
} from './access-rules.ts';
export { ACCESS_REASONS, type AccessReason } from './access-reason-table.ts';
export {
  explainAccess,
  type AccessExplanation,
  type ExplainedProvider,
  type ExplainedRequest,
} from './access-explanation.ts';
export { accessSummary, type AccessSummary, type SummedProvider } from './access-summary.ts';
export { AccessComparer, type RecordedRequest } from './access-comparison.ts';
export { isCertificateName, type CallerCertificate } from './certificate-names.ts';
export {
  compileRules,
  decideAddress,
  decideCertificate,
  decideClaims,
  decideEmail,
  decideIdentity,
  decideNetwork,
  decideProvability,
  decideTime,
  needsIdentity,
  pathKind,
  type CompiledRules,
  type NetworkFacts,
} from './compiled-rules.ts';
export { ineffectiveRules, type IneffectiveReason, type IneffectiveRule } from './ineffective-rules.ts';
export { canonicalEmail, EmailPatterns, parseEmailPattern } from './email-pattern.ts';
export {
  corsLines,
  hstsLine,
  HTTPS_REDIRECTS,
  namesOrigin,
  preflightLines,
  type CorsRules,
  type HttpsRedirect,
} from './web-rules.ts';
export { parsePathPattern, type PathKind } from './path-rules.ts';
export { callerIdentitySchema, MAX_IDENTITY_BYTES, type CallerIdentity } from './caller-identity.ts';
