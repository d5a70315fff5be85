/**
 * What the owner of a share can do about a failed request, by the code of the failure. A code that is not here is about
 * the form of the request: its cause says all that can be said.
 */

const REMEDIES: Readonly<Record<string, string>> = {
  // The way to the service.
  'no-terminator':
    'No agent hosts the share at the moment: start the agent of its environment, or see "frontdoor agents status".',
  'service-refused':
    "The agent reached the target's machine, and nothing accepts connections there: start the service, or change the share's target.",
  'service-timeout':
    'The target did not answer the agent in time: see whether the service is up and not overloaded.',
  'not-authorized':
    'The gateway may not dial the share, or it has just been deleted: see "frontdoor shares get", then the log of the gateway.',
  'control-away':
    'No control plane answered the routers, and only a control plane makes circuits: see whether it runs, and the log of the routers.',
  timeout:
    'No circuit could be made in time: see "frontdoor fabric circuit list" and whether agent and routers are connected.',
  'channel-closed':
    'The gateway lost its router for a moment: ask again; if it stays, see the log of the router.',
  'circuit-closed':
    'The connection broke on its way to the service or in it: see the log of the service, then that of the agent.',
  overlay:
    'The overlay could not make a circuit: the cause says why; see the log of the router and the control plane.',
  'no-answer': 'The service closed the connection instead of answering: see its log at that time.',
  'malformed-answer':
    'The service sent an answer that breaks HTTP: the cause says how; it has to be changed there.',
  'answer-timeout': 'The service did not answer in time: see what it was doing.',
  'stream-idle':
    'Nothing was said in either direction for too long: let one side send something now and then.',
  busy: 'More requests wait for this share than are kept: see whether the service is slow, or start more of it.',
  // The gateway and the control plane.
  internal: 'A mistake in the gateway: its log has the error id and the stack; please report it.',
  starting:
    'The gateway had not heard of any share yet: ask again; if it stays, see whether it reaches the control plane.',
  'share-unreadable':
    'The gateway cannot read a field of the share that its cause names: bring gateway and control plane to one version, or set the policy again with "frontdoor shares policy set".',
  'not-decided':
    'Who calls could not be found out in time: see whether the gateway reaches the control plane, and that the provider.',
  'control-plane-away':
    'The gateway has not heard of the control plane for a minute, so nobody who must prove who he is gets in: see whether it reaches the edge API.',
  withdrawn: 'The share was deleted or renamed while the request was under way.',
  'client-gone': 'The client did not wait for the answer.',
  // The address.
  'unknown-host': 'No share has this name: compare it with the endpoints of "frontdoor shares list".',
  misdirected:
    'The client used a connection that it made for another share: it should open one for each host.',
  'unknown-path': 'Below /.frontdoor/ only log-in and log-out are served.',
  'wrong-method': 'This path takes other methods only.',
  'head-timeout': 'The client did not send its request in time: see its connection.',
  'body-too-slow': 'The client sent the body too slowly: see its connection.',
  // Who may come in: see "frontdoor shares policy get".
  'access-expired':
    'The policy\'s time is over: set another "expiresAt" with "frontdoor shares policy set", or none.',
  'address-denied': "The client's network is on the policy's deny list.",
  'address-not-allowed':
    "The client's network is not on the policy's allow list: add it if the client should get in.",
  'certificate-missing': 'The policy asks for a client certificate and the client showed none.',
  'certificate-not-trusted':
    'No authority of the policy made the certificate of the client, or it is not valid now.',
  'certificate-not-allowed': "No name of the client's certificate is on the policy's list.",
  'path-ambiguous':
    'With public paths, a path must be readable in one way only: no encoded slashes or dots, no empty or dotted segments.',
  'credential-missing':
    'The client showed no credential: an API key, a token, a password or a log-in, as the share asks.',
  'credential-wrong':
    'The credential is not (any more) one of the share\'s: see "frontdoor auth-providers get" for its keys.',
  'credential-doubled': 'The client sent the same kind of credential twice: it must choose one.',
  'provider-disabled': 'The auth provider is disabled: "frontdoor auth-providers change ID --enabled".',
  'login-not-available': 'No auth provider of the share that browsers log in with is enabled.',
  'issuer-away':
    'The keys of an OIDC issuer are not known, so its tokens cannot be checked: the control plane could not fetch them; its log says why.',
  'email-missing': 'The policy asks for an e-mail address, and the provider told none that it has verified.',
  'email-not-allowed': "The e-mail address fits none of the policy's patterns.",
  'claim-not-met':
    'What the provider says of the caller meets not all claims of the policy: see "frontdoor shares who-can-reach".',
  'rate-limited': "The caller asked more often than the policy's rate limit lets it.",
  'access-ended':
    'What the caller was let in with is over: revoked, expired, logged out or no longer enough.',
  'too-many-wrong': 'Too many wrong credentials came from this address: it has to wait.',
  'other-origin': 'Another site sent the browser to log out: that is not taken.',
  // Log-ins.
  'login-provider-not-available':
    "The provider of the log-in is disabled, or not (any more) one of the share's.",
  'login-provider-failed':
    'The identity provider could not be reached or answered wrongly: see the log of the control plane, and --allow-egress.',
  'login-attempt-not-valid':
    'The log-in took longer than ten minutes, was used before, or came from another browser: begin again.',
  'login-denied': 'The identity provider, or the person, said no.',
  'login-email-not-verified': 'The identity provider has not verified the e-mail address.',
  'login-too-many': 'Too many log-ins were begun at once from this address: wait a little.',
};

const OF_THE_FORM = 'The client must send it differently: the cause says what is wrong.';

export function remedyOf(code: string): string {
  return Object.hasOwn(REMEDIES, code) ? REMEDIES[code]! : OF_THE_FORM;
}

/** Whether somebody thought about this code. */
export function hasRemedy(code: string): boolean {
  return Object.hasOwn(REMEDIES, code);
}
