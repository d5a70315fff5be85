/**
 * Signs and verifies the tokens of the edge API: JWTs (ES256) for services and for API sessions. Routers get the
 * public keys with the data model, clients as a key set. Verification is synchronous, because every circuit needs it.
 */
import { createPrivateKey, createPublicKey, hash, sign, verify, type KeyObject } from 'node:crypto';
import type { Clock } from '#base';
import type { Secrets } from '../../secrets/mod.ts';
import { concerns, type Store } from '../../store/mod.ts';
import { createSigningKey, listSigningKeys, type SigningKey } from '../../credentials/oauth/mod.ts';

const MAX_REMEMBERED = 16_384;
const MAX_TOKEN_CHARS = 8_192;
const PURPOSE = 'service-session';

/** A key with which routers verify tokens. */
export interface EdgeTokenKey {
  readonly kid: string;
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array;
}

interface HeldKey extends EdgeTokenKey {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly activatesAtMs: number;
  readonly expiresAtMs: number | null;
}

export type EdgeTokenClaims = Readonly<Record<string, unknown>>;

/**
 * Loads the signing keys and makes the first one. The rotation makes later ones, which are added when they are
 * stored.
 */
export async function openEdgeTokenKeys(
  store: Store,
  secrets: Secrets,
  clock: Clock,
): Promise<EdgeTokenKeys> {
  const nowMs = clock.nowMs();
  if ((await listSigningKeys(store.db, secrets, PURPOSE, nowMs)).length === 0) {
    await store.transaction((trx, touch) => createSigningKey(trx, touch, secrets, PURPOSE, nowMs));
  }
  const keys = new EdgeTokenKeys(clock);
  const read = async (): Promise<void> =>
    keys.useKeys(await listSigningKeys(store.db, secrets, PURPOSE, clock.nowMs()));
  // Subscribed before the first read, because another control plane may store a key in between.
  store.onChange((changes) => (concerns(changes, 'signing-key') ? read() : undefined));
  await read();
  return keys;
}

export class EdgeTokenKeys {
  readonly #clock: Clock;
  #held: readonly HeldKey[] = [];
  readonly #onChanged: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The newest signing key first. */
  useKeys(keys: readonly SigningKey[]): void {
    this.#held = keys.map(heldKey);
    for (const listener of this.#onChanged) listener();
  }

  /** Calls the listener when the keys change. */
  onChanged(listener: () => void): void {
    this.#onChanged.push(listener);
  }

  /** For routers that verify tokens themselves. */
  keys(): EdgeTokenKey[] {
    return this.#valid().map(({ kid, spki }) => ({ kid, spki }));
  }

  /** The key set as clients read it (RFC 7517). */
  jwks(): { readonly keys: readonly Record<string, unknown>[] } {
    const keys = this.#valid().map(({ kid, publicKey }) => {
      return { use: 'sig', kid, alg: 'ES256', ...publicKey.export({ format: 'jwk' }) };
    });
    return { keys };
  }

  sign(claims: EdgeTokenClaims): string {
    const nowMs = this.#clock.nowMs();
    const signing = this.#valid().find(({ activatesAtMs }) => activatesAtMs <= nowMs);
    if (signing === undefined) throw new Error('no key for tokens of the edge API');
    const header = { alg: 'ES256', kid: signing.kid, typ: 'JWT' };
    const signed = `${base64Url(header)}.${base64Url(claims)}`;
    const key = { key: signing.privateKey, dsaEncoding: 'ieee-p1363' } as const;
    return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
  }

  /** Returns the claims of a token that we signed and that has not expired. Never throws. */
  claimsOf(token: string): (EdgeTokenClaims & { readonly exp: number }) | undefined {
    if (token.length > MAX_TOKEN_CHARS) return undefined;
    const [header, body, signature, more] = token.split('.');
    if (header === undefined || body === undefined || signature === undefined || more !== undefined)
      return undefined;
    const { alg, kid } = parsed(header);
    const key = this.#valid().find((held) => held.kid === kid);
    if (key === undefined || alg !== 'ES256') return undefined;
    const options = { key: key.publicKey, dsaEncoding: 'ieee-p1363' } as const;
    const proof = Buffer.from(signature, 'base64url');
    if (!verify('sha256', Buffer.from(`${header}.${body}`), options, proof)) return undefined;
    const claims = parsed(body);
    const { exp } = claims;
    return typeof exp === 'number' && exp * 1_000 > this.#clock.nowMs() ? { ...claims, exp } : undefined;
  }

  #valid(): readonly HeldKey[] {
    const nowMs = this.#clock.nowMs();
    return this.#held.filter((key) => key.expiresAtMs === null || key.expiresAtMs > nowMs);
  }
}

/** What verified tokens permit, so that a signature is verified once. Bounded; forgotten when the keys change. */
export class RememberedTokens<T extends { readonly expiresAtMs: number }> {
  readonly #clock: Clock;
  readonly #read: (token: string) => T | undefined;
  /** By the token's SHA-256, so that the heap contains no credentials. */
  readonly #values = new Map<string, T>();

  constructor(keys: EdgeTokenKeys, clock: Clock, read: (token: string) => T | undefined) {
    this.#clock = clock;
    this.#read = read;
    keys.onChanged(() => this.#values.clear());
  }

  /** Returns undefined if the token is not ours, of another kind, or has expired. Never throws. */
  get(token: string): T | undefined {
    const digest = hash('sha256', token, 'base64');
    const known = this.#values.get(digest);
    if (known !== undefined) return known.expiresAtMs > this.#clock.nowMs() ? known : undefined;
    const value = this.#read(token);
    if (value === undefined) return undefined;
    if (this.#values.size >= MAX_REMEMBERED) this.#values.delete(this.#values.keys().next().value!);
    this.#values.set(digest, value);
    return value;
  }
}

function heldKey(key: SigningKey): HeldKey {
  const publicKey = createPublicKey(key.publicKeyPem);
  return {
    kid: key.id,
    spki: publicKey.export({ type: 'spki', format: 'der' }),
    publicKey,
    privateKey: createPrivateKey(key.privateKeyPem),
    activatesAtMs: key.activatesAtMs,
    expiresAtMs: key.expiresAtMs,
  };
}

function parsed(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function base64Url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
