/**
 * What visitors of a share get from the gateway instead of an answer: `error` of the JSON, and the code that the owner
 * of the share finds with the error id. The remedies are those that `frontdoor why` shows.
 */
import { isRetryable, MESSAGE_REFUSALS, remedyOf, type FailureCode, type MessageRefusal } from '#domain';
import { ACCESS_REASONS, type AccessReason } from '#domain/access';

export interface VisitorErrorRow {
  /** HTTP statuses; none where no visitor sees the code. */
  readonly statuses: readonly number[];
  readonly meaning: string;
  readonly remedy: string;
  /** Whether the same request may succeed later without a change: `retryable` of the JSON. */
  readonly isRetryable: boolean;
  readonly since: string;
}

type Meaning = readonly [statuses: readonly number[], meaning: string];

const MEANINGS: Readonly<Record<Exclude<FailureCode, AccessReason>, Meaning>> = {
  'no-terminator': [[503], 'No agent hosts the share at the moment.'],
  'service-refused': [[502], 'The service behind the share does not accept connections.'],
  'service-timeout': [[504], 'The service behind the share did not accept the connection in time.'],
  'not-authorized': [
    [503],
    'The gateway is not allowed to reach the share, or the share has just been deleted.',
  ],
  'control-away': [[503], 'No control plane responded to the router, so no circuit could be created.'],
  timeout: [[504], 'No circuit to the service could be created in time.'],
  'channel-closed': [[503], 'The connection between gateway and router was lost.'],
  'circuit-closed': [[502], 'The connection to the service was lost.'],
  overlay: [[502], 'No circuit to the service could be created.'],
  'no-answer': [[502], 'The service closed the connection without responding.'],
  'malformed-answer': [[502], 'The response of the service violates HTTP.'],
  maintenance: [[503], 'The share is in maintenance; the answer has the text of its owner.'],
  'grpc-target': [[501], 'A call of gRPC came for a share whose target speaks HTTP/1.1.'],
  'obsolete-answer': [
    [502],
    'The response of the service has an obsolete form, which the share does not accept.',
  ],
  'foreign-host': [
    [400, 403],
    'The service does not accept the host of the request. The response is its own.',
  ],
  'answer-timeout': [[504], 'The service did not respond in time.'],
  'stream-idle': [[504], 'No data was sent in either direction for too long.'],
  busy: [
    [503],
    'Too many requests are waiting for the share, or too many credentials are waiting to be verified.',
  ],
  internal: [[500], 'An internal error in the gateway.'],
  starting: [[503], 'The gateway has not received its list of shares yet.'],
  'share-unreadable': [[503], 'The gateway cannot read the rules of the share, so it refuses all requests.'],
  'not-decided': [[503], 'The caller could not be verified in time.'],
  withdrawn: [[503], 'The share was deleted or renamed during the request.'],
  'port-closed': [[503], 'A gateway could not open the port of the share.'],
  'port-guarded': [
    [403],
    'The share has a port and guards that nobody can satisfy there, so that connections are refused.',
  ],
  'client-gone': [[], 'The client disconnected before the response.'],
  'unknown-host': [[404], 'No share has the host name of the request.'],
  misdirected: [[421], 'The TLS server name and the Host header belong to different shares.'],
  'unknown-path': [[404], 'There is no such page under /.frontdoor/.'],
  'wrong-method': [[400], 'The page under /.frontdoor/ does not support the method.'],
  'head-timeout': [[408], 'The head of the request did not arrive in time.'],
  'body-too-slow': [[408], 'The body of the request arrived too slowly.'],
  'too-many-at-once': [[429], 'The address has too many requests in progress through a proxy.'],
  'https-required': [[403], 'A call of gRPC came without TLS, and the policy of the share leads to HTTPS.'],
  'proxy-scheme-unknown': [
    [502],
    'The page requires HTTPS, and a proxy in front of the gateway does not report that the client uses it.',
  ],
  'access-ended': [[401], 'The session or credential of the request has ended.'],
  'too-many-wrong': [[429], 'The address sent too many wrong credentials.'],
  'login-provider-not-available': [[503], 'The sign-in provider is currently unavailable.'],
  'login-provider-failed': [[502], 'The identity provider sent an unexpected response.'],
  'login-attempt-not-valid': [
    [400],
    'The sign-in has expired, was already used, or belongs to another browser.',
  ],
  'login-denied': [[403], 'The sign-in was refused.'],
  'login-email-not-verified': [[403], 'The account has no verified email address.'],
  'login-too-many': [[429], 'Too many sign-ins from the address are in progress.'],
  'cookies-too-large': [[431], 'The browser sent more cookies than fit into a request.'],
};

const FIRST = '0.1.0';

function rowOf(code: string, statuses: readonly number[], meaning: string): [string, VisitorErrorRow] {
  return [code, { statuses, meaning, remedy: remedyOf(code), isRetryable: isRetryable(code), since: FIRST }];
}

export const VISITOR_ERRORS = Object.fromEntries([
  ...Object.entries(MEANINGS).map(([code, [statuses, meaning]]) => rowOf(code, statuses, meaning)),
  ...[...Object.entries(ACCESS_REASONS), ...Object.entries(MESSAGE_REFUSALS)].map(
    ([code, { status, message }]) => rowOf(code, [status], message),
  ),
]) as Readonly<Record<FailureCode | MessageRefusal, VisitorErrorRow>>;
