/** Takes turns of passwords, so that tests decide who waits when. */
import type { PasswordTurns } from './password-hash.ts';

const AT_ONCE = 2;
const WAITING = 500;

/** Takes all turns, and all places where guests wait for one: the next guest is refused. Call the answer to give them back. */
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

export interface WaitingPasswords {
  /** How many have come since. */
  readonly waiting: () => number;
  /** Gives the turns back. */
  readonly release: () => Promise<void>;
}

/** Takes all turns, and none of the places where others wait. */
export function waitingPasswords(turns: PasswordTurns): WaitingPasswords {
  const end = Promise.withResolvers<void>();
  const take = turns.take.bind(turns);
  const held = Array.from({ length: AT_ONCE }, () => take(undefined, () => end.promise));
  let count = 0;
  turns.take = (guest, work) => {
    count += 1;
    return take(guest, work);
  };
  return {
    waiting: () => count,
    release: async () => {
      turns.take = take;
      end.resolve();
      await Promise.all(held);
    },
  };
}
