/**
 * Service session tokens: JWTs that permit an identity to dial or bind a service, bound to one API session. Minted by
 * POST /sessions and verified for every circuit and terminator. The model decides each time whether the permission
 * still exists.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '#base';
import type { ServiceGrant } from '../../overlay/model/mod.ts';
import { SERVICE_TOKEN_LIFETIME_MS } from '../../credentials/oauth/mod.ts';
import { RememberedTokens, type EdgeTokenKeys } from './edge-token-keys.ts';

export class ServiceTokens {
  readonly #keys: EdgeTokenKeys;
  readonly #issuer: string;
  readonly #clock: Clock;
  readonly #grants: RememberedTokens<{ readonly grant: ServiceGrant; readonly expiresAtMs: number }>;

  /** `issuer` is `https://host:port` of the edge API. */
  constructor(keys: EdgeTokenKeys, issuer: string, clock: Clock) {
    this.#keys = keys;
    this.#issuer = issuer;
    this.#clock = clock;
    this.#grants = new RememberedTokens(keys, clock, (token) => this.#read(token));
  }

  mint(grant: ServiceGrant): string {
    const iat = Math.floor(this.#clock.nowMs() / 1000);
    return this.#keys.sign({
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
    });
  }

  /** Returns undefined if the token is not ours, or has expired. Never throws. */
  verify(token: string): ServiceGrant | undefined {
    return this.#grants.get(token)?.grant;
  }

  #read(token: string): { readonly grant: ServiceGrant; readonly expiresAtMs: number } | undefined {
    const claims = this.#keys.claimsOf(token);
    if (claims === undefined) return undefined;
    const { sub, aud, exp, z_t, z_st, z_iid, z_asid } = claims;
    if (z_t !== 's' || !Array.isArray(aud) || !aud.includes('openziti')) return undefined;
    if (z_st !== 'Dial' && z_st !== 'Bind') return undefined;
    if (typeof sub !== 'string' || typeof z_iid !== 'string' || typeof z_asid !== 'string') return undefined;
    const grant: ServiceGrant = { serviceId: sub, identityId: z_iid, apiSessionId: z_asid, type: z_st };
    return { grant, expiresAtMs: exp * 1_000 };
  }
}

/**
 * A service session's id is derived from its grant, so repeated requests return the same session, and nothing is
 * stored.
 */
export function sessionIdOf(grant: ServiceGrant): string {
  const text = [grant.apiSessionId, grant.serviceId, grant.type].join('\n');
  return createHash('sha256').update(text).digest('base64url').slice(0, 24);
}
