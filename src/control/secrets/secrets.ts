/**
 * The only user of the master keys: HMACs of secrets that are only compared, encryption of secrets that must be
 * read again (seals), and tags for values that travel in clear. A sealed text names its key, so that keys can be
 * replaced (ADR 0062): one key encrypts and every key decrypts. Peppers of HMACs and tags never change: they are those of
 * the oldest key, or kept in its place.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { FrontdoorError } from '#base';

export interface MasterKey {
  /** A short name, `[A-Za-z0-9]+`, which is part of every sealed text. */
  readonly id: string;
  /** 32 random bytes. */
  readonly key: Uint8Array;
  /** Whether it decrypts, but does not encrypt yet, because other control planes may not have it. */
  readonly isNext?: boolean;
}

/** The values that a first key leaves behind when it is removed: 32 bytes each. They decrypt nothing. */
export interface Peppers {
  readonly hmac: Buffer;
  readonly tag: Buffer;
  readonly apiKey: Buffer;
}

export interface KeyRing {
  /** The oldest key first; at least one. */
  readonly keys: readonly MasterKey[];
  /** Undefined: those of the oldest key. */
  readonly peppers?: Peppers | undefined;
}

const SEAL_VERSION = 's1';
const IV_BYTES = 12;
const TAG_BYTES = 16;

export class Secrets {
  readonly #pepper: Buffer;
  readonly #tagKey: Buffer;
  readonly #apiKeyPepper: Buffer;
  readonly #sealKeys = new Map<string, Buffer>();
  #sealingId: string;

  constructor(keys: readonly MasterKey[], peppers?: Peppers) {
    const known = peppers ?? peppersOf({ keys });
    this.#pepper = known.hmac;
    this.#tagKey = known.tag;
    this.#apiKeyPepper = known.apiKey;
    this.#sealingId = (keys.findLast(({ isNext }) => isNext !== true) ?? keys.at(-1)!).id;
    this.replaceKeys(keys);
  }

  /** The key that encrypts. */
  get sealingId(): string {
    return this.#sealingId;
  }

  get keyIds(): readonly string[] {
    return [...this.#sealKeys.keys()];
  }

  /** Throws `invalid` if there is no such key. */
  sealWith(id: string): void {
    if (!this.#sealKeys.has(id))
      throw new FrontdoorError('invalid', 'key-file', `secrets.key does not hold the key ${id}`);
    this.#sealingId = id;
  }

  /** Decrypts with these keys from now on. Throws `invalid` without the one that encrypts. */
  replaceKeys(keys: readonly MasterKey[]): void {
    const replaced = new Map(keys.map((key) => [key.id, derived(key, 'frontdoor seal')]));
    if (!replaced.has(this.#sealingId))
      throw new FrontdoorError('invalid', 'key-file', `secrets.key lost the key ${this.#sealingId}`);
    this.#sealKeys.clear();
    for (const [id, key] of replaced) this.#sealKeys.set(id, key);
  }

  /** Whether the text is encrypted with another key than the one that encrypts now. */
  isOfFormerKey(sealed: string): boolean {
    return sealed !== '' && !sealed.startsWith(`${SEAL_VERSION}.${this.#sealingId}.`);
  }

  /** HMAC-SHA-256 under the pepper in lower-case hex: the stored form of tokens and codes. */
  hmac(text: string): string {
    return createHmac('sha256', this.#pepper).update(text).digest('hex');
  }

  /**
   * The pepper with which gateways check keys of API_KEY providers. It is derived only for them, because it
   * leaves this process.
   */
  apiKeyPepper(): Uint8Array {
    return Uint8Array.from(this.#apiKeyPepper);
  }

  /** HMAC-SHA-256 of a provider's key under `apiKeyPepper`, in lower-case hex. */
  apiKeyHmac(key: string): string {
    return createHmac('sha256', this.#apiKeyPepper).update(key).digest('hex');
  }

  /** Whether `text` is the secret of one of `hmacs`. The time depends only on their number. */
  matches(text: string, ...hmacs: readonly string[]): boolean {
    const actual = Buffer.from(this.hmac(text), 'hex');
    let isOne = false;
    for (const hmac of hmacs) {
      const expected = Buffer.from(hmac, 'hex');
      if (expected.length === actual.length && timingSafeEqual(expected, actual)) isOne = true;
    }
    return isOne;
  }

  /** A tag of `bytes` bytes that proves that we made `data` for this purpose. */
  tag(purpose: string, data: Uint8Array, bytes: number): Buffer {
    return createHmac('sha256', this.#tagKey)
      .update(purpose)
      .update('\0')
      .update(data)
      .digest()
      .subarray(0, bytes);
  }

  isTag(purpose: string, data: Uint8Array, tag: Uint8Array): boolean {
    return tag.length >= 16 && tag.length <= 32 && timingSafeEqual(tag, this.tag(purpose, data, tag.length));
  }

  /**
   * AES-256-GCM: `s1.<key id>.<base64url of iv, tag, ciphertext>`. With `opener`, decryption also requires that
   * text.
   */
  seal(text: string, opener?: string): string {
    const key = openedBy(this.#sealKeys.get(this.#sealingId)!, opener);
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, iv);
    cipher.setAAD(Buffer.from(this.#sealingId));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    const whole = Buffer.concat([iv, cipher.getAuthTag(), body]);
    return `${SEAL_VERSION}.${this.#sealingId}.${whole.toString('base64url')}`;
  }

  /** Throws `internal` if the text is damaged or was sealed with a key that is not in the key file. */
  unseal(sealed: string, opener?: string): string {
    const [version, id, body, more] = sealed.split('.');
    const key = id === undefined ? undefined : this.#sealKeys.get(id);
    if (version !== SEAL_VERSION || body === undefined || more !== undefined)
      throw damaged('is not in a known form');
    if (key === undefined) throw damaged('was sealed with a key that the key file does not hold');
    const whole = Buffer.from(body, 'base64url');
    if (whole.length < IV_BYTES + TAG_BYTES) throw damaged('is too short');
    try {
      const decipher = createDecipheriv('aes-256-gcm', openedBy(key, opener), whole.subarray(0, IV_BYTES));
      decipher.setAAD(Buffer.from(id!));
      decipher.setAuthTag(whole.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return (
        decipher.update(whole.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      );
    } catch (cause) {
      throw damaged('does not open with its key', cause);
    }
  }
}

/** Returns the peppers of a key ring. */
export function peppersOf({ keys, peppers }: KeyRing): Peppers {
  const [oldest] = keys;
  if (oldest === undefined) throw new RangeError('no master key');
  return (
    peppers ?? {
      hmac: derived(oldest, 'frontdoor hmac pepper'),
      tag: derived(oldest, 'frontdoor value tag'),
      apiKey: derived(oldest, 'frontdoor provider keys'),
    }
  );
}

function derived(key: MasterKey, info: string): Buffer {
  if (key.key.length !== 32) throw new RangeError('a master key has 32 bytes');
  if (!/^[A-Za-z0-9]{1,32}$/.test(key.id)) throw new RangeError('bad master key id');
  return Buffer.from(hkdfSync('sha256', key.key, new Uint8Array(0), info, 32));
}

function openedBy(key: Buffer, opener: string | undefined): Buffer {
  if (opener === undefined) return key;
  return Buffer.from(hkdfSync('sha256', key, opener, 'frontdoor seal with an opener', 32));
}

function damaged(how: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('internal', 'unseal-failed', `a stored secret ${how}`, { cause });
}
