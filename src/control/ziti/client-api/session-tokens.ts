/**
 * The tokens of an API session that was opened through OpenID Connect (ADR 0033): the access token that SDKs send to us and
 * to routers, the refresh token, and the id token. They have the claims of OpenZiti's, which routers read.
 */
import { createHash, randomUUID } from 'node:crypto';
import { textsOf, type Clock } from '#base';
import { RememberedTokens, type EdgeTokenClaims, type EdgeTokenKeys } from './edge-token-keys.ts';
import { type LiveSession, ACCESS_LIFETIME_MS } from '../../overlay/clients/mod.ts';

export const REFRESH_LIFETIME_MS = 24 * 3_600_000;

/** The clients of OpenZiti: SDKs in Go, and those in C and on it. They have no secret. */
export const OIDC_CLIENTS: ReadonlySet<string> = new Set(['native', 'openziti']);

export interface TokenRequest {
  /** `https://host:port/oidc`, as the client dialed it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly address: string;
}

export interface AccessGrant {
  readonly sessionId: string;
  readonly identityId: string;
  readonly expiresAtMs: number;
}

export interface RefreshGrant extends AccessGrant {
  readonly tokenId: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
}

export class SessionTokens {
  readonly #keys: EdgeTokenKeys;
  readonly #clock: Clock;
  readonly #granted: RememberedTokens<AccessGrant>;

  constructor(keys: EdgeTokenKeys, clock: Clock) {
    this.#keys = keys;
    this.#clock = clock;
    this.#granted = new RememberedTokens(keys, clock, (token) => this.#read(token, 'a'));
  }

  mintAccess(session: LiveSession, request: TokenRequest): string {
    return this.#keys.sign({ ...this.#claims(session, request, ACCESS_LIFETIME_MS), z_t: 'a' });
  }

  /** `tokenId`: of the next token of a session that had one. */
  mintRefresh(session: LiveSession, request: TokenRequest, tokenId: string = randomUUID()): string {
    return this.#keys.sign({
      ...this.#claims(session, request, REFRESH_LIFETIME_MS),
      jti: tokenId,
      ...authenticationOf(session),
      z_t: 'r',
    });
  }

  /** A proof for routers that the client of the session has just shown a code. `issuer` is that of its tokens. */
  mintTotp(session: LiveSession, issuer: string): string {
    const iat = Math.floor(this.#clock.nowMs() / 1_000);
    const { id, identityId } = session;
    const aud = [...OIDC_CLIENTS];
    return this.#keys.sign({
      iss: issuer,
      sub: identityId,
      aud,
      iat,
      jti: randomUUID(),
      z_t: 't',
      z_asid: id,
    });
  }

  /** `name` is the identity's; `hashed` are the tokens or codes that the id token vouches for. */
  mintId(
    session: LiveSession,
    { issuer, clientId }: TokenRequest,
    name: string,
    hashed: { readonly accessToken?: string; readonly code?: string; readonly nonce?: string } = {},
  ): string {
    const iat = Math.floor(this.#clock.nowMs() / 1_000);
    const { accessToken, code, nonce } = hashed;
    const claims: Record<string, unknown> = {
      iss: issuer,
      sub: session.identityId,
      aud: [clientId],
      azp: clientId,
      client_id: clientId,
      exp: iat + ACCESS_LIFETIME_MS / 1_000,
      iat,
      name,
      ...authenticationOf(session),
    };
    if (accessToken !== undefined) claims['at_hash'] = halfHash(accessToken);
    if (code !== undefined) claims['c_hash'] = halfHash(code);
    if (nonce !== undefined) claims['nonce'] = nonce;
    return this.#keys.sign(claims);
  }

  /** Returns undefined if the token is not an access token of Frontdoor, or has expired. Never throws. */
  verifyAccess(token: string): AccessGrant | undefined {
    return this.#granted.get(token);
  }

  /** Returns undefined if the token is not a refresh token of Frontdoor, or has expired. Never throws. */
  verifyRefresh(token: string): RefreshGrant | undefined {
    const claims = this.#keys.claimsOf(token);
    const grant = claims && grantOf(claims, 'r');
    return grant && { ...grant, ...clientOf(claims), tokenId: String(claims['jti']) };
  }

  /** Does what `verifyAccess` does, and adds the client that the token was issued to. */
  verifyAccessClient(token: string): RefreshGrant | undefined {
    const claims = this.#keys.claimsOf(token);
    const grant = claims && grantOf(claims, 'a');
    return grant && { ...grant, ...clientOf(claims), tokenId: String(claims['jti']) };
  }

  #read(token: string, type: 'a' | 'r'): AccessGrant | undefined {
    const claims = this.#keys.claimsOf(token);
    return claims && grantOf(claims, type);
  }

  #claims(
    session: LiveSession,
    { issuer, clientId, scopes, address }: TokenRequest,
    lifetimeMs: number,
  ): EdgeTokenClaims {
    const iat = Math.floor(this.#clock.nowMs() / 1_000);
    return {
      iss: issuer,
      sub: session.identityId,
      aud: [clientId],
      client_id: clientId,
      exp: iat + lifetimeMs / 1_000,
      iat,
      nbf: iat,
      jti: randomUUID(),
      scopes,
      z_aid: clientId,
      z_asid: session.id,
      z_authid: session.fingerprints[0] ?? session.identityId,
      z_cer: false,
      // Each is a leaf of this identity: a router admits the token with one of them alone.
      z_cfs: session.fingerprints,
      z_ckrr: false,
      z_ct: session.configTypes,
      z_env: {},
      z_iccc: false,
      z_ice: false,
      z_ra: address,
      z_sdk: {},
    };
  }
}

function authenticationOf(session: LiveSession): EdgeTokenClaims {
  return { amr: [session.method], auth_time: Math.floor(session.createdAtMs / 1_000) };
}

function grantOf(
  claims: EdgeTokenClaims & { readonly exp: number },
  type: 'a' | 'r',
): AccessGrant | undefined {
  const { sub, aud, z_t, z_asid, exp } = claims;
  if (z_t !== type || typeof sub !== 'string' || typeof z_asid !== 'string') return undefined;
  if (!Array.isArray(aud) || !aud.some((one) => OIDC_CLIENTS.has(one as string))) return undefined;
  return { sessionId: z_asid, identityId: sub, expiresAtMs: exp * 1_000 };
}

function clientOf({ client_id, scopes }: EdgeTokenClaims): Pick<RefreshGrant, 'clientId' | 'scopes'> {
  return { clientId: typeof client_id === 'string' ? client_id : '', scopes: textsOf(scopes) };
}

/** OpenID Connect Core 3.1.3.6: the left half of the SHA-256. */
function halfHash(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
}
