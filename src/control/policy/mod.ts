/** Policies of shares: their stored form, the rules that gateways decide by, and how a policy becomes both. */
export { accessRulesOf } from './access-rules.ts';
export { DEFAULT_POLICY } from './default-policy.ts';
export { PasswordQueueFull } from './password-hash.ts';
export { settledPolicy, wantedPolicyOf } from './policy-record.ts';
export type { StoredPolicy } from './stored-policy.ts';
