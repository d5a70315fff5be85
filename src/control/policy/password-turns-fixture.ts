/** Takes all turns of passwords, and all places where guests wait for one, so that the next guest is refused. */
import type { PasswordTurns } from './password-hash.ts';

const AT_ONCE = 2;
const WAITING = 500;

/** Call the answer to give the turns back. */
export function heldPasswordTurns(turns: PasswordTurns): () => Promise<void> {
  const end = Promise.withResolvers<void>();
  // Each place is of another network: none of them has more than a guest who comes later.
  const all = Array.from({ length: AT_ONCE + WAITING }, (_, at) =>
    turns.take({ address: `172.${16 + (at >> 8)}.${at & 255}.1` }, () => end.promise),
  );
  return async () => {
    end.resolve();
    await Promise.all(all);
  };
}
