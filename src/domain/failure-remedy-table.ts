/**
 * What the owner of a share can do about a failed request, by failure code. Each says more than its code. Those about the
 * form of a request stand in `message-refusal-table.ts`.
 */
import { MESSAGE_REFUSALS } from './message-refusal-table.ts';

/** For a code of a newer gateway. */
const UNKNOWN =
  'This version does not know the code: read the cause, and see the list of error codes of the version that the gateway runs.';

const REMEDIES = {
  // The connection to the service.
  'no-terminator':
    'No agent hosts the share at the moment: start the agent of its environment, or check "frontdoor agents status".',
  'service-refused':
    "The agent could not connect to the target, as the cause says: start the service there, permit the target with --allow-target, or correct the share's target. If TLS failed, the service speaks plain HTTP (use http://), or its certificate is not trusted by the agent.",
  'service-timeout':
    'The target did not respond to the agent in time: check that the service runs and is not overloaded.',
  'not-authorized':
    'The gateway may not dial the share, or the share was just deleted: check "frontdoor shares get", then the log of the gateway.',
  'control-away':
    'No control plane responded to the routers, and only a control plane makes circuits: check that it runs, and the log of the routers.',
  timeout:
    'No circuit could be made in time: check "frontdoor fabric circuit list" and whether agent and routers are connected.',
  'channel-closed':
    'The gateway lost its router for a moment: retry; if the problem persists, check the log of the router.',
  'circuit-closed':
    'The connection broke at the service or on the way to it: check the log of the service, then that of the agent.',
  overlay:
    'The overlay could not make a circuit for the given cause: check the log of the router and the control plane.',
  'no-answer':
    'The service closed the connection instead of responding: check its log at that time. A service that speaks TLS needs a target that begins with https://.',
  'malformed-answer':
    'The service sent a response that violates HTTP, as the cause describes: change the service.',
  'answer-timeout':
    'The service did not respond in time: check its log for what it was doing, or permit more time with "frontdoor shares policy change --response-timeout-seconds".',
  'stream-idle': 'No data was sent in either direction for too long: let one side send something regularly.',
  busy: 'Too many requests wait for this share: check whether the service is slow, or start more instances of it.',
  // The gateway and the control plane.
  internal: 'An internal error of the gateway: its log has the error id and the stack; please report it.',
  starting:
    'The gateway had no share list yet: retry; if the problem persists, check whether it reaches the control plane.',
  'share-unreadable':
    'The gateway cannot read a field of the share, which the cause names: use the same version of gateway and control plane, or set the policy again with "frontdoor shares policy set".',
  'not-decided':
    'The caller could not be verified in time: check whether the gateway reaches the control plane, and the control plane the provider.',
  'control-plane-away':
    'The gateway had no contact to the control plane for a minute, so callers who need an identity are refused: check whether the gateway reaches the edge API.',
  withdrawn:
    'The share was deleted, renamed or made private during the request: the activity log shows who changed it.',
  'client-gone':
    'The client disconnected before the response: if people wait too long, see the times of the request for the part that was slow.',
  // The requested address.
  'unknown-host': 'No share has this name: compare it with the endpoints of "frontdoor shares list".',
  misdirected:
    'The client used a connection that it made for another share: it should open one for each host.',
  'unknown-path':
    'The gateway answers the paths below /.frontdoor/ itself, and serves only log-in and log-out there: the service must not use them.',
  'wrong-method': 'Open the log-in or log-out page with GET; only the button of the log-out page sends POST.',
  'head-timeout':
    'The client opened a connection and did not send its request in time: its network is slow, or it keeps connections open before it needs them.',
  'body-too-slow':
    'The client sent less of its body in a second than a usable connection carries: check its network, or upload from another one.',
  // Access: see "frontdoor shares policy get".
  'access-expired':
    'The policy has expired: set another "expiresAt" with "frontdoor shares policy set", or none.',
  'address-denied':
    'The client\'s network is on the policy\'s deny list: remove it with "frontdoor shares policy change --remove-ip-deny" if the client should have access.',
  'address-not-allowed':
    "The client's network is not on the policy's allow list: add it if the client should have access.",
  'certificate-missing':
    'The policy requires a client certificate, and the client presented none: install one in the client, use https, and check that no proxy in front of the gateway ends TLS.',
  'certificate-not-trusted':
    "No authority of the policy issued the client's certificate, or the certificate is not valid now: check its issuer and dates, and the authorities of clientCertificate.",
  'certificate-not-allowed':
    "No name of the client's certificate is on the policy's list: add its common name, a DNS name or an e-mail address of it to clientCertificate.names.",
  'path-ambiguous':
    'With public paths, a path must have only one reading: no encoded slashes or dots, no empty or dotted segments.',
  'credential-missing':
    'The client sent no credential: an API key, a token, a password or a log-in, as the share requires.',
  'credential-wrong':
    'The credential does not belong (any more) to one of the share\'s auth providers: see "frontdoor auth-providers get" for its keys.',
  'credential-doubled':
    'The client sent two credentials of the same kind, which gateways never choose between: let it send one.',
  'provider-disabled': 'The auth provider is disabled: "frontdoor auth-providers change ID --enabled".',
  'login-not-available': 'No auth provider of the share with log-ins for browsers is enabled.',
  'issuer-away':
    'The keys of an OIDC issuer are not known, so its tokens cannot be verified: the control plane could not fetch them, and its log has the reason.',
  'email-missing': 'The policy requires an e-mail address, and the provider sent none that it has verified.',
  'email-not-allowed':
    'The e-mail address matches none of the policy\'s patterns: add it with "frontdoor shares policy change --add-email" if the person should have access.',
  'claim-not-met':
    'The claims of the caller do not satisfy all claim rules of the policy: see "frontdoor shares who-can-reach".',
  'person-unprovable':
    'The policy has rules about people (e-mail addresses, claims), and no auth provider of this address proves who somebody is: add one of type OIDC, GOOGLE or GITHUB with "frontdoor shares change --auth-provider-id", or remove the rules with "frontdoor shares policy change".',
  'rate-limited':
    'The caller sent more requests than the policy permits: let it wait for the time in Retry-After, or raise the limit with "frontdoor shares policy change --rate-limit".',
  'access-ended':
    "The caller's admission ended: its credential was revoked, expired, logged out or is no longer sufficient.",
  'too-many-wrong':
    'Many wrong credentials came from this network, which has to wait for the time in Retry-After: find the program with an old key or password there.',
  'other-origin':
    'A page of another origin sent the request with the browser\'s own credential: allow that origin with "frontdoor shares policy change --add-allowed-origin", or let its script use a key or token.',
  // Log-ins.
  'login-provider-not-available':
    'The provider of the log-in is disabled, or does not belong (any more) to the share.',
  'login-provider-failed':
    'The identity provider could not be reached or sent an unexpected response: check the log of the control plane, and --allow-egress.',
  'login-attempt-not-valid':
    'The log-in took longer than ten minutes, was used before, or came from another browser: start again.',
  'login-denied':
    'The identity provider refused, or the person cancelled: check at the provider whether the person may use this client, and try again.',
  'login-email-not-verified':
    'The share asks for an e-mail address, and the identity provider has not verified the one of this person: let the person verify it there.',
  'login-too-many':
    'Too many log-ins were started from this network at the same time: wait a minute; a program that follows redirects to log-in pages needs a key or token instead.',
  // The form of the request.
  'cookies-too-large':
    'The answer has cleared the cookies, so that the next request succeeds. If it happens again, the service or a page of a neighbour in the same zone sets too many: see "Neighbours in a browser" in the guide.',
} as const satisfies Readonly<Record<string, string>>;

/** Why a request was not served; reasons that are about its form are a `MessageRefusal`. */
export type FailureCode = keyof typeof REMEDIES;

export function remedyOf(code: string): string {
  if (hasRemedy(code)) return REMEDIES[code];
  return isRefusal(code) ? MESSAGE_REFUSALS[code].remedy : UNKNOWN;
}

/** Whether the table has a remedy for this code. */
export function hasRemedy(code: string): code is FailureCode {
  return Object.hasOwn(REMEDIES, code);
}

function isRefusal(code: string): code is keyof typeof MESSAGE_REFUSALS {
  return Object.hasOwn(MESSAGE_REFUSALS, code);
}
