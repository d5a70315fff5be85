/**
 * Reasons for refusing a caller: the code for logs, records and explanations, the status, and the sentence for
 * the page. The sentences reveal nothing that only the owner should know.
 */
export interface AccessReasonRow {
  readonly status: number;
  readonly message: string;
}

export const ACCESS_REASONS = {
  'access-expired': { status: 403, message: 'Access to this address has expired.' },
  'address-denied': { status: 403, message: 'Access from your network is not allowed.' },
  'address-not-allowed': { status: 403, message: 'Access from your network is not allowed.' },
  'certificate-missing': { status: 403, message: 'A client certificate is required here.' },
  'certificate-not-trusted': { status: 403, message: 'Your client certificate is not accepted here.' },
  'certificate-not-allowed': { status: 403, message: 'Your client certificate is not accepted here.' },
  'path-ambiguous': { status: 400, message: 'The path of the request can be read in more than one way.' },
  'credential-missing': { status: 401, message: 'A credential is required here.' },
  'credential-wrong': { status: 401, message: 'The credential is not accepted here.' },
  'credential-doubled': { status: 400, message: 'The request carries the same credential more than once.' },
  'provider-disabled': { status: 401, message: 'The credential is not accepted here at the moment.' },
  'login-not-available': { status: 503, message: 'Log-in is not possible here at the moment.' },
  'issuer-away': { status: 503, message: 'Your access cannot be verified at the moment.' },
  'control-plane-away': { status: 503, message: 'Your access cannot be verified at the moment.' },
  'other-origin': { status: 403, message: 'Another site may not do this in your name.' },
  'email-missing': { status: 403, message: 'You are logged in, but without a verified e-mail address.' },
  'email-not-allowed': { status: 403, message: 'You are logged in, but do not have access to this address.' },
  'claim-not-met': { status: 403, message: 'You are logged in, but do not have access to this address.' },
  'person-unprovable': {
    status: 403,
    message: 'Only certain people have access to this address, and nobody can log in here.',
  },
  'rate-limited': { status: 429, message: 'Too many requests. Please wait a little.' },
} as const satisfies Readonly<Record<string, AccessReasonRow>>;

export type AccessReason = keyof typeof ACCESS_REASONS;
