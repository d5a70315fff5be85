/**
 * Makes the hashes of passwords cheap for the tests of this process, which log people in hundreds of times. A test about the
 * hash itself sets the real cost.
 */
import { passwordHashing, type PasswordCost } from './password-hash.ts';

export const REAL_COST: PasswordCost = passwordHashing.cost;

passwordHashing.cost = { memoryKib: 64, passes: 1 };

/** Computes new hashes at this cost while `work` runs. */
export async function withPasswordCost<T>(cost: PasswordCost, work: () => Promise<T>): Promise<T> {
  const former = passwordHashing.cost;
  passwordHashing.cost = cost;
  try {
    return await work();
  } finally {
    passwordHashing.cost = former;
  }
}
