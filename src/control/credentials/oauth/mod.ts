/** Authentication of callers of the Management API: the token endpoint, trusted issuers, and signing keys. */
export { authorizationForm } from './authorization-policy.ts';
export { textOfBase64 } from './base64-text.ts';
export { IssuerKeys } from './issuer-keys.ts';
export { KeyRotation, PUBLISHED_AHEAD_MS, rotateSigningKey } from './key-rotation.ts';
export { LoginFailures } from './login-failures.ts';
export {
  type Principal,
  type PrincipalSources,
  type TokenClaims,
  type TokenPolicy,
  audienceOf,
  verifyToken,
} from './principal.ts';
export { PUBLIC_KEY_ALGORITHMS } from './public-key-algorithm-table.ts';
export { type SigningKey, checkKeyFile, createSigningKey, listSigningKeys } from './signing-key-store.ts';
export { type TokenParameters, issueToken, issuerMetadata } from './token-endpoint.ts';
export { TokenKeys } from './token-keys.ts';
export { CLOCK_SKEW_MS, SERVICE_TOKEN_LIFETIME_MS, isIssuedAhead } from './token-lifetimes.ts';
export type { TrustedIssuer } from './trusted-issuer-config.ts';
export { loadTrustedIssuers } from './trusted-issuer-file.ts';
export { TrustedIssuers } from './trusted-issuers.ts';
export { VerifiedTokens } from './verified-tokens.ts';
