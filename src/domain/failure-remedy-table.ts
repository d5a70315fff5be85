/**
 * What the owner of a share can do about a failed request, by failure code. A code that is not listed concerns
 * the form of the request, which its cause describes completely.
 */

const OF_THE_FORM = 'The client must change the request, as the cause describes.';

const REMEDIES = {
  // The connection to the service.
  'no-terminator':
    'No agent hosts the share at the moment: start the agent of its environment, or check "frontdoor agents status".',
  'service-refused':
    "The agent reached the target's machine, but nothing accepts connections there: start the service, or change the share's target.",
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
  'no-answer': 'The service closed the connection instead of responding: check its log at that time.',
  'malformed-answer':
    'The service sent a response that violates HTTP, as the cause describes: change the service.',
  'answer-timeout': 'The service did not respond in time: check what it was doing.',
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
  withdrawn: 'The share was deleted or renamed during the request.',
  'client-gone': 'The client disconnected before the response.',
  // The requested address.
  'unknown-host': 'No share has this name: compare it with the endpoints of "frontdoor shares list".',
  misdirected:
    'The client used a connection that it made for another share: it should open one for each host.',
  'unknown-path': 'Below /.frontdoor/ only log-in and log-out are served.',
  'wrong-method': 'This path supports other methods only.',
  'head-timeout': 'The client did not send its request in time: check its connection.',
  'body-too-slow': 'The client sent the body too slowly: check its connection.',
  // Access: see "frontdoor shares policy get".
  'access-expired':
    'The policy has expired: set another "expiresAt" with "frontdoor shares policy set", or none.',
  'address-denied': "The client's network is on the policy's deny list.",
  'address-not-allowed':
    "The client's network is not on the policy's allow list: add it if the client should have access.",
  'certificate-missing': 'The policy requires a client certificate, and the client presented none.',
  'certificate-not-trusted':
    "No authority of the policy issued the client's certificate, or the certificate is not valid now.",
  'certificate-not-allowed': "No name of the client's certificate is on the policy's list.",
  'path-ambiguous':
    'With public paths, a path must have only one reading: no encoded slashes or dots, no empty or dotted segments.',
  'credential-missing':
    'The client sent no credential: an API key, a token, a password or a log-in, as the share requires.',
  'credential-wrong':
    'The credential does not belong (any more) to one of the share\'s auth providers: see "frontdoor auth-providers get" for its keys.',
  'credential-doubled': 'The client sent two credentials of the same kind: it must send one.',
  'provider-disabled': 'The auth provider is disabled: "frontdoor auth-providers change ID --enabled".',
  'login-not-available': 'No auth provider of the share with log-ins for browsers is enabled.',
  'issuer-away':
    'The keys of an OIDC issuer are not known, so its tokens cannot be verified: the control plane could not fetch them, and its log has the reason.',
  'email-missing': 'The policy requires an e-mail address, and the provider sent none that it has verified.',
  'email-not-allowed': "The e-mail address matches none of the policy's patterns.",
  'claim-not-met':
    'The claims of the caller do not satisfy all claim rules of the policy: see "frontdoor shares who-can-reach".',
  'person-unprovable':
    'The policy has rules about people (e-mail addresses, claims), and no auth provider of this address proves who somebody is: add one of type OIDC, GOOGLE or GITHUB with "frontdoor shares change --auth-provider-id", or remove the rules with "frontdoor shares policy change".',
  'rate-limited': "The caller exceeded the policy's rate limit.",
  'access-ended':
    "The caller's admission ended: its credential was revoked, expired, logged out or is no longer sufficient.",
  'too-many-wrong': 'This address sent too many wrong credentials and has to wait.',
  'other-origin': 'Another site sent the browser to the log-out, which is refused.',
  // Log-ins.
  'login-provider-not-available':
    'The provider of the log-in is disabled, or does not belong (any more) to the share.',
  'login-provider-failed':
    'The identity provider could not be reached or sent an unexpected response: check the log of the control plane, and --allow-egress.',
  'login-attempt-not-valid':
    'The log-in took longer than ten minutes, was used before, or came from another browser: start again.',
  'login-denied': 'The identity provider, or the person, refused.',
  'login-email-not-verified': 'The identity provider has not verified the e-mail address.',
  'login-too-many': 'Too many log-ins were started from this address at the same time: wait a little.',
  // The form of the request.
  'cookies-too-large': OF_THE_FORM,
} as const satisfies Readonly<Record<string, string>>;

/** Why a request was not served; reasons that are about its form are a `MessageRefusal`. */
export type FailureCode = keyof typeof REMEDIES;

export function remedyOf(code: string): string {
  return hasRemedy(code) ? REMEDIES[code] : OF_THE_FORM;
}

/** Whether the table has a remedy for this code. */
export function hasRemedy(code: string): code is FailureCode {
  return Object.hasOwn(REMEDIES, code);
}
