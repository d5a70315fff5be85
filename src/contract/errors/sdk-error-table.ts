/** Errors of enrollment, and of the edge API as clients of the overlay meet them. */
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
  'feed-broken': {
    kind: 'unavailable',
    meaning: 'The connection over which the gateway receives shares was interrupted.',
    remedy:
      'Nothing: the gateway reconnects automatically. If the error remains, see the log of the control plane.',
  },
  'feed-of-newer-format': {
    kind: 'badGateway',
    meaning: 'The control plane sends shares in a newer format than this gateway knows.',
    remedy: 'Upgrade the gateway.',
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
  'key-unsupported': {
    kind: 'invalid',
    meaning: 'The key has a type for which certificates cannot be requested.',
    remedy: 'Use a key on P-256, P-384 or P-521, or RSA.',
  },
});
