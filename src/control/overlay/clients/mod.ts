/** Clients of the overlay at the edge API: who presents a certificate, a token or a session. */
export {
  type KeptLogIns,
  NONE_KEPT,
  endClaimedLogIns,
  endLogIns,
  endPasswordLogIns,
  endSessionsOf,
  endTokenLogIns,
  hasEnded,
} from './api-session-ends.ts';
export {
  LOG_IN_METHODS,
  type LogInMethod,
  type SessionCertificate,
  type SessionForm,
  type SessionWay,
} from './api-session-rows.ts';
export {
  type ApiSessionStore,
  type LiveSession,
  SESSION_IDLE_MS,
  type SessionStart,
  openApiSessions,
} from './api-session-store.ts';
export { bearerTokensOf } from './bearer-tokens.ts';
export type { CallerContext, EdgeAddresses, EdgeMesh } from './caller-context.ts';
export { Callers, type EdgeCaller, tokenOf } from './callers.ts';
export { renewCertificate } from './certificate-changes.ts';
export { ClaimedIdentities, claimOf } from './claimed-identities.ts';
export {
  EdgeApiRefusal,
  badCsr,
  couldNotValidate,
  invalidFilter,
  invalidParameter,
  invalidSort,
  limited,
  missingEntity,
  notAuthorized,
  notFound,
  refusalBody,
  sendData,
  sendJson,
  sendList,
  sendRefusal,
  unknownPath,
  wrongMethod,
} from './edge-answer.ts';
export { appendPeerAudit, recordEdgeRefusal } from './edge-audit.ts';
export type { EdgeBase } from './edge-base.ts';
export { MAX_BODY_BYTES, MAX_CSR_BYTES, addBodySteps, bodyRule } from './edge-body.ts';
export { jsonBody, jsonList, queryOf, textBody } from './edge-request.ts';
export { ExternalIds } from './external-ids.ts';
export { ExternalSigners } from './external-signers.ts';
export {
  type ManagementSession,
  endManagementSession,
  endManagementSessionsOf,
  extendManagementSession,
  findAdministratorSession,
  openManagementSession,
} from './management-session-store.ts';
export { PeerIdentities, type ProvenPeer, certificateOf } from './peer-identity.ts';
export { ReplacedCertificates } from './replaced-certificates.ts';
export { type SecondToken, SecondTokens } from './second-tokens.ts';
export { ACCESS_LIFETIME_MS, SessionRevocations } from './session-revocations.ts';
export { readBody, readReport, sendShape } from './shape-body.ts';
