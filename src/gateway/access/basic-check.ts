/**
 * Checks HTTP Basic credentials against argon2id hashes. A correct password is remembered for five minutes as an
 * HMAC under a key of this process, so that only the first of many requests computes a hash. At most two
 * computations run at a time, and the queue is short.
 */
import { argon2, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { BoundedMap } from './bounded-map.ts';
import { BasicCaller } from './caller-kinds.ts';

export interface BasicPair {
  readonly name: string;
  readonly password: string;
}

const MAX_PAIR = 1_024;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Parses the pair as RFC 7617 with UTF-8. Returns undefined if it is malformed. */
export function readBasicPair(text: string): BasicPair | undefined {
  if (text.length > (MAX_PAIR * 4) / 3 || !BASE64.test(text)) return undefined;
  let pair: string;
  try {
    pair = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64'));
  } catch {
    return undefined;
  }
  const colon = pair.indexOf(':');
  return colon < 1 ? undefined : { name: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

const REMEMBERED_MS = 300_000;
const MAX_REMEMBERED = 10_000;
const MAX_RUNNING = 2;
const MAX_WAITING = 64;

interface Remembered {
  readonly caller: BasicCaller;
  readonly untilMs: number;
}

export class BasicCheck {
  readonly #nowMs: () => number;
  readonly #key = randomBytes(32);
  readonly #remembered = new BoundedMap<string, Remembered>(MAX_REMEMBERED);
  readonly #checks = new Map<string, Promise<BasicCaller | undefined>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether the queue is full. */
  get isBusy(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  /** Returns the cache key of a pair at a share, from which the pair cannot be derived. `text` is the encoded pair. */
  digest(shareId: string, text: string): string {
    return createHmac('sha256', this.#key).update(shareId).update('\0').update(text).digest('base64');
  }

  known(digest: string): BasicCaller | undefined {
    const remembered = this.#remembered.get(digest);
    return remembered !== undefined && this.#nowMs() < remembered.untilMs ? remembered.caller : undefined;
  }

  /**
   * Never rejects. Resolves to undefined for wrong credentials. Concurrent checks of the same pair share one
   * computation.
   */
  check(
    digest: string,
    shareId: string,
    pair: BasicPair,
    hashes: readonly string[] | undefined,
  ): Promise<BasicCaller | undefined> {
    const running = this.#checks.get(digest);
    if (running !== undefined) return running;
    const check = this.#check(digest, shareId, pair, hashes).finally(() => this.#checks.delete(digest));
    this.#checks.set(digest, check);
    return check;
  }

  async #check(
    digest: string,
    shareId: string,
    { name, password }: BasicPair,
    hashes: readonly string[] | undefined,
  ): Promise<BasicCaller | undefined> {
    if (this.#running >= MAX_RUNNING) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    this.#running += 1;
    try {
      // An unknown name costs the same computation, so that the response time does not reveal which names
      // exist.
      for (const hash of hashes ?? [NOBODY]) {
        if (!(await isPassword(password, hash)) || hashes === undefined) continue;
        const caller = new BasicCaller(shareId, name, hash);
        this.#remembered.set(digest, { caller, untilMs: this.#nowMs() + REMEMBERED_MS });
        return caller;
      }
      return undefined;
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }
}

const NOBODY = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;
const MAX_MEMORY_KIB = 262_144;

async function isPassword(password: string, phc: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', expected = ''] = PHC.exec(phc) ?? [];
  if (memory === undefined || Number(memory) > MAX_MEMORY_KIB) return false;
  const wanted = Buffer.from(expected, 'base64');
  const parameters = {
    message: password,
    nonce: Buffer.from(salt, 'base64'),
    parallelism: Number(parallelism),
    tagLength: wanted.length,
    memory: Number(memory),
    passes: Number(passes),
  };
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  try {
    argon2('argon2id', parameters, (error, tag) => resolve(error === null ? tag : undefined));
  } catch {
    return false;
  }
  const actual = await promise;
  return actual?.length === wanted.length && timingSafeEqual(actual, wanted);
}
