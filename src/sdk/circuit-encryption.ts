/**
 * End-to-end encryption of one circuit, as OpenZiti's SDKs do it: keys by X25519 and crypto_kx, then a secret stream in
 * each direction. A circuit's first message of each end is its stream header; every other message is sealed.
 */
import {
  createHash,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import {
  FAST_MULTIPLE_BYTES,
  SecretStreamPull,
  SecretStreamPush,
  STREAM_HEADER_BYTES,
  STREAM_KEY_BYTES,
  STREAM_OVERHEAD_BYTES,
  STREAM_TAGS,
} from '#wire/xgress';
import { nativeCipher } from './native-cipher.ts';

export const PUBLIC_KEY_BYTES = 32;
/** A SubjectPublicKeyInfo of X25519 (RFC 8410) up to the key. */
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');
/** From this length on, a message of any other length than a multiple of 8 is sent as two, which is faster. */
const SPLIT_FROM_BYTES = 1_024;

export type EncryptionRole = 'dialer' | 'host';

export interface EncryptionKeys {
  /** 32 bytes, for the far end. */
  readonly publicKey: Uint8Array;
  readonly privateKey: KeyObject;
}

export function generateEncryptionKeys(): EncryptionKeys {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  // Its SubjectPublicKeyInfo takes OpenSSL almost as long as the key pair; the bare key takes 2 µs.
  const { x } = publicKey.export({ format: 'jwk' });
  return { publicKey: new Uint8Array(Buffer.from(x!, 'base64url')), privateKey };
}

export interface DirectionKeys {
  readonly sends: Uint8Array;
  readonly receives: Uint8Array;
}

/** Returns undefined if `peerKey` is no key: of another length, or one that yields no secret. */
export function directionKeys(
  role: EncryptionRole,
  own: EncryptionKeys,
  peerKey: Uint8Array,
): DirectionKeys | undefined {
  if (peerKey.length !== PUBLIC_KEY_BYTES) return undefined;
  let secret: Buffer;
  try {
    const publicKey = createPublicKey({
      key: Buffer.concat([SPKI_PREFIX, peerKey]),
      type: 'spki',
      format: 'der',
    });
    secret = diffieHellman({ privateKey: own.privateKey, publicKey });
  } catch {
    return undefined;
  }
  const [dialerKey, hostKey] = role === 'dialer' ? [own.publicKey, peerKey] : [peerKey, own.publicKey];
  const hash = createHash('blake2b512').update(secret).update(dialerKey).update(hostKey).digest();
  const first = new Uint8Array(hash.subarray(0, STREAM_KEY_BYTES));
  const second = new Uint8Array(hash.subarray(STREAM_KEY_BYTES));
  return role === 'dialer' ? { receives: first, sends: second } : { receives: second, sends: first };
}

export class CircuitEncryption {
  /** The first message to send. */
  readonly header: Uint8Array;
  readonly #receives: Uint8Array;
  readonly #push: SecretStreamPush;
  #pull: SecretStreamPull | undefined;

  constructor({ sends, receives }: DirectionKeys) {
    this.header = randomBytes(STREAM_HEADER_BYTES);
    this.#receives = receives;
    this.#push = new SecretStreamPush(sends, this.header, nativeCipher);
  }

  /** `into`: memory of the length of the sealed message, which is used if the message is long. */
  seal(text: Uint8Array, into?: Uint8Array): Uint8Array {
    return this.#push.push(text, STREAM_TAGS.message, into);
  }

  /**
   * Returns the text of the next received message, empty for the header of the stream, or undefined if the message was
   * changed or is not the next one. Some SDKs send the header and the first message in one piece.
   */
  open(message: Uint8Array): Uint8Array | undefined {
    if (this.#pull !== undefined) return this.#pull.pull(message);
    if (message.length < STREAM_HEADER_BYTES) return undefined;
    this.#pull = new SecretStreamPull(this.#receives, message.subarray(0, STREAM_HEADER_BYTES), nativeCipher);
    const rest = message.subarray(STREAM_HEADER_BYTES);
    return rest.length === 0 ? rest : this.#pull.pull(rest);
  }
}

/**
 * Returns how many of `leftBytes` the next message should contain so that it is sealed fast and is not longer than
 * `maxBytes` once it is.
 */
export function sealedPieceBytes(leftBytes: number, maxBytes: number): number {
  const most = maxBytes - STREAM_OVERHEAD_BYTES;
  if (leftBytes > most) return most - (most % FAST_MULTIPLE_BYTES);
  return leftBytes < SPLIT_FROM_BYTES ? leftBytes : leftBytes - (leftBytes % FAST_MULTIPLE_BYTES);
}

/** Returns undefined if the far end sent no key, or an unusable one. */
export function encryptionWith(
  role: EncryptionRole,
  own: EncryptionKeys,
  peerKey: Uint8Array | undefined,
): CircuitEncryption | undefined {
  const keys = peerKey === undefined ? undefined : directionKeys(role, own, peerKey);
  return keys === undefined ? undefined : new CircuitEncryption(keys);
}
