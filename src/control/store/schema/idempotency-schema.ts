/** Tables of answers that are kept for repeated requests: part of `schema.ts`, which explains the types of columns. */

/** The answer to a creation that may be sent again with its key. */
export interface IdempotencyAnswerTable {
  /** HMAC of the caller, the operation and the key. */
  id: string;
  /** The caller's. */
  organization_id: string;
  /** HMAC of what was asked. */
  request_hmac: string;
  /** JSON of the answer, secrets included, sealed with the key file and the caller's key. */
  answer_sealed: string;
  /** Length of `answer_sealed`. */
  bytes: number;
  created_at: number;
  expires_at: number;
}

/** How many answers are kept for an organization, and their size together. */
export interface IdempotencyUsageTable {
  organization_id: string;
  answers: number;
  bytes: number;
}
