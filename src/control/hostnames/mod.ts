/** Proofs that the hostnames of custom frontends belong to their organizations. */
export { grantHostname, withdrawHostname } from './hostname-decisions.ts';
export { challengeName, challengeValue, CLAIM_MS, hasValue } from './hostname-proof-policy.ts';
export { HostnameProver } from './hostname-prover.ts';
export { checkNoPublicSuffix, registrableDomain } from './registrable-domain.ts';
