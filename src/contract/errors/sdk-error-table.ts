/** Errors of enrollment, of the edge API as clients of the overlay meet them, and of the library. */
import { errorsSince } from '#base';

export const SDK_ERRORS = errorsSince('0.1.0', {
  'answer-of-newer-format': {
    kind: 'badGateway',
    meaning: 'The control plane answered in a newer format than this program knows.',
    remedy: 'Upgrade this program.',
  },
  'answer-unreadable': {
    kind: 'badGateway',
    meaning: 'The edge API sent an answer that cannot be read.',
    remedy:
      'See whether the address leads to a control plane of Frontdoor, and run versions that belong together.',
  },
  'api-url-insecure': {
    kind: 'invalid',
    meaning: 'The address of the API is not https, and an enrollment code is a secret.',
    remedy: 'Give the https address of the control plane.',
  },
  'api-url-invalid': {
    kind: 'invalid',
    meaning: 'The address of the API is not an http or https address.',
    remedy: 'Give the address as https://HOST or https://HOST:PORT.',
  },
  'bind-timeout': {
    kind: 'timeout',
    meaning: 'No router confirmed in time that the program hosts the service.',
    remedy:
      'Read the reason in the message: see whether a router is reachable, and whether this identity may host the service.',
  },
  'bundle-empty': {
    kind: 'badGateway',
    meaning: 'The control plane sent no certificate authority to a program that enrolls.',
    remedy:
      'See whether the address leads to a control plane of Frontdoor, then the log of the control plane.',
  },
  'enrollment-answer-invalid': {
    kind: 'badGateway',
    meaning: 'An answer to an enrollment lacks a required field.',
    remedy: 'Run versions that belong together, then get a new code and enroll again.',
  },
  'enrollment-code-refused': {
    kind: 'notFound',
    meaning: 'The enrollment code is unknown, used or expired.',
    remedy: 'Make a new code.',
  },
  'enrollment-token-expired': {
    kind: 'unauthenticated',
    meaning: 'The enrollment token has expired.',
    remedy: 'Get a new one.',
  },
  'enrollment-token-missing': {
    kind: 'invalid',
    meaning: 'An enrollment has no token, two tokens, or a token file that cannot be read.',
    remedy: 'Give the token, or the path of a readable file with it.',
  },
  'enrollment-token-of-other-kind': {
    kind: 'invalid',
    meaning: 'The enrollment token is for another kind of program.',
    remedy: 'Get one for this kind: agents, gateways and routers have tokens of their own.',
  },
  'enrollment-token-refused': {
    kind: 'unauthenticated',
    meaning: 'The edge API refuses the enrollment token: it is unknown, used or expired.',
    remedy: 'Get a new one.',
  },
  'enrollment-token-unproven': {
    kind: 'unauthenticated',
    meaning: 'The server that the enrollment token names did not sign it.',
    remedy:
      'Do not enroll over this network: somebody may be in between. Get a new token if the control plane has new keys.',
  },
  'enrollment-token-unreadable': {
    kind: 'invalid',
    meaning: 'The text is not an enrollment token.',
    remedy: 'Give the token exactly as it was shown.',
  },
  'far-end-not-allowed': {
    kind: 'forbidden',
    meaning: 'The name that a dialer asked for has no address that the config of the service allows.',
    remedy: 'Correct the DNS records of the name, or allowedAddresses in the host.v1 config.',
  },
  'feed-broken': {
    kind: 'unavailable',
    meaning: 'The connection over which the gateway receives shares was interrupted.',
    remedy:
      'Nothing: the gateway reconnects automatically. If the error remains, see the log of the control plane.',
  },
  'feed-ended': {
    kind: 'unavailable',
    meaning: 'The control plane closed the connection over which the gateway receives shares.',
    remedy: 'Nothing: the gateway reconnects automatically.',
  },
  'feed-line-too-long': {
    kind: 'badGateway',
    meaning: 'A record of the share feed is longer than the gateway accepts.',
    remedy: 'Run versions that belong together; if they do, report it.',
  },
  'feed-of-newer-format': {
    kind: 'badGateway',
    meaning: 'The control plane sends shares in a newer format than this gateway knows.',
    remedy: 'Upgrade the gateway.',
  },
  'identity-file-exists': {
    kind: 'conflict',
    meaning: 'The identity file that an enrollment would write exists.',
    remedy: 'Use the identity that is there, give another path, or set `replace`.',
  },
  'identity-file-unwritable': {
    kind: 'invalid',
    meaning:
      'The folder of the identity file does not exist, or this user cannot write in it. The token is still valid.',
    remedy: 'Make the folder, or give another path.',
  },
  'invalid-app-data': {
    kind: 'invalid',
    meaning: 'A dial sent application data that is no JSON object, or is too long.',
    remedy: 'Correct the program that dials the service.',
  },
  'invalid-host-config': {
    kind: 'invalid',
    meaning: 'A config that says how to host a service cannot be decoded; the message names the field.',
    remedy: 'Correct the host.v1, host.v2 or ziti-tunneler-server.v1 config of the service.',
  },
  'invalid-template': {
    kind: 'invalid',
    meaning: 'A template in a config of a service cannot be filled.',
    remedy: 'Correct the identity or sourceIp of the config as the message says.',
  },
  'key-unsupported': {
    kind: 'invalid',
    meaning: 'The key has a type for which certificates cannot be requested.',
    remedy: 'Use a key on P-256, P-384 or P-521, or RSA.',
  },
  'misconfigured-terminator': {
    kind: 'invalid',
    meaning: 'The address of a terminator cannot be dialed by its binding.',
    remedy: 'Correct address or binding of the terminator.',
  },
  'overlay-closed': {
    kind: 'conflict',
    meaning: 'The overlay was closed by this program.',
    remedy: 'Open it again before the call.',
  },
  'service-unknown': {
    kind: 'notFound',
    meaning: 'There is no service of this name that the identity may use in this way.',
    remedy: 'Compare the name and the permissions with those of `services`.',
  },
  'source-not-local': {
    kind: 'invalid',
    meaning: 'A dialer asked for a source address that the machine of the hosting router does not have.',
    remedy:
      'Give a tunnel router CAP_NET_ADMIN, so that it adds the address, or add it yourself, or remove it from allowedSourceAddresses.',
  },
  'terminator-invalid': {
    kind: 'invalid',
    meaning: 'The address, the cost or the precedence of a terminator is not valid.',
    remedy: 'Read the message for the rule.',
  },
  'too-many-lookups': {
    kind: 'limited',
    meaning: 'The host resolves too many names of hosted services at once.',
    remedy: 'See why the name servers of its machine do not answer.',
  },
  unexpected: {
    kind: 'internal',
    meaning: 'The library met an error that it does not know.',
    remedy: 'Read the cause, and report it.',
  },
});
