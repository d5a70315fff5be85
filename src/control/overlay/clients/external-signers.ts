/**
 * Log-ins by the tokens of another party, whose signers administrators add. The token's text selects the signer; everything
 * else is checked against the signer's entity. Keys come from its certificate, or from its key set through the same door as those of
 * share log-ins; neither keys nor algorithms come from the token.
 */
import { decodeJwt, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { FrontdoorError, messageOf, type Clock, type Log } from '#base';
import type { EgressAnswer } from '#net';
import type { EdgeEntityRecord, JsonObject } from '../model/edge-entity.ts';
import type { Identity, OverlayModel } from '../model/overlay-model.ts';
import { keyValidAt } from '../../pki/mod.ts';
import { claimAt } from './claim-selector.ts';
import type { ExternalIds } from './external-ids.ts';
import {
  CLOCK_SKEW_MS,
  isIssuedAhead,
  IssuerKeys,
  PUBLIC_KEY_ALGORITHMS,
} from '../../credentials/oauth/mod.ts';

const MAX_TOKEN_CHARS = 16_384;
const MAX_CLAIM_CHARS = 1_024;
/** Role attributes that an enrolling token gives, as many as administrators may. */
const MAX_ROLES = 512;
const MAX_ROLE_CHARS = 256;
const DEFAULT_NAME_CLAIM = 'sub';
/** Enabled signers with the same issuer that one token is tried with. */
const MAX_SIGNERS = 4;

export interface ExternalSignerParts {
  readonly model: OverlayModel;
  readonly externalIds: ExternalIds;
  readonly fetch: (url: string) => Promise<EgressAnswer>;
  readonly clock: Clock;
  readonly log: Log;
}

export type ExternalProof =
  | { readonly identity: Identity; readonly signerId: string }
  /** For the log. Callers get one answer for all of them. */
  | { readonly problem: string };

/** The identity that a token may enroll. */
export type EnrollingProof =
  | {
      readonly signer: EdgeEntityRecord;
      readonly claims: {
        readonly externalId: string;
        readonly name: string;
        readonly roleAttributes: readonly string[];
      };
    }
  | { readonly problem: string };

export class ExternalSigners {
  readonly #parts: ExternalSignerParts;
  /** By the address of the key set. */
  readonly #keys = new Map<string, IssuerKeys>();

  constructor(parts: ExternalSignerParts) {
    this.#parts = parts;
  }

  enabled(): EdgeEntityRecord[] {
    const all = this.#parts.model.edge.all('external-jwt-signer');
    return [...all].filter(({ data }) => data['enabled'] === true);
  }

  /** Never rejects for what a client sends; a key set that cannot be fetched is a problem in the log. */
  async prove(token: string): Promise<ExternalProof> {
    const read = await this.#read(token);
    return 'payload' in read ? this.#identityOf(read.signer, read.payload) : read;
  }

  /** Does what `prove` does, with this signer alone. */
  async proveBy(signerId: string, token: string): Promise<ExternalProof> {
    const signer = this.#parts.model.edge.get('external-jwt-signer', signerId);
    if (signer?.data['enabled'] !== true || token.length > MAX_TOKEN_CHARS)
      return { problem: 'the signer is not enabled, or the token is too long' };
    const read = await this.#verify(signer, token);
    return 'payload' in read ? this.#identityOf(signer, read.payload) : read;
  }

  /** Returns what the claims of the token give a new identity. Never rejects, as `prove`. */
  async enrolling(token: string): Promise<EnrollingProof> {
    const read = await this.#read(token);
    return 'payload' in read ? enrollingClaims(read.signer, read.payload) : read;
  }

  async #read(
    token: string,
  ): Promise<
    { readonly signer: EdgeEntityRecord; readonly payload: JWTPayload } | { readonly problem: string }
  > {
    const issuer = token.length > MAX_TOKEN_CHARS ? undefined : issuerOf(token);
    if (issuer === undefined) return { problem: 'no token of another party' };
    const signers = this.enabled().filter(({ data }) => data['issuer'] === issuer);
    let problem = 'the issuer of the token has no enabled signer';
    for (const signer of signers.slice(0, MAX_SIGNERS)) {
      const read = await this.#verify(signer, token);
      if ('payload' in read) return { signer, payload: read.payload };
      ({ problem } = read);
    }
    return { problem };
  }

  async #verify(
    { data }: EdgeEntityRecord,
    token: string,
  ): Promise<{ readonly payload: JWTPayload } | { readonly problem: string }> {
    try {
      const { payload } = await jwtVerify(token, this.#keySourceOf(data), {
        issuer: String(data['issuer']),
        audience: String(data['audience']),
        algorithms: PUBLIC_KEY_ALGORITHMS,
        clockTolerance: CLOCK_SKEW_MS / 1_000,
        currentDate: new Date(this.#parts.clock.nowMs()),
        requiredClaims: ['iss', 'aud', 'exp'],
      });
      return isIssuedAhead(payload.iat, this.#parts.clock.nowMs())
        ? { problem: 'the token claims to be issued in the future' }
        : { payload };
    } catch (error) {
      const why =
        error instanceof FrontdoorError ? 'the keys of the signer cannot be fetched' : messageOf(error);
      return { problem: why };
    }
  }

  /** A signer has either a certificate, whose key id tokens name, or a key set. */
  #keySourceOf({ certPem, kid, jwksEndpoint }: JsonObject): JWTVerifyGetKey {
    if (typeof certPem !== 'string') return this.#keysOf(String(jwksEndpoint)).keyOf;
    return (header) => {
      const key = header.kid === kid ? keyValidAt(certPem, this.#parts.clock.nowMs()) : undefined;
      if (key === undefined)
        throw new Error('the token names another key, or its certificate is not valid now');
      return key;
    };
  }

  #identityOf({ id: signerId, data }: EdgeEntityRecord, payload: JWTPayload): ExternalProof {
    const { model, externalIds } = this.#parts;
    const claim = claimAt(payload, String(data['claimsProperty']));
    if (!isClaim(claim)) return { problem: 'the token lacks the claim that names the identity' };
    const identity = data['useExternalId'] === true ? externalIds.identityOf(claim) : model.identity(claim);
    return identity?.kind === 'edge'
      ? { identity, signerId }
      : { problem: 'no identity, or several, have the claim of the token' };
  }

  #keysOf(jwksUri: string): IssuerKeys {
    const known = this.#keys.get(jwksUri);
    if (known !== undefined) return known;
    const inUse = new Set(this.enabled().map(({ data }) => data['jwksEndpoint']));
    for (const uri of this.#keys.keys()) if (!inUse.has(uri)) this.#keys.delete(uri);
    const { fetch, clock, log } = this.#parts;
    const keys = new IssuerKeys({ jwksUri, fetch, clock, log });
    this.#keys.set(jwksUri, keys);
    return keys;
  }
}

function enrollingClaims(signer: EdgeEntityRecord, payload: JWTPayload): EnrollingProof {
  const { claimsProperty, enrollNameClaimsSelector, enrollAttributeClaimsSelector } = signer.data;
  const externalId = claimAt(payload, String(claimsProperty));
  const name = claimAt(payload, selectorOf(enrollNameClaimsSelector) ?? DEFAULT_NAME_CLAIM);
  const attributes = selectorOf(enrollAttributeClaimsSelector);
  const given = attributes === undefined ? undefined : claimAt(payload, attributes);
  const roles = [given ?? []].flat().filter((role) => role !== '');
  if (!isClaim(externalId) || !isClaim(name)) return { problem: 'the token lacks a claim of the identity' };
  if (roles.length > MAX_ROLES || !roles.every(isRole))
    return { problem: 'the claim of the role attributes is no list of texts, or too long' };
  return { signer, claims: { externalId, name, roleAttributes: [...new Set(roles)] } };
}

function selectorOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isClaim(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_CLAIM_CHARS;
}

function isRole(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_ROLE_CHARS;
}

/** The issuer that an unverified token names. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}
