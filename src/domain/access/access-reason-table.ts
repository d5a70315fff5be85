/**
 * Reasons for refusing a caller: the code for logs, records and explanations, the status, and the sentence for
 * the page. Those sentences reveal nothing that only the owner should know.
 */
export interface AccessReasonRow {
  readonly status: number;
  readonly message: string;
  /** The sentence for the owner: logs and records have it beside the code. */
  readonly cause: string;
}

export const ACCESS_REASONS = {
  'access-expired': {
    status: 403,
    message: 'Access to this address has expired.',
    cause: 'the time of the policy is over',
  },
  'address-denied': {
    status: 403,
    message: 'Access from your network is not allowed.',
    cause: 'the network of the client is denied',
  },
  'address-not-allowed': {
    status: 403,
    message: 'Access from your network is not allowed.',
    cause: 'the network of the client is not among those allowed',
  },
  'certificate-missing': {
    status: 403,
    message: 'A client certificate is required here.',
    cause: 'the client presented no certificate',
  },
  'certificate-not-trusted': {
    status: 403,
    message: 'Your client certificate is not accepted here.',
    cause: 'no trusted authority issued the certificate of the client, or it is not valid now',
  },
  'certificate-not-allowed': {
    status: 403,
    message: 'Your client certificate is not accepted here.',
    cause: 'no name of the certificate is allowed',
  },
  'path-ambiguous': {
    status: 400,
    message: 'The path of the request can be read in more than one way.',
    cause: 'the path can be read in more than one way',
  },
  'credential-missing': {
    status: 401,
    message: 'A credential is required here.',
    cause: 'the request carries no credential',
  },
  'credential-wrong': {
    status: 401,
    message: 'The credential is not accepted here.',
    cause: 'no provider and no user of the share has the credential',
  },
  'credential-doubled': {
    status: 400,
    message: 'The request carries the same credential more than once.',
    cause: 'the request carries the same credential more than once',
  },
  'provider-disabled': {
    status: 401,
    message: 'The credential is not accepted here at the moment.',
    cause: 'every provider that could accept a credential is disabled',
  },
  'login-not-available': {
    status: 503,
    message: 'Sign-in is not possible here at the moment.',
    cause: 'no provider with sign-ins is enabled',
  },
  'issuer-away': {
    status: 503,
    message: 'Your access cannot be verified at the moment.',
    cause: 'the keys of the issuer of the token are not known',
  },
  'control-plane-away': {
    status: 503,
    message: 'Your access cannot be verified at the moment.',
    cause: 'the gateway had no contact with the control plane for a minute',
  },
  'other-origin': {
    status: 403,
    message: 'Another site may not do this in your name.',
    cause: 'a page of another origin made the request',
  },
  'email-missing': {
    status: 403,
    message: 'You are signed in, but without a verified email address.',
    cause: 'the sign-in has no verified email address',
  },
  'email-not-allowed': {
    status: 403,
    message: 'You are signed in, but do not have access to this address.',
    cause: 'the email address matches no pattern of the policy',
  },
  'claim-not-met': {
    status: 403,
    message: 'You are signed in, but do not have access to this address.',
    cause: 'the claims do not satisfy the rules of the policy',
  },
  'person-unprovable': {
    status: 403,
    message: 'Only certain people have access to this address, and nobody can sign in here.',
    cause: 'the policy has rules about people, and no provider here proves who a person is',
  },
  'rate-limited': {
    status: 429,
    message: 'Too many requests. Please wait a little.',
    cause: 'the caller sent more requests than its limit',
  },
} as const satisfies Readonly<Record<string, AccessReasonRow>>;

export type AccessReason = keyof typeof ACCESS_REASONS;
