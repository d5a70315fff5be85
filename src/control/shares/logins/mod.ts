/** Log-ins at shares: providers, attempts, sessions, and the access data that gateways receive. */
export { type LoginParts, openLoginParts } from './login-parts.ts';
export { isLoginState, makeLoginState } from './login-state.ts';
export type { ProvenPerson } from './proven-person.ts';
export type { KnownProvider, ProviderDirectory } from './provider-directory.ts';
export { SIGN_IN_TEST_MS, type SignInTestResult, type SignInTests } from './sign-in-tests.ts';
export type { ProviderSteps } from './provider-steps.ts';
