/**
 * Hashes a password and stores it. Passwords of one e-mail address have one salt, so that a log-in takes the time of one,
 * however many organizations a person belongs to. The hash is computed before the transaction; if the salt of the address has
 * changed in the meantime, both are done again.
 */
import { hashPassword, UnlikeHash } from '../credentials/passwords/mod.ts';
import { findPersonPasswords } from '../credentials/people/mod.ts';
import type { Store, StoreTransaction, Touch } from '../store/mod.ts';

interface NewPassword {
  /** In lower case. */
  readonly email: string;
  readonly password: string;
  /** Whose password of the address is replaced; undefined for a new person. */
  readonly personId?: string | undefined;
}

const MAX_ATTEMPTS = 5;

/** `work` stores the hash, in a transaction. Throws what it throws, and `PasswordQueueFull`. */
export async function storeHashed<T>(
  store: Pick<Store, 'db' | 'transaction'>,
  { email, password, personId }: NewPassword,
  work: (passwordHash: string, trx: StoreTransaction, touch: Touch) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const known = await findPersonPasswords(store.db, email);
    const like = known.find((other) => other.personId !== personId)?.passwordHash;
    const passwordHash = await hashPassword(password, like);
    try {
      return await store.transaction((trx, touch) => work(passwordHash, trx, touch));
    } catch (error) {
      if (!(error instanceof UnlikeHash) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
