/**
 * Hashes passwords of people for storage: argon2id as PHC strings, each of which carries its cost, so that the cost of new
 * hashes can be raised later. Two run at a time, because each needs its memory and a thread for about 30 ms; others wait,
 * in the order of `GuestQueue`.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { FailedNetworks, FrontdoorError, systemClock, type Clock } from '#base';
import { GuestQueue } from './guest-queue.ts';

export interface PasswordCost {
  readonly memoryKib: number;
  readonly passes: number;
}

/** The cost of new hashes, and of the one that is computed for an unknown name. Only tests change it. */
export const passwordHashing: { cost: PasswordCost } = { cost: { memoryKib: 19_456, passes: 2 } };

const SALT_BYTES = 16;
const TAG_BYTES = 32;
const RETRY_AFTER_S = 15;

const derive = promisify(argon2);

/** Refuses a password while too many others wait. */
export class PasswordQueueFull extends FrontdoorError {
  readonly retryAfterSeconds = RETRY_AFTER_S;

  constructor() {
    super('limited', 'rate-limited', 'too many passwords wait for their hash');
  }
}

/** A guest who gives a password. */
export interface PasswordGuest {
  /** The IP address. */
  readonly address: string;
  /** Aborted when the guest has left: then there is no turn, and the place is free. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called when the attempt has its turn, and runs beside the hash: what counts attempts counts none that is refused
   * before, and those who measure the time do not see it.
   */
  readonly begun?: () => Promise<void>;
}

/** Starts the work of a turn, or refuses it. */
interface WaitingWork {
  readonly begin: () => void;
  readonly refuse: (error: PasswordQueueFull) => void;
}

/**
 * Limits concurrent and waiting work. Further work is refused with `PasswordQueueFull`. Callers who have proven who they
 * are and guests take turns while both wait, so that guests, however many, at most halve what the others get.
 */
export class PasswordTurns {
  readonly #maxAtOnce: number;
  readonly #maxWaiting: number;
  readonly #failures: FailedNetworks;
  readonly #proven: WaitingWork[] = [];
  readonly #guests: GuestQueue<WaitingWork>;
  #running = 0;
  #isTurnOfProven = true;

  /** `maxWaiting` limits the proven callers and the guests each. */
  constructor(maxAtOnce: number, maxWaiting: number, clock: Clock = systemClock) {
    this.#maxAtOnce = maxAtOnce;
    this.#maxWaiting = maxWaiting;
    this.#failures = new FailedNetworks(clock);
    this.#guests = new GuestQueue(maxWaiting, this.#failures);
  }

  /** `guest` is undefined for a caller who has proven a credential. */
  async take<T>(guest: PasswordGuest | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#maxAtOnce) this.#running += 1;
    else await this.#turn(guest);
    try {
      return await work();
    } finally {
      const next = this.#next();
      if (next === undefined) this.#running -= 1;
      else next.begin();
    }
  }

  /** The password of a guest at this address was wrong. Guests elsewhere come first for a quarter of an hour. */
  failed(address: string): void {
    this.#failures.failed(address);
  }

  /** Whether the network of this address gave a wrong password in the last quarter of an hour. */
  hasFailed(address: string): boolean {
    return this.#failures.has(address);
  }

  async #turn(guest: PasswordGuest | undefined): Promise<void> {
    const { promise, resolve: begin, reject: refuse } = Promise.withResolvers<void>();
    const waiting: WaitingWork = { begin, refuse };
    if (guest === undefined) {
      if (this.#proven.length >= this.#maxWaiting) refuse(new PasswordQueueFull());
      else this.#proven.push(waiting);
      return promise;
    }
    const { address, signal } = guest;
    const leave = (): void => {
      this.#guests.remove(address, waiting);
      refuse(new PasswordQueueFull());
    };
    if (signal?.aborted === true) refuse(new PasswordQueueFull());
    else this.#guests.push(address, waiting)?.refuse(new PasswordQueueFull());
    signal?.addEventListener('abort', leave);
    return promise.finally(() => signal?.removeEventListener('abort', leave));
  }

  #next(): WaitingWork | undefined {
    const isOfProven = this.#isTurnOfProven;
    this.#isTurnOfProven = !isOfProven;
    return isOfProven
      ? (this.#proven.shift() ?? this.#guests.shift())
      : (this.#guests.shift() ?? this.#proven.shift());
  }
}

/** A queue takes about eight seconds. Guests who wait keep their connections, of about 50 KiB each. */
export const passwordTurns = new PasswordTurns(2, 500);

/**
 * For callers who have proven a credential. Returns `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`, base64 without padding. With
 * `like`, a hash, it has the salt and cost of that: passwords of one name are examined together then. Throws
 * `PasswordQueueFull`.
 */
export async function hashPassword(password: string, like?: string): Promise<string> {
  const { nonce, cost } = partsOf(like) ?? { nonce: randomBytes(SALT_BYTES), cost: passwordHashing.cost };
  const tag = await passwordTurns.take(undefined, () => tagOf(password, nonce, cost));
  return `$argon2id$v=19$m=${cost.memoryKib},t=${cost.passes},p=1$${unpadded(nonce)}$${unpadded(tag)}`;
}

/** Throws for a cost that argon2 does not allow. */
async function tagOf(
  message: string,
  nonce: Uint8Array,
  { memoryKib, passes }: PasswordCost,
): Promise<Buffer> {
  return derive('argon2id', {
    message,
    nonce,
    parallelism: 1,
    tagLength: TAG_BYTES,
    memory: memoryKib,
    passes,
  });
}

/** A hash whose cost has more digits is none of `hashPassword`. */
const STORED = /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

interface StoredHash {
  readonly nonce: Buffer;
  readonly cost: PasswordCost;
  readonly tag: Buffer;
  /** What other hashes have in common with it if they are computed in the same way. */
  readonly prefix: string;
}

function partsOf(stored: string | undefined): StoredHash | undefined {
  const [, memoryKib, passes, salt, tag] = STORED.exec(stored ?? '') ?? [];
  if (salt === undefined || tag === undefined) return undefined;
  return {
    nonce: Buffer.from(salt, 'base64'),
    cost: { memoryKib: Number(memoryKib), passes: Number(passes) },
    tag: Buffer.from(tag, 'base64'),
    prefix: stored!.slice(0, stored!.lastIndexOf('$')),
  };
}

/**
 * Whether the password has this hash of `hashPassword`. Without a hash, for an unknown name, it takes the same time
 * and returns false. Throws `PasswordQueueFull`, and what `begun` throws.
 */
export async function isPasswordOf(
  password: string,
  stored: string | undefined,
  guest: PasswordGuest,
): Promise<boolean> {
  const hashes = stored === undefined ? [] : [stored];
  return (await findPasswordOf(password, hashes, guest)) === 0;
}

/**
 * Returns the index of the first hash that the password has, or -1. The hashes are those of one name, so they have one salt
 * and cost (`isLikeHash`), and it takes the time of one, as it does without a hash, for an unknown name. Throws like
 * `isPasswordOf`.
 */
export async function findPasswordOf(
  password: string,
  stored: readonly string[],
  guest: PasswordGuest,
): Promise<number> {
  const hashes = stored.map(partsOf);
  const none = { nonce: Buffer.alloc(SALT_BYTES), cost: passwordHashing.cost, prefix: '' };
  const { nonce, cost, prefix } = hashes.find((hash) => hash !== undefined) ?? none;
  const actual = await passwordTurns.take(guest, async () => {
    const [hashed, counted] = await Promise.allSettled([tagOf(password, nonce, cost), guest.begun?.()]);
    if (hashed.status === 'rejected') throw hashed.reason;
    if (counted.status === 'rejected') throw counted.reason;
    return hashed.value;
  });
  const found = hashes.findIndex((hash) => hash?.prefix === prefix && timingSafeEqual(actual, hash.tag));
  if (found < 0) passwordTurns.failed(guest.address);
  return found;
}

/** A new hash has another salt than the others of its name: hash again, like one of them. */
export class UnlikeHash extends FrontdoorError {
  constructor() {
    super('unavailable', 'password-contended', 'other passwords of this e-mail address are being changed');
  }
}

/** Whether both hashes have the same salt and cost. */
export function isLikeHash(one: string, other: string): boolean {
  return partsOf(one)?.prefix === partsOf(other)?.prefix;
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}

/** Whether the network of this address gave a wrong password at this process in the last quarter of an hour. */
export function isPasswordSuspect(address: string): boolean {
  return passwordTurns.hasFailed(address);
}
