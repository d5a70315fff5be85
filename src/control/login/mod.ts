/** Log-ins at shares: providers, attempts, sessions, and the access data that gateways receive. */
export type { AccessChange, GatewayAccessSource } from './gateway-access.ts';
export { takeGatewayUsage } from './gateway-usage.ts';
export { guardedHost, originOf } from './guarded-host.ts';
export { openIdentityKeys, type IdentityKeys } from './identity-keys.ts';
export { issuerAddressOf } from './issuer-directory.ts';
export { fetchIssuerMetadata } from './issuer-metadata.ts';
export { openLoginParts, type LoginParts } from './login-parts.ts';
export { isLoginState, makeLoginState } from './login-state.ts';
export { ProviderDirectory, type KnownProvider } from './provider-directory.ts';
export type { ProvenPerson } from './proven-person.ts';
export type { ProviderSteps } from './provider-steps.ts';
export {
  endAllSessions,
  endSession,
  endSessionsOf,
  findSessionProvider,
  listSessions,
  type ProviderSession,
  type SessionFilter,
} from './provider-sessions.ts';
