/**
 * Why a caller is not let in: the code for logs, records and explanations, the status, and the sentence for the page.
 * The sentences tell nothing that only the owner should know.
 */
export interface AccessReasonRow {
  readonly status: number;
  readonly says: string;
}

export const ACCESS_REASONS = {
  'access-expired': { status: 403, says: 'The time in which this address could be reached is over.' },
  'address-denied': { status: 403, says: 'Your network is not let in here.' },
  'address-not-allowed': { status: 403, says: 'Your network is not let in here.' },
  'certificate-missing': { status: 403, says: 'A client certificate is needed here.' },
  'certificate-not-trusted': { status: 403, says: 'Your client certificate is not accepted here.' },
  'certificate-not-allowed': { status: 403, says: 'Your client certificate is not accepted here.' },
  'path-ambiguous': { status: 400, says: 'The path of the request can be read in more than one way.' },
  'credential-missing': { status: 401, says: 'A credential is needed here.' },
  'credential-wrong': { status: 401, says: 'The credential is not accepted here.' },
  'credential-doubled': { status: 400, says: 'The request carries the same credential more than once.' },
  'provider-disabled': { status: 401, says: 'The credential is not accepted here at the moment.' },
  'login-not-available': { status: 503, says: 'Logging in here is not possible at the moment.' },
  'issuer-away': { status: 503, says: 'Who may come in cannot be checked at the moment.' },
  'control-plane-away': { status: 503, says: 'Who may come in cannot be checked at the moment.' },
  'other-origin': { status: 403, says: 'Another site may not do this in your name.' },
  'email-missing': { status: 403, says: 'You are logged in, but without a verified e-mail address.' },
  'email-not-allowed': { status: 403, says: 'You are logged in, but this address is not for you.' },
  'claim-not-met': { status: 403, says: 'You are logged in, but this address is not for you.' },
  'rate-limited': { status: 429, says: 'Too many requests; wait a little.' },
} as const satisfies Readonly<Record<string, AccessReasonRow>>;

export type AccessReason = keyof typeof ACCESS_REASONS;
