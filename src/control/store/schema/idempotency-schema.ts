/** Tables of responses that are kept for repeated requests: a part of `schema.ts`, which explains the column types. */

/** The response to a creation that may be repeated with its key. */
export interface IdempotencyAnswerTable {
  /** HMAC of the caller, the operation and the key. */
  id: string;
  /** The caller's organization. */
  organization_id: string;
  /** HMAC of the request. */
  request_hmac: string;
  /** JSON of the response, secrets included, encrypted with the key file and the caller's key. */
  answer_sealed: string;
  /** Length of `answer_sealed`. */
  bytes: number;
  created_at: number;
  expires_at: number;
}

/** Number and total size of the kept responses of an organization. */
export interface IdempotencyUsageTable {
  organization_id: string;
  answers: number;
  bytes: number;
}
