/** A share's policy as it is stored: what the API shows, and apart from it the hashes of its passwords. */
import type { SharePolicyAnswer } from '#contract';

export interface StoredPolicy {
  /** Every password masked. */
  readonly policy: SharePolicyAnswer;
  /** argon2id PHC strings by the user's name. */
  readonly passwordHashes: ReadonlyMap<string, string>;
}
