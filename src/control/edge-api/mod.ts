/** The edge API for clients of OpenZiti, and for our agents and gateways. */
export {
  endClaimedLogIns,
  endLogIns,
  endPasswordLogIns,
  endSessionsOf,
  endTokenLogIns,
  NONE_KEPT,
  type KeptLogIns,
} from './api-session-ends.ts';
export { bearerTokensOf } from './bearer-tokens.ts';
export { claimOf } from './claimed-identities.ts';
export { openApiSessions } from './api-session-store.ts';
export { createEdgeApi, type EdgeRoutes } from './edge-api.ts';
export { addMachineRoutes } from './machine-routes.ts';
export {
  couldNotValidate,
  EdgeApiRefusal,
  invalidParameter,
  missingEntity,
  limited,
  notAuthorized,
  notFound,
  sendData,
  sendJson,
} from './edge-answer.ts';
export { passwordAuthenticatorId } from './authenticator-view.ts';
export { acceptsPassword } from './password-attempts.ts';
export { isUsername } from './password-log-in.ts';
export { bodyRule } from './edge-body.ts';
export type { EdgeBase } from './edge-base.ts';
export type { EdgeAddresses, EdgeMesh } from './caller-context.ts';
export type { EdgeContext } from './edge-context.ts';
export { reportLogIn } from './log-in-report.ts';
export { jsonBody, queryOf, textBody } from './edge-request.ts';
export { sendPage } from './list-answer.ts';
export { SessionRevocations } from './session-revocations.ts';
export { openEdgeTokens, type EdgeTokens } from './edge-tokens.ts';
export { controllerView } from './controller-view.ts';
export { controllerSymbols } from './entity-symbols.ts';
export {
  addNetworkTokens,
  addVersionRoutes,
  apiAddressesOf,
  EDGE_PATH,
  MANAGEMENT_PATH,
} from './information-routes.ts';
export { sessionIdOf } from './service-tokens.ts';
export { isoTime, routerView } from './service-view.ts';
