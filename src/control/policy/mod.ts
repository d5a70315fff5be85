/** Policies of shares: the stored form, the rules that gateways evaluate, and the conversion of one into the other. */
export { accessRulesOf } from './access-rules.ts';
export { DEFAULT_POLICY } from './default-policy.ts';
export {
  hashPassword,
  findPasswordOf,
  isLikeHash,
  isPasswordOf,
  isPasswordSuspect,
  PasswordQueueFull,
  passwordTurns,
  UnlikeHash,
  type PasswordGuest,
} from './password-hash.ts';
export { draftPolicyOf, settledPolicy, wantedPolicyOf } from './policy-record.ts';
export {
  closedToPeopleMessage,
  dependsOnPeople,
  hasPeopleRules,
  isClosedToPeople,
  policyWarningsOf,
  type PolicyWarning,
  type WarnedShare,
} from './policy-warnings.ts';
export type { StoredPolicy } from './stored-policy.ts';
