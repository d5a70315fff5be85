/**
 * The published metadata of an OpenID provider (OpenID Connect Discovery 1.0): endpoints and public keys. It is
 * valid for a quarter of an hour, for a day while it cannot be fetched, and is fetched at once, at a limited
 * rate, if a key is missing.
 */
import { createLocalJWKSet, errors, type JWK, type JWTVerifyGetKey } from 'jose';
import type { ServerMetadata } from 'openid-client';
import { FrontdoorError, messageOf, type Clock, type Log } from '#base';
import type { EgressClient } from '#net';
import { PUBLIC_KEY_ALGORITHMS } from '../../credentials/oauth/mod.ts';

export interface IssuerMetadata {
  readonly server: ServerMetadata;
  /** Permitted signature algorithms of its tokens; asymmetric ones only. */
  readonly algorithms: readonly string[];
  readonly keys: JWK[];
  /** The issuers that keys were published for, by their place in `keys`; undefined if a key names none. */
  readonly keyIssuers: readonly (string | undefined)[];
}

export interface IssuerMetadataOptions {
  readonly issuer: string;
  /** By default derived from the issuer. */
  readonly discoveryUrl: string | undefined;
  readonly egress: Pick<EgressClient, 'get'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when new metadata was fetched, whatever the cause. */
  readonly onNews: () => void;
}

interface Held {
  readonly metadata: IssuerMetadata;
  /** Changes with the published metadata. */
  readonly text: string;
  readonly keyOf: JWTVerifyGetKey;
  readonly fetchedAtMs: number;
}

const FRESH_MS = 15 * 60_000;
const MAX_STALE_MS = 24 * 3_600_000;
const MIN_BETWEEN_FETCHES_MS = 30_000;
const MAX_DOUBLINGS = 10;
const MAX_KEYS = 100;
const MAX_KEY_FIELD_CHARS = 4_096;

const ALGORITHMS: ReadonlySet<unknown> = new Set(PUBLIC_KEY_ALGORITHMS);
const KEY_FIELDS = ['kty', 'kid', 'use', 'alg', 'n', 'e', 'crv', 'x', 'y'] as const;
const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

export class PublishedIssuer {
  readonly #options: IssuerMetadataOptions;
  #held: Held | undefined;
  #triedAtMs = -Infinity;
  /** When an unknown key was last requested. */
  #askedAtMs = -Infinity;
  #failures = 0;
  #fetching: Promise<void> | undefined;

  constructor(options: IssuerMetadataOptions) {
    this.#options = options;
  }

  /** Returns the metadata without fetching; undefined if there is none, or it is too old. */
  get held(): IssuerMetadata | undefined {
    return this.#usable()?.metadata;
  }

  /** Providers that fail repeatedly are contacted at increasing intervals. */
  get isDue(): boolean {
    const nowMs = this.#options.clock.nowMs();
    const pauseMs = Math.min(FRESH_MS, MIN_BETWEEN_FETCHES_MS * 2 ** this.#failures);
    return nowMs - (this.#held?.fetchedAtMs ?? -Infinity) >= FRESH_MS && nowMs - this.#triedAtMs >= pauseMs;
  }

  /** Throws `unavailable` if the metadata cannot be fetched. */
  async current(): Promise<IssuerMetadata> {
    if (this.#usable() === undefined) await this.renew();
    else if (this.isDue) void this.renew();
    const held = this.#usable();
    if (held !== undefined) return held.metadata;
    const { issuer } = this.#options;
    throw new FrontdoorError('unavailable', 'issuer-metadata', `no metadata of the issuer ${issuer}`);
  }

  /** For jose: returns the key that a token's header names, and fetches the metadata if the key is not known. */
  readonly keyOf: JWTVerifyGetKey = (header, token) => this.#find(header, token, ({ keyOf }) => keyOf);

  /** As `keyOf`, without keys that were published for an issuer other than that of the token. */
  keysOf(isIssuer: (named: string) => boolean): JWTVerifyGetKey {
    return (header, token) =>
      this.#find(header, token, ({ metadata: { keys, keyIssuers } }) => {
        const fit = keys.filter((_key, at) => keyIssuers[at] === undefined || isIssuer(keyIssuers[at]));
        return createLocalJWKSet({ keys: fit });
      });
  }

  /** Fetches the metadata, once for concurrent callers, and not soon after the last attempt. Failures are logged. */
  renew(): Promise<void> {
    if (this.#fetching === undefined && !this.#isPast(this.#triedAtMs)) return Promise.resolve();
    return this.#shared();
  }

  /** Fetches because of an unknown key: at once, at a limited rate. */
  refresh(): Promise<void> {
    if (!this.#mayAsk()) return Promise.resolve();
    if (this.#fetching === undefined) this.#askedAtMs = this.#options.clock.nowMs();
    return this.#shared();
  }

  async #find(
    header: Parameters<JWTVerifyGetKey>[0],
    token: Parameters<JWTVerifyGetKey>[1],
    keysOf: (held: Held) => JWTVerifyGetKey,
  ): Promise<Awaited<ReturnType<JWTVerifyGetKey>>> {
    await this.current();
    try {
      return await keysOf(this.#held!)(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !this.#mayAsk()) throw error;
    }
    await this.refresh();
    return keysOf(this.#held!)(header, token);
  }

  #usable(): Held | undefined {
    const held = this.#held;
    return held !== undefined && this.#options.clock.nowMs() - held.fetchedAtMs < MAX_STALE_MS
      ? held
      : undefined;
  }

  #mayAsk(): boolean {
    return this.#fetching !== undefined || this.#isPast(this.#askedAtMs);
  }

  #isPast(atMs: number): boolean {
    return this.#options.clock.nowMs() - atMs >= MIN_BETWEEN_FETCHES_MS;
  }

  #shared(): Promise<void> {
    this.#fetching ??= this.#fetch().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #fetch(): Promise<void> {
    const { issuer, discoveryUrl, egress, clock, log, onNews } = this.#options;
    this.#triedAtMs = clock.nowMs();
    try {
      const metadata = await fetchIssuerMetadata(egress, issuer, discoveryUrl);
      const { keys } = metadata;
      const text = JSON.stringify(metadata);
      this.#failures = 0;
      const isNew = text !== this.#held?.text;
      const keyOf = createLocalJWKSet({ keys });
      this.#held = { metadata, text, keyOf, fetchedAtMs: clock.nowMs() };
      if (isNew) onNews();
    } catch (error) {
      this.#failures = Math.min(this.#failures + 1, MAX_DOUBLINGS);
      log.warn(
        { issuer, cause: messageOf(error) },
        'the metadata of an identity provider could not be fetched',
      );
    }
  }
}

/** Returns the issuer's current metadata. Throws an error that states what is wrong with it. */
export async function fetchIssuerMetadata(
  egress: IssuerMetadataOptions['egress'],
  issuer: string,
  discoveryUrl: string | undefined,
): Promise<IssuerMetadata> {
  const url = discoveryUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const server = parseServerMetadata(issuer, await fetchJson(egress, url));
  const found = parseKeys(await fetchJson(egress, server.jwks_uri!));
  const keys = found.map(({ key }) => key);
  const keyIssuers = found.map((each) => each.issuer);
  return { server, algorithms: algorithmsOf(server, keys), keys, keyIssuers };
}

async function fetchJson(
  egress: IssuerMetadataOptions['egress'],
  url: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { status, json } = await egress.get(url);
  if (status !== 200 || typeof json !== 'object' || json === null)
    throw new Error(`${new URL(url).pathname} answers ${status}, or no JSON object`);
  return json as Readonly<Record<string, unknown>>;
}

function parseServerMetadata(issuer: string, json: Readonly<Record<string, unknown>>): ServerMetadata {
  if (json['issuer'] !== issuer) throw new Error('the metadata are of another issuer');
  for (const name of ENDPOINTS) {
    if (!isWebAddress(json[name])) throw new Error(`the metadata have no ${name}`);
  }
  const algorithms = json['id_token_signing_alg_values_supported'];
  return {
    issuer,
    authorization_endpoint: json['authorization_endpoint'] as string,
    token_endpoint: json['token_endpoint'] as string,
    jwks_uri: json['jwks_uri'] as string,
    ...(isWebAddress(json['userinfo_endpoint']) ? { userinfo_endpoint: json['userinfo_endpoint'] } : {}),
    ...(isWebAddress(json['end_session_endpoint'])
      ? { end_session_endpoint: json['end_session_endpoint'] }
      : {}),
    id_token_signing_alg_values_supported: Array.isArray(algorithms)
      ? algorithms.filter((name) => ALGORITHMS.has(name)).map(String)
      : ['RS256'],
    authorization_response_iss_parameter_supported:
      json['authorization_response_iss_parameter_supported'] === true,
    token_endpoint_auth_methods_supported: textsOf(json['token_endpoint_auth_methods_supported']) ?? [
      'client_secret_basic',
    ],
  };
}

interface PublishedKey {
  readonly key: JWK;
  readonly issuer: string | undefined;
}

function parseKeys(json: Readonly<Record<string, unknown>>): PublishedKey[] {
  const { keys } = json;
  if (!Array.isArray(keys)) throw new Error('the key set has no keys');
  return keys.slice(0, MAX_KEYS).flatMap((key) => publicKeyOf(key) ?? []);
}

/** Returns only the public half of a signing key. */
function publicKeyOf(found: unknown): PublishedKey | undefined {
  if (typeof found !== 'object' || found === null) return undefined;
  const key = found as Readonly<Record<string, unknown>>;
  if (key['kty'] !== 'RSA' && key['kty'] !== 'EC' && key['kty'] !== 'OKP') return undefined;
  if (key['use'] !== undefined && key['use'] !== 'sig') return undefined;
  if (key['alg'] !== undefined && !ALGORITHMS.has(key['alg'])) return undefined;
  const fields = KEY_FIELDS.flatMap((name) => {
    const value = key[name];
    return typeof value === 'string' && value.length <= MAX_KEY_FIELD_CHARS ? [[name, value] as const] : [];
  });
  const { issuer } = key;
  return { key: Object.fromEntries(fields), issuer: typeof issuer === 'string' ? issuer : undefined };
}

function algorithmsOf(server: ServerMetadata, keys: readonly JWK[]): string[] {
  const named = keys.flatMap(({ alg }) => alg ?? []);
  return [...new Set([...(server.id_token_signing_alg_values_supported as string[]), ...named])];
}

function isWebAddress(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}

function textsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}
