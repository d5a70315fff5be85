/** Errors of enrollment, of the edge API as clients of the overlay meet them, and of the library. */
import { errorsSince } from '#base';

export const SDK_ERRORS = errorsSince('0.1.0', {
  'answer-of-newer-format': {
    kind: 'badGateway',
    meaning: 'The control plane responded in a newer format than this program supports.',
    remedy: 'Upgrade this program.',
  },
  'answer-unreadable': {
    kind: 'badGateway',
    meaning: 'The edge API sent a response that cannot be read.',
    remedy:
      'Check that the address is that of a Frontdoor control plane, and use compatible versions of both programs.',
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
      'The message has the reason: check that a router is reachable, and that this identity is allowed to host the service.',
  },
  'bundle-empty': {
    kind: 'badGateway',
    meaning: 'The control plane sent no certificate authority to a program that enrolls.',
    remedy: 'Check that the address is that of a Frontdoor control plane, then the log of the control plane.',
  },
  'enrollment-answer-invalid': {
    kind: 'badGateway',
    meaning: 'A response to an enrollment lacks a required field.',
    remedy: 'Use compatible versions of both programs, then get a new code and enroll again.',
  },
  'enrollment-code-refused': {
    kind: 'notFound',
    meaning: 'The enrollment code is unknown, used or expired.',
    remedy: 'Create a new code.',
  },
  'enrollment-token-expired': {
    kind: 'unauthenticated',
    meaning: 'The enrollment token has expired.',
    remedy: 'Get a new token.',
  },
  'enrollment-token-missing': {
    kind: 'invalid',
    meaning: 'An enrollment has no token, two tokens, or a token file that cannot be read.',
    remedy: 'Give the token, or the path of a readable file with it.',
  },
  'enrollment-token-of-other-kind': {
    kind: 'invalid',
    meaning: 'The enrollment token is for a different kind of program.',
    remedy: 'Get one for this kind: agents, gateways and routers use different tokens.',
  },
  'enrollment-token-refused': {
    kind: 'unauthenticated',
    meaning: 'The edge API refuses the enrollment token: it is unknown, used or expired.',
    remedy: 'Get a new token.',
  },
  'enrollment-token-unproven': {
    kind: 'unauthenticated',
    meaning: 'The server that the enrollment token names did not sign it.',
    remedy:
      'Do not enroll over this network: someone may be intercepting the connection. Get a new token if the control plane has new keys.',
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
      'No action is required: the gateway reconnects automatically. If the error persists, check the log of the control plane.',
  },
  'feed-ended': {
    kind: 'unavailable',
    meaning: 'The control plane closed the connection over which the gateway receives shares.',
    remedy: 'No action is required: the gateway reconnects automatically.',
  },
  'feed-line-too-long': {
    kind: 'badGateway',
    meaning: 'A record of the share feed is longer than the gateway accepts.',
    remedy: 'Use compatible versions of both programs; if they do, report it.',
  },
  'feed-of-newer-format': {
    kind: 'badGateway',
    meaning: 'The control plane sends shares in a newer format than this gateway supports.',
    remedy: 'Upgrade the gateway.',
  },
  'identity-file-exists': {
    kind: 'conflict',
    meaning: 'The identity file that an enrollment would write exists.',
    remedy: 'Use the existing identity, specify another path, or set `replace`.',
  },
  'identity-file-unwritable': {
    kind: 'invalid',
    meaning:
      'The folder of the identity file does not exist, or this user cannot write in it. The token is still valid.',
    remedy: 'Create the directory, or specify another path.',
  },
  'invalid-app-data': {
    kind: 'invalid',
    meaning: 'A dial sent application data that is not a JSON object, or is too long.',
    remedy: 'Correct the program that dials the service.',
  },
  'invalid-host-config': {
    kind: 'invalid',
    meaning: 'A config for hosting a service cannot be decoded; the message names the field.',
    remedy: 'Correct the host.v1, host.v2 or ziti-tunneler-server.v1 config of the service.',
  },
  'invalid-template': {
    kind: 'invalid',
    meaning: 'A template in a config of a service cannot be filled.',
    remedy: 'Correct the identity or sourceIp of the config as the message describes.',
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
    meaning: 'There is no service with this name that the identity is allowed to use in this way.',
    remedy: 'Check the name and the permissions against those in `services`.',
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
    remedy: 'The message describes the rule.',
  },
  unexpected: {
    kind: 'internal',
    meaning: 'The library received an unknown error.',
    remedy: 'Please report it with the cause.',
  },
});
