/**
 * Service session tokens: JWTs (ES256) that permit an identity to dial or bind a service, bound to one API
 * session. Minted by POST /sessions and verified for every circuit and terminator, so verification is synchronous
 * and cached. The model decides each time whether the permission still exists.
 */
import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import type { Clock } from '#base';
import type { ServiceGrant } from '../model/mod.ts';
import { SERVICE_TOKEN_LIFETIME_MS } from '../oauth/mod.ts';
import type { Secrets } from '../secrets/mod.ts';
import { concerns, createSigningKey, listSigningKeys, type SigningKey, type Store } from '../store/mod.ts';

const MAX_REMEMBERED = 16_384;
const MAX_TOKEN_CHARS = 4_096;
const PURPOSE = 'service-session';

/** A key with which routers verify service tokens. */
export interface ServiceTokenKey {
  readonly kid: string;
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array;
}

export interface ServiceTokensOptions {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
  /** `https://host:port` of the edge API. */
  readonly issuer: string;
}

interface HeldKey extends ServiceTokenKey {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly activatesAtMs: number;
  readonly expiresAtMs: number | null;
}

/**
 * Loads the signing keys and makes the first one. The rotation makes later ones, which are added when they are
 * stored.
 */
export async function openServiceTokens(options: ServiceTokensOptions): Promise<ServiceTokens> {
  const { store, secrets, clock } = options;
  const nowMs = clock.nowMs();
  if ((await listSigningKeys(store.db, secrets, PURPOSE, nowMs)).length === 0) {
    await store.transaction((trx, touch) => createSigningKey(trx, touch, secrets, PURPOSE, nowMs));
  }
  const tokens = new ServiceTokens(options.issuer, clock);
  const read = async (): Promise<void> =>
    tokens.useKeys(await listSigningKeys(store.db, secrets, PURPOSE, clock.nowMs()));
  // Subscribed before the first read, because another control plane may store a key in between.
  store.onChange((changes) => (concerns(changes, 'signing-key') ? read() : undefined));
  await read();
  return tokens;
}

export class ServiceTokens {
  readonly #issuer: string;
  readonly #clock: Clock;
  #held: readonly HeldKey[] = [];
  #onKeysChanged: () => void = () => {};
  #remembered = new Map<string, { readonly grant: ServiceGrant; readonly expiresAtMs: number }>();

  constructor(issuer: string, clock: Clock) {
    this.#issuer = issuer;
    this.#clock = clock;
  }

  /** The newest signing key first. */
  useKeys(keys: readonly SigningKey[]): void {
    this.#held = keys.map(heldKey);
    this.#remembered.clear();
    this.#onKeysChanged();
  }

  /** Calls the listener when the result of `keys()` changes. */
  onKeysChanged(listener: () => void): void {
    this.#onKeysChanged = listener;
  }

  /** For routers that verify tokens themselves. */
  keys(): ServiceTokenKey[] {
    return this.#valid().map(({ kid, spki }) => ({ kid, spki }));
  }

  mint(grant: ServiceGrant): string {
    const nowMs = this.#clock.nowMs();
    const signing = this.#valid().find(({ activatesAtMs }) => activatesAtMs <= nowMs);
    if (signing === undefined) throw new Error('no key for service tokens');
    const iat = Math.floor(nowMs / 1000);
    const header = { alg: 'ES256', kid: signing.kid, typ: 'JWT' };
    const claims = {
      iss: this.#issuer,
      sub: grant.serviceId,
      aud: ['openziti'],
      exp: iat + SERVICE_TOKEN_LIFETIME_MS / 1000,
      iat,
      jti: sessionIdOf(grant),
      z_asid: grant.apiSessionId,
      z_iid: grant.identityId,
      z_t: 's',
      z_st: grant.type,
      z_leg: true,
    };
    const signed = `${base64Url(header)}.${base64Url(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), {
      key: signing.privateKey,
      dsaEncoding: 'ieee-p1363',
    });
    return `${signed}.${signature.toString('base64url')}`;
  }

  /** Returns undefined if the token is not ours, or has expired. Never throws. */
  verify(token: string): ServiceGrant | undefined {
    const known = this.#remembered.get(token);
    if (known !== undefined) return known.expiresAtMs > this.#clock.nowMs() ? known.grant : undefined;
    if (token.length > MAX_TOKEN_CHARS) return undefined;
    const [header, claims, signature, more] = token.split('.');
    if (header === undefined || claims === undefined || signature === undefined || more !== undefined)
      return undefined;
    const { alg, kid } = parsed(header);
    const key = this.#valid().find((held) => held.kid === kid);
    if (key === undefined || alg !== 'ES256') return undefined;
    const options = { key: key.publicKey, dsaEncoding: 'ieee-p1363' } as const;
    const proof = Buffer.from(signature, 'base64url');
    if (!verify('sha256', Buffer.from(`${header}.${claims}`), options, proof)) return undefined;
    const { sub, aud, exp, z_t, z_st, z_iid, z_asid } = parsed(claims);
    if (z_t !== 's' || !Array.isArray(aud) || !aud.includes('openziti')) return undefined;
    if (z_st !== 'Dial' && z_st !== 'Bind') return undefined;
    if (typeof sub !== 'string' || typeof z_iid !== 'string' || typeof z_asid !== 'string') return undefined;
    const expiresAtMs = typeof exp === 'number' ? exp * 1000 : 0;
    if (expiresAtMs <= this.#clock.nowMs()) return undefined;
    const grant: ServiceGrant = { serviceId: sub, identityId: z_iid, apiSessionId: z_asid, type: z_st };
    if (this.#remembered.size >= MAX_REMEMBERED)
      this.#remembered.delete(this.#remembered.keys().next().value!);
    this.#remembered.set(token, { grant, expiresAtMs });
    return grant;
  }

  #valid(): readonly HeldKey[] {
    const nowMs = this.#clock.nowMs();
    return this.#held.filter((key) => key.expiresAtMs === null || key.expiresAtMs > nowMs);
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

/**
 * A service session's id is derived from its grant, so repeated requests return the same session, and nothing is
 * stored.
 */
export function sessionIdOf(grant: ServiceGrant): string {
  const text = [grant.apiSessionId, grant.serviceId, grant.type].join('\n');
  return createHash('sha256').update(text).digest('base64url').slice(0, 24);
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
