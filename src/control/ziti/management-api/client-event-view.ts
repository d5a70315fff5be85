/** Events of clients in the JSON of OpenZiti 1.7.2: sessions, and connections to routers and to this control plane. */
import { isoTime } from '../client-api/service-view.ts';
import { optional, simpleReader } from './event-text.ts';

const CHANGES = ['created', 'deleted'];

/** Without the token and the address of the client, which an event has with OpenZiti: a token is a secret. */
export const readApiSessions = simpleReader(
  'apiSession',
  function* ({ type, sessionId, identityId, isSigned }, head) {
    yield {
      ...head,
      event_type: type,
      id: sessionId,
      type: isSigned ? 'jwt' : 'legacy',
      identity_id: identityId,
    };
  },
  { known: CHANGES, of: ({ type }) => type },
);

export const readAuthentications = simpleReader(
  'authentication',
  function* (event, head) {
    yield {
      ...head,
      event_type: outcomeOf(event),
      type: event.method,
      authenticator_id: event.authenticatorId,
      external_jwt_signer_id: event.signerId,
      identity_id: event.identityId,
      auth_policy_id: event.authPolicyId,
      remote_address: event.remoteAddress,
      success: event.isSuccess,
      reason: event.problem,
      // A certificate is recognized without the chain that a client sends.
      improper_client_cert_chain: false,
    };
  },
  { known: ['success', 'fail'], of: outcomeOf },
);

function outcomeOf({ isSuccess }: { readonly isSuccess: boolean }): string {
  return isSuccess ? 'success' : 'fail';
}

/** Sessions are derived from permissions here, so that none is ever deleted. */
export const readSessions = simpleReader(
  'session',
  function* ({ sessionId, sessionType, isSigned, apiSessionId, identityId, serviceId }, head) {
    yield {
      ...head,
      event_type: 'created',
      session_type: sessionType,
      provider: isSigned ? 'jwt' : 'legacy',
      id: sessionId,
      api_session_id: apiSessionId,
      identity_id: identityId,
      service_id: serviceId,
    };
  },
  { known: ['created'], of: () => 'created' },
);

export const readSdks = simpleReader('sdk', function* ({ identityId, isOnline }, head) {
  yield { ...head, event_type: isOnline ? 'sdk-online' : 'sdk-offline', identity_id: identityId };
});

export const readConnects = simpleReader('connect', function* (event, head) {
  yield {
    ...head,
    ...optional('timestamp', event.atMs === undefined ? undefined : isoTime(event.atMs)),
    src_type: event.sourceType,
    dst_type: event.destinationType,
    src_id: event.sourceId,
    src_addr: event.sourceAddress,
    dst_id: event.destinationId ?? head['event_src_id'],
    dst_addr: event.destinationAddress,
  };
});
