/**
 * Verifies bearer tokens of a provider's issuer: the signature, by keys that the control plane fetched and the
 * algorithms that the issuer uses. A valid token is remembered until it expires. Unknown keys are requested at a
 * limited rate, so that invented key ids cause almost no work.
 */
import { compactVerify, importJWK, type CryptoKey, type JWK } from 'jose';
import type { GatewayTokenIssuer } from '#domain/gateway-shapes';
import { BoundedMap } from './bounded-map.ts';
import type { TokenIssuer } from './caller.ts';
import { TOKEN_LEEWAY_MS, TokenCaller } from './caller-kinds.ts';
import { ownCopy } from './request-credentials.ts';
import { identityOf, isAsymmetric, MAX_TOKEN, readToken, type TokenForm } from './token-form.ts';

export interface TokenCheckOptions {
  /** Requests a new fetch of a provider's keys, which arrive over the feed. */
  readonly refresh: (providerId: string) => Promise<void>;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly maxTokens: number;
}

/** The control plane has its own, longer interval towards issuers. */
const REFRESH_EVERY_MS = 5_000;

interface IssuerKey {
  readonly kid: unknown;
  readonly jwk: JWK;
  readonly text: string;
  /** Imported keys by algorithm. */
  readonly imported: Map<string, Promise<CryptoKey | undefined>>;
}

export class TokenCheck {
  readonly #options: TokenCheckOptions;
  readonly #known: BoundedMap<string, TokenCaller>;
  readonly #running = new Map<string, Promise<TokenCaller | undefined>>();
  readonly #refreshedMs = new Map<string, number>();
  /** Parsed once for each version of a provider's keys. */
  readonly #keys = new WeakMap<GatewayTokenIssuer, readonly IssuerKey[]>();

  constructor(options: TokenCheckOptions) {
    this.#options = options;
    this.#known = new BoundedMap(options.maxTokens);
  }

  /** Returns a token that was valid before. It checks by itself whether it still is. */
  known(token: string): TokenCaller | undefined {
    return this.#known.get(token);
  }

  forget(token: string): void {
    this.#known.delete(token);
  }

  get running(): number {
    return this.#running.size;
  }

  /** Calls `issuers` again after keys were fetched. Never rejects; resolves to undefined if the token is not valid. */
  check(token: string, issuers: () => readonly TokenIssuer[]): Promise<TokenCaller | undefined> {
    if (token.length > MAX_TOKEN) return Promise.resolve(undefined);
    const own = ownCopy(token);
    // The same token may be valid for one share's issuers and invalid for another's.
    const key = `${issuers()
      .map(({ id }) => id)
      .join()} ${own}`;
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const check = this.#check(own, issuers)
      .catch(() => undefined)
      .finally(() => this.#running.delete(key));
    this.#running.set(key, check);
    return check;
  }

  async #check(token: string, issuers: () => readonly TokenIssuer[]): Promise<TokenCaller | undefined> {
    const form = readToken(token);
    if (form === undefined || !this.#isInTime(form)) return undefined;
    const meant = issuers().filter((issuer) => isMeant(issuer, form));
    let hasUnknownKey = false;
    for (const issuer of meant) {
      const found = await this.#verify(token, form, issuer);
      if (found instanceof TokenCaller) return this.#remember(token, found);
      hasUnknownKey ||= found === 'unknown-key';
    }
    if (!hasUnknownKey || !(await this.#refresh(meant))) return undefined;
    for (const issuer of issuers().filter((each) => isMeant(each, form))) {
      const found = await this.#verify(token, form, issuer);
      if (found instanceof TokenCaller) return this.#remember(token, found);
    }
    return undefined;
  }

  async #verify(
    token: string,
    form: TokenForm,
    issuer: TokenIssuer,
  ): Promise<TokenCaller | 'unknown-key' | undefined> {
    const { tokens } = issuer;
    if (tokens === null || !tokens.algorithms.includes(form.algorithm)) return undefined;
    const candidates = this.#keysOf(tokens).filter(({ jwk }) => isKeyFor(jwk, form.algorithm));
    const named = form.kid === undefined ? candidates : candidates.filter(({ kid }) => kid === form.kid);
    const [key] = named;
    // Without a key id, there must be exactly one candidate.
    if (key === undefined) return form.kid === undefined ? undefined : 'unknown-key';
    if (named.length > 1) return undefined;
    const imported = await importedKey(key, form.algorithm);
    if (imported === undefined) return undefined;
    try {
      await compactVerify(token, imported, { algorithms: [form.algorithm] });
    } catch {
      return undefined;
    }
    return new TokenCaller(issuer, {
      identity: identityOf(form, issuer.id),
      expiresAtMs: form.expiresAtS * 1_000,
      jwk: key.text,
    });
  }

  #remember(token: string, caller: TokenCaller): TokenCaller {
    this.#known.set(token, caller);
    return caller;
  }

  #isInTime({ expiresAtS, notBeforeS }: TokenForm): boolean {
    const nowMs = this.#options.nowMs();
    return nowMs < expiresAtS * 1_000 + TOKEN_LEEWAY_MS && nowMs >= notBeforeS * 1_000 - TOKEN_LEEWAY_MS;
  }

  /** Returns false if none of the issuers may be asked again yet. */
  async #refresh(issuers: readonly TokenIssuer[]): Promise<boolean> {
    const nowMs = this.#options.monotonicMs();
    const due = issuers.filter(({ id }) => {
      const beforeMs = this.#refreshedMs.get(id);
      return beforeMs === undefined || nowMs - beforeMs >= REFRESH_EVERY_MS;
    });
    for (const { id } of due) this.#refreshedMs.set(id, nowMs);
    await Promise.all(due.map(({ id }) => this.#options.refresh(id)));
    return due.length > 0;
  }

  #keysOf(tokens: GatewayTokenIssuer): readonly IssuerKey[] {
    let keys = this.#keys.get(tokens);
    if (keys === undefined) {
      keys = tokens.keys.map((jwk) => ({
        kid: jwk['kid'],
        jwk: jwk as JWK,
        text: JSON.stringify(jwk),
        imported: new Map(),
      }));
      this.#keys.set(tokens, keys);
    }
    return keys;
  }
}

function isMeant({ tokens }: TokenIssuer, form: TokenForm): boolean {
  return tokens !== null && tokens.issuer === form.issuer && form.audiences.includes(tokens.audience);
}

const KEY_TYPES: Readonly<Record<string, string>> = { RS: 'RSA', PS: 'RSA', ES: 'EC', Ed: 'OKP' };
const CURVES: Readonly<Record<string, string>> = {
  ES256: 'P-256',
  ES384: 'P-384',
  ES512: 'P-521',
  EdDSA: 'Ed25519',
  Ed25519: 'Ed25519',
};

/** Whether the key may verify signatures of this algorithm. */
function isKeyFor(jwk: JWK, algorithm: string): boolean {
  const { kty, alg, use, key_ops: operations, crv, d, k } = jwk;
  return (
    isAsymmetric(algorithm) &&
    kty === KEY_TYPES[algorithm.slice(0, 2)] &&
    (alg === undefined || alg === algorithm) &&
    (use === undefined || use === 'sig') &&
    (operations === undefined || operations.includes('verify')) &&
    (CURVES[algorithm] === undefined || CURVES[algorithm] === crv) &&
    d === undefined &&
    k === undefined
  );
}

function importedKey(key: IssuerKey, algorithm: string): Promise<CryptoKey | undefined> {
  let imported = key.imported.get(algorithm);
  if (imported === undefined) {
    imported = importJWK(key.jwk, algorithm).then(
      (made) => (made instanceof Uint8Array ? undefined : made),
      () => undefined,
    );
    key.imported.set(algorithm, imported);
  }
  return imported;
}
