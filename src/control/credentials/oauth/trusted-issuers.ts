/**
 * Verifies bearer tokens of trusted issuers. The token's text selects the issuer; everything else is checked
 * against the configuration for that issuer. Keys and algorithms never come from the token.
 */
import { jwtVerify, type JWTPayload } from 'jose';
import { FrontdoorError, type Clock, type Log } from '#base';
import { isUuid } from '#domain';
import type { EgressAnswer } from '#net';
import { IssuerKeys } from './issuer-keys.ts';
import { CLOCK_SKEW_MS, isIssuedAhead } from './token-lifetimes.ts';
import type { TrustedIssuer } from './trusted-issuer-config.ts';

/** A caller of a trusted issuer. The store knows whether the organization exists. */
export interface VouchedCaller {
  readonly kind: 'issuer';
  /** `<issuer>#<sub>` */
  readonly id: string;
  readonly organizationId: string;
  readonly scopes: readonly string[];
}

export interface TrustedIssuersOptions {
  readonly issuers: readonly TrustedIssuer[];
  readonly fetch: (url: string) => Promise<EgressAnswer>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Trusted {
  readonly config: TrustedIssuer;
  readonly keys: IssuerKeys;
}

/** RFC 9068, RFC 7519, or absent. */
const TYPES: ReadonlySet<string | undefined> = new Set(['at+jwt', 'application/at+jwt', 'jwt', undefined]);
const MAX_SUBJECT_CHARS = 255;

export class TrustedIssuers {
  readonly #clock: Clock;
  readonly #byName: ReadonlyMap<string, Trusted>;

  constructor({ issuers, fetch, clock, log }: TrustedIssuersOptions) {
    this.#clock = clock;
    this.#byName = new Map(
      issuers.map((config) => {
        const keys = new IssuerKeys({ jwksUri: config.jwksUri, fetch, clock, log });
        return [config.issuer, { config, keys }];
      }),
    );
  }

  /** Fetches every issuer's keys, so that the first token need not wait. Failures are logged and retried later. */
  async warmUp(): Promise<void> {
    await Promise.all([...this.#byName.values()].map(({ keys }) => keys.refresh()));
  }

  has(issuer: string | undefined): issuer is string {
    return issuer !== undefined && this.#byName.has(issuer);
  }

  /** Returns the scopes that the caller with this id could have now; undefined if its issuer is not trusted. */
  scopesOf(id: string): readonly string[] | undefined {
    for (const [issuer, { config }] of this.#byName) if (id.startsWith(`${issuer}#`)) return config.scopes;
    return undefined;
  }

  /** Returns undefined if the token is not valid. Throws `unavailable` while the issuer's keys cannot be fetched. */
  async verify(issuer: string, token: string): Promise<VouchedCaller | undefined> {
    const { config, keys } = this.#byName.get(issuer)!;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys.keyOf, {
        issuer: config.issuer,
        audience: config.audience,
        algorithms: [...config.algorithms],
        clockTolerance: CLOCK_SKEW_MS / 1_000,
        currentDate: new Date(this.#clock.nowMs()),
        requiredClaims: ['iss', 'sub', 'aud', 'exp', config.organizationClaim],
      });
      if (isIssuedAhead(payload.iat, this.#clock.nowMs())) return undefined;
      return TYPES.has(protectedHeader.typ?.toLowerCase()) ? callerOf(config, payload) : undefined;
    } catch (error) {
      if (error instanceof FrontdoorError) throw error;
      return undefined;
    }
  }
}

function callerOf(config: TrustedIssuer, payload: JWTPayload): VouchedCaller | undefined {
  const { sub } = payload;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_CHARS) return undefined;
  const organizationId = organizationOf(config, payload[config.organizationClaim]);
  if (organizationId === undefined) return undefined;
  const asked = scopesOf(payload[config.scopeClaim]);
  const scopes = config.scopes.filter((scope) => asked.includes(scope));
  return { kind: 'issuer', id: `${config.issuer}#${sub}`, organizationId, scopes };
}

function organizationOf({ organizations }: TrustedIssuer, claimed: unknown): string | undefined {
  if (typeof claimed !== 'string') return undefined;
  if (organizations !== undefined)
    return Object.hasOwn(organizations, claimed) ? organizations[claimed]!.toLowerCase() : undefined;
  return isUuid(claimed) ? claimed.toLowerCase() : undefined;
}

function scopesOf(claimed: unknown): readonly unknown[] {
  if (typeof claimed === 'string') return claimed.split(' ');
  return Array.isArray(claimed) ? claimed : [];
}
