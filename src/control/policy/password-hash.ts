/**
 * Hashes passwords of people for storage: argon2id, 19 MiB, two passes, as PHC strings. Two run at a time,
 * because each needs its memory and a thread for about 30 ms; others wait.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { FrontdoorError } from '#base';

const MEMORY_KIB = 19_456;
const PASSES = 2;
const PARALLELISM = 1;
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

/** Limits concurrent and waiting work. Further work is refused with `PasswordQueueFull`. */
export class Turns {
  readonly #maxAtOnce: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(maxAtOnce: number, maxWaiting: number) {
    this.#maxAtOnce = maxAtOnce;
    this.#maxWaiting = maxWaiting;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#maxAtOnce) this.#running += 1;
    else if (this.#waiting.length >= this.#maxWaiting) throw new PasswordQueueFull();
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

/** The queue takes about fifteen seconds. */
const turns = new Turns(2, 1_000);

/** Returns `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`, base64 without padding. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const tag = await turns.take(() =>
    derive('argon2id', {
      message: password,
      nonce,
      parallelism: PARALLELISM,
      tagLength: TAG_BYTES,
      memory: MEMORY_KIB,
      passes: PASSES,
    }),
  );
  const parameters = `m=${MEMORY_KIB},t=${PASSES},p=${PARALLELISM}`;
  return `$argon2id$v=19$${parameters}$${unpadded(nonce)}$${unpadded(tag)}`;
}

const STORED = new RegExp(
  `^\\$argon2id\\$v=19\\$m=${MEMORY_KIB},t=${PASSES},p=${PARALLELISM}\\$([A-Za-z0-9+/]{22})\\$([A-Za-z0-9+/]{43})$`,
);

/**
 * Whether the password has this hash of `hashPassword`. Without a hash, for an unknown name, it takes the same time
 * and returns false.
 */
export async function isPasswordOf(password: string, stored: string | undefined): Promise<boolean> {
  const [, salt, tag] = STORED.exec(stored ?? '') ?? [];
  const actual = await turns.take(() =>
    derive('argon2id', {
      message: password,
      nonce: salt === undefined ? Buffer.alloc(SALT_BYTES) : Buffer.from(salt, 'base64'),
      parallelism: PARALLELISM,
      tagLength: TAG_BYTES,
      memory: MEMORY_KIB,
      passes: PASSES,
    }),
  );
  return tag !== undefined && timingSafeEqual(actual, Buffer.from(tag, 'base64'));
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}
