/**
 * What the owner of a share can do about a failed request, by failure code. Each says more than its code. Those about the
 * form of a request stand in `message-refusal-table.ts`.
 */
import { MESSAGE_REFUSALS } from './message-refusal-table.ts';
import { LOGIN_TYPES_TEXT } from './provider-types/provider-type-table.ts';

/** For a code of a newer gateway. */
const UNKNOWN =
  'This version does not know the code: read the cause, and see the list of error codes for the version that the gateway runs.';

const REMEDIES = {
  // The connection to the service.
  'no-terminator':
    'No agent currently hosts the share: start the agent of its environment, or check "frontdoor agents status".',
  'service-refused':
    'The agent could not connect to the target, as the cause says: start the service, allow the target with --allow-target, or correct the target of the share. If TLS failed, the service speaks plain HTTP (use http://), or its certificate is not trusted: accept it with "frontdoor shares upstream change --target-pin", or give its authority with --target-ca, its name with --target-server-name, or --target-insecure.',
  'service-timeout':
    'The target did not respond to the agent in time: check that the service is running and is not overloaded. It has 5 seconds to accept a connection, or what "frontdoor shares upstream change --connect-timeout" has set.',
  'not-authorized':
    'The gateway is not allowed to dial the share, or the share has just been deleted: check "frontdoor shares get", then the log of the gateway.',
  'control-away':
    'No control plane responded to the routers, which need one to create circuits: check that a control plane is running, and check the log of the routers.',
  timeout:
    'No circuit could be created in time: check "frontdoor fabric circuit list", and check that agent and routers are connected.',
  'channel-closed':
    'The gateway briefly lost its connection to the router: retry; if the problem persists, check the log of the router.',
  'circuit-closed':
    'The connection to the service was lost: check the log of the service, then that of the agent.',
  overlay:
    'The overlay could not create a circuit; see the cause, and check the log of the router and the control plane.',
  'no-answer':
    'The service closed the connection instead of responding: check its log at that time. A service that uses TLS needs a target that starts with https://.',
  'malformed-answer':
    'The service sent a response that violates HTTP, as the cause describes: fix the service.',
  maintenance:
    'The owner of the share switched maintenance on: "frontdoor shares upstream change TOKEN --no-maintenance" ends it.',
  'obsolete-answer':
    'The service sent a response in a form that HTTP no longer permits, as old devices do: a line that ends without CR, a header that continues on the next line, a space before a colon, or the same Content-Length twice. Update it, or accept its responses with "frontdoor shares upstream change --lenient".',
  'foreign-host':
    'The service accepts only hosts that it knows: do what the cause says. With "frontdoor shares upstream change --host-header localhost" (or target) it gets a host of its own, and addresses in headers are rewritten.',
  'grpc-target':
    'A client called the share with gRPC, and its target is one of HTTP/1.1, which carries no gRPC: give it a target that starts with grpc://, or grpcs:// for a service with TLS.',
  'answer-timeout':
    'The service did not respond in time: check its log, or allow more time with "frontdoor shares policy change --response-timeout-seconds".',
  'stream-idle':
    'No data was sent in either direction for too long: send keep-alive data from one side, or allow more time with "frontdoor shares upstream change --idle-timeout".',
  busy: 'Too many requests are waiting for this share: check whether the service is slow, or start more instances of it.',
  // The gateway and the control plane.
  internal:
    'An internal error of the gateway: its log has the error ID and the stack trace; please report it.',
  starting:
    'The gateway had no share list yet: retry; if the problem persists, check that it can reach the control plane.',
  'share-unreadable':
    'The gateway cannot read a field of the share, which the cause names: use the same version of gateway and control plane, or set the policy again with "frontdoor shares policy set".',
  'not-decided':
    'The caller could not be verified in time: check that the gateway can reach the control plane, and that the control plane can reach the provider.',
  'control-plane-away':
    'The gateway has not reached the control plane for a minute, so it refuses callers that need an identity: check that the gateway can reach the edge API.',
  'port-closed':
    'A gateway cannot open the port of the share, as the cause says: another program on its machine has the port, or the gateway may not open it. Free the port, or give the share another one with "frontdoor shares change --ingress-port".',
  'port-guarded':
    'The share has a port, where nobody can sign in, and guards that need it: remove its auth providers and the rules emails, claims, basicAuth and clientCertificate, or make the share private.',
  withdrawn:
    'The share was deleted, renamed or made private during the request: the activity log shows who changed it.',
  'client-gone':
    'The client disconnected before the response: if people wait too long, the timings of the request show which part was slow.',
  // The requested address.
  'unknown-host': 'No share has this host name: compare it with the endpoints in "frontdoor shares list".',
  misdirected:
    'The client reused a connection that it had opened for another share: it should open one connection for each host.',
  'unknown-path':
    'The gateway reserves the paths under /.frontdoor/ for sign-in and sign-out: the service must not use them.',
  'wrong-method':
    'Open the sign-in or sign-out page with GET; only the button on the sign-out page sends POST.',
  'head-timeout':
    'The client opened a connection and did not send its request in time: its network is slow, or it keeps connections open before it needs them.',
  'body-too-slow': 'The client sent its body too slowly: check its network, or upload from a different one.',
  // Access: see "frontdoor shares policy get".
  'access-expired':
    'The policy has expired: set a new "expiresAt" with "frontdoor shares policy set", or remove it.',
  'address-denied':
    'The client\'s network is on the policy\'s deny list: remove it with "frontdoor shares policy change --remove-ip-deny" if the client should have access.',
  'address-not-allowed':
    "The client's network is not on the policy's allow list: add it if the client should have access.",
  'certificate-missing':
    'The policy requires a client certificate, and the client presented none: install one in the client, use https, and check that no proxy in front of the gateway terminates TLS.',
  'certificate-not-trusted':
    "No authority of the policy issued the client's certificate, or the certificate is not currently valid: check its issuer and dates, and the authorities of clientCertificate.",
  'certificate-not-allowed':
    "No name of the client's certificate is on the policy's list: add its common name, a DNS name or an email address of it to clientCertificate.names.",
  'path-ambiguous':
    'With public paths, a request path must be unambiguous: no encoded slashes or dots, no empty or dot segments. If the target has a path, it must have no dot segments.',
  'credential-missing':
    'The client sent no credential. The share requires an API key, a token, a password or a sign-in.',
  'credential-wrong':
    'The credential does not belong, or no longer belongs, to one of the share\'s auth providers: see "frontdoor auth-providers get" for its keys.',
  'credential-doubled': 'The client sent two credentials of the same kind: send only one.',
  'provider-disabled': 'The auth provider is disabled: "frontdoor auth-providers change ID --enabled".',
  'login-not-available': 'No auth provider that supports sign-in in a browser is enabled for the share.',
  'issuer-away':
    'The control plane could not fetch the keys of the OpenID issuer, so its tokens cannot be verified: the log of the control plane has the reason.',
  'email-missing': 'The policy requires an email address, and the provider did not send a verified one.',
  'email-not-allowed':
    'The email address does not match any pattern in the policy: add it with "frontdoor shares policy change --add-email" if the person should have access.',
  'claim-not-met':
    'The claims of the caller do not satisfy all claim rules of the policy: see "frontdoor shares who-can-reach".',
  'person-unprovable': `The policy has rules about people (email addresses, claims), but no auth provider of the share identifies people: add one of type ${LOGIN_TYPES_TEXT} with "frontdoor shares change --auth-provider-id", or remove the rules with "frontdoor shares policy change".`,
  'rate-limited':
    'The caller sent more requests than the policy allows: wait for the time in Retry-After, or raise the limit with "frontdoor shares policy change --rate-limit".',
  'access-ended':
    'The caller lost access: its credential was revoked, has expired or is no longer sufficient, or the person signed out.',
  'too-many-wrong':
    'This network sent too many wrong credentials and has to wait for the time in Retry-After: find the program there that uses an old key or password.',
  'other-origin':
    'A page of another origin sent the request with the browser\'s own credential: allow that origin with "frontdoor shares policy change --add-allowed-origin", or let its script use a key or token.',
  // Log-ins.
  'login-provider-not-available': 'The auth provider is disabled, or no longer belongs to the share.',
  'login-provider-failed':
    'The identity provider could not be reached or sent an unexpected response: check the log of the control plane, and that --allow-egress allows the address.',
  'login-attempt-not-valid':
    'The sign-in took longer than ten minutes, was already used, or came from another browser: start again.',
  'login-denied':
    'The identity provider refused the sign-in, or the person cancelled it: check that the provider allows the person to use this client, and try again.',
  'login-email-not-verified':
    'The share asks for an email address, and the identity provider has not verified the address of this person: the person has to verify it there.',
  'login-too-many':
    'Too many sign-ins were started from this network at the same time: wait a minute; a program that follows redirects to sign-in pages needs a key or token instead.',
  // Proxies in front of the gateway.
  'too-many-at-once':
    'One address has as many requests and WebSockets in progress, through proxies in front of the gateway, as --max-connections-per-address allows: raise it, or find the program that opens so many.',
  'https-required':
    'The policy leads requests over plain HTTP to HTTPS, and clients of gRPC follow no redirect: let the client use TLS, or set "httpsRedirect" of the policy to "never".',
  'proxy-scheme-unknown':
    'The page requires HTTPS, and a proxy in front of the gateway terminates TLS without a report of it: name its address in --trusted-proxies of the gateway, and let it set X-Forwarded-Proto. Without both, browsers would be redirected in circles.',
  // The form of the request.
  'cookies-too-large':
    'The response has cleared the cookies, so the next request succeeds. If it happens again, the service or another service in the same zone sets too many cookies: see "Neighbours in a browser" in the guide.',
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
