/** A share's policy as it is stored: the part that the API shows, and separately the hashes of its passwords. */
import type { SharePolicy } from '#contract/schemas';

export interface StoredPolicy {
  /** With every password masked. */
  readonly policy: SharePolicy;
  /** argon2id PHC strings by user name. */
  readonly passwordHashes: ReadonlyMap<string, string>;
}
