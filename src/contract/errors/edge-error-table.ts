/** The codes of OpenZiti that the edge API refuses with. Codes of Frontdoor that OpenZiti does not have are sent in capitals. */
import { errorsSince } from '#base';

export const EDGE_ERRORS = errorsSince('0.1.0', {
  CAN_NOT_UPDATE_ROUTER: {
    kind: 'conflict',
    meaning: 'An edge router cannot be changed among the transit routers.',
    remedy: 'Change it at `edge-routers`.',
  },
  CONFLICT_CANNOT_DELETE_REFERENCED: {
    kind: 'conflict',
    meaning: 'Another entity of the edge management API refers to the one to be deleted.',
    remedy: 'Delete or change the configs of the config type first.',
  },
  COULD_NOT_PROCESS_CSR: {
    kind: 'invalid',
    meaning: 'The certificate request cannot be used.',
    remedy: 'See the reason in the message, and make another request.',
  },
  COULD_NOT_VALIDATE: {
    kind: 'invalid',
    meaning: 'The request or its body cannot be read.',
    remedy: 'See the reason in the message; use compatible versions of both programs.',
  },
  FORBIDDEN: {
    kind: 'forbidden',
    meaning: 'The operation is for identities of another kind.',
    remedy: 'Use an identity of the kind that the message names.',
  },
  INVALID_AUTH: {
    kind: 'unauthenticated',
    meaning: 'The certificate, or the user name and password, was rejected.',
    remedy: 'Read the reason in the log of the control plane; enroll again if the certificate has expired.',
  },
  INVALID_AUTH_METHOD: {
    kind: 'invalid',
    meaning: 'The authentication request uses an unsupported method.',
    remedy: 'Authenticate with the certificate of an enrolled identity, or with user name and password.',
  },
  INVALID_ENROLLMENT_TOKEN: {
    kind: 'invalid',
    meaning: 'The enrollment token is unknown, used or expired.',
    remedy: 'Get a new token.',
  },
  INVALID_FILTER: {
    kind: 'invalid',
    meaning: 'The filter of a list cannot be read, or is too long, too deep or has too many terms.',
    remedy: 'The cause names the symbol and its position.',
  },
  INVALID_SORT_IDENTIFIER: {
    kind: 'invalid',
    meaning: 'The order of a list names a field that cannot be sorted by.',
    remedy: 'See the cause; the responses of the list contain its fields.',
  },
  METHOD_NOT_ALLOWED: {
    kind: 'wrongMethod',
    meaning: 'The path does not support this method.',
    remedy: 'Use one of the methods that the cause and the header Allow name.',
  },
  INVALID_POSTURE: {
    kind: 'conflict',
    meaning:
      'The device of the session does not pass the posture checks of any policy that grants the service.',
    remedy:
      'Report the posture that the failed checks in the cause ask for, and request the service session again.',
  },
  MFA_EXISTS: {
    kind: 'conflict',
    meaning: 'The identity has a second factor.',
    remedy: 'Remove it first, with a code.',
  },
  CA_ALREADY_VERIFIED: {
    kind: 'conflict',
    meaning: 'The authority is verified already.',
    remedy: 'No action is required; the authority can be used.',
  },
  CERT_FAILED_VALIDATION: {
    kind: 'invalid',
    meaning:
      'The certificate of the connection was not issued by a verified authority that allows this enrollment.',
    remedy:
      'Verify the authority, allow the enrollment, and present a valid client certificate with its intermediate certificates.',
  },
  CERT_IN_USE: {
    kind: 'conflict',
    meaning: 'An identity has the certificate, or the external id in it, already.',
    remedy: 'Authenticate with it, or enroll with another certificate.',
  },
  MISSING_CERT_CLAIM: {
    kind: 'invalid',
    meaning: 'The certificate lacks the external id that the `externalIdClaim` of its authority selects.',
    remedy: 'Enroll with a certificate that has the id, or change the claim of the authority.',
  },
  ENROLLMENT_IDENTITY_ALREADY_ENROLLED: {
    kind: 'conflict',
    meaning: 'An identity has the external id of the token already.',
    remedy: 'Authenticate with the token, or delete the identity.',
  },
  INVALID_ENROLLMENT_NOT_ALLOWED: {
    kind: 'conflict',
    meaning: 'The signer of the token or its authentication policy does not allow this enrollment.',
    remedy: 'Allow enrollment by token or by certificate in the signer, and the method in its policy.',
  },
  FAILED_CERTIFICATE_VALIDATION: {
    kind: 'invalid',
    meaning: 'The verification certificate is not a valid one of the authority.',
    remedy: 'Sign it with the key of the authority.',
  },
  INVALID_COMMON_NAME: {
    kind: 'invalid',
    meaning: 'The common name of the verification certificate is wrong.',
    remedy: 'Issue it for the verification token of the authority.',
  },
  MFA_INVALID_TOKEN: {
    kind: 'invalid',
    meaning: 'The code of the second factor is wrong or has already been used.',
    remedy: 'Send the current code from the authenticator app, or an unused recovery code.',
  },
  MFA_REQUIRED: {
    kind: 'conflict',
    meaning: 'The authentication policy of the identity requires a second factor.',
    remedy: 'Ask an administrator to remove the factor, and enroll another one at the next authentication.',
  },
  MFA_NOT_ENROLLED: {
    kind: 'conflict',
    meaning: 'The identity has no second factor, or its enrollment is in another state.',
    remedy: 'Start the enrollment, or complete it with a first code.',
  },
  NOT_FOUND: {
    kind: 'notFound',
    meaning: 'The object of the request does not exist, or this identity has no access to it.',
    remedy: 'Check the ID and the permissions of the identity.',
  },
  RATE_LIMITED: {
    kind: 'limited',
    meaning: 'The identity or its address sent too many requests.',
    remedy: 'Wait for the number of seconds in Retry-After.',
  },
  UNAUTHORIZED: {
    kind: 'unauthenticated',
    meaning: 'The session has ended, or belongs to another certificate.',
    remedy:
      'No action is required: clients authenticate again automatically. If the error persists, check the log of the control plane.',
  },
  UNHANDLED: {
    kind: 'internal',
    meaning: 'An internal error; the log contains the id in the message.',
    remedy: 'Find the id in the log of the control plane, and report it.',
  },
});
