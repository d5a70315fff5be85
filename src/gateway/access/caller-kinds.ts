/**
 * The kinds of callers: by session, token, API key, HTTP Basic user and client certificate. Each knows what its
 * own validity depends on. The objects are mutable, and one caller object serves all requests with the same
 * credential.
 */
import { canonicalEmail, type CallerIdentity } from '#domain/access';
import type { GatewaySession } from '#domain/gateway-shapes';
import type { ClientCertificate } from '../certificates/client-certificate.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import { Caller, type Guard, type KeyIssuer, type TokenIssuer } from './caller.ts';

export const SESSION_IDLE = 'the session was idle for too long';

export class SessionCaller extends Caller {
  readonly decision = 'session';
  override readonly isAmbient = true;
  override readonly isReported = true;
  readonly token: string;
  /** Time of last use up to which the control plane had no later use either. */
  idleSinceMs = -1;
  /** The epoch of the session table when the control plane last confirmed the session. */
  epoch: number;
  isEnded = false;
  #session: GatewaySession;
  #providerName = '';

  constructor(token: string, session: GatewaySession, epoch: number) {
    super();
    this.epoch = epoch;
    this.token = token;
    this.#session = session;
    this.lastUsedMs = session.lastUsedAtMs;
  }

  get session(): GatewaySession {
    return this.#session;
  }

  get identity(): CallerIdentity {
    return this.#session.identity;
  }

  override get providerName(): string {
    return this.#providerName;
  }

  /** Updates the session to the state that the control plane returned. */
  confirmed(session: GatewaySession, epoch: number): void {
    this.#session = session;
    this.lastUsedMs = Math.max(this.lastUsedMs, session.lastUsedAtMs);
    this.epoch = epoch;
  }

  override endsAtMs(host: GatewayHost): number {
    return this.#session.createdAtMs + host.route.rules.rules.session.absoluteMs;
  }

  problem(host: GatewayHost, guard: Guard, nowMs: number): string | undefined {
    const { session } = this;
    if (this.isEnded) return 'the session was ended';
    if (session.host !== host.host || session.shareId !== host.route.share.id)
      return 'the session belongs to another address';
    const provider = guard.logins.find(({ id }) => id === session.providerId);
    if (provider === undefined) return 'the session’s provider does not guard this address';
    if (provider.version !== session.providerVersion) return 'the session’s provider was changed';
    this.#providerName = provider.name;
    const { idleMs, absoluteMs } = host.route.rules.rules.session;
    if (nowMs >= session.createdAtMs + absoluteMs) return 'the session has expired';
    return nowMs >= this.lastUsedMs + idleMs ? SESSION_IDLE : undefined;
  }
}

const KEY_OVER = 'the key has expired';

export class KeyCaller extends Caller {
  readonly identity: CallerIdentity;
  readonly decision: string;
  override readonly isReported = true;
  readonly name: string;
  readonly issuer: KeyIssuer;
  readonly #hmac: string;
  readonly #expiresAtMs: number | null;

  constructor(issuer: KeyIssuer, key: { name: string; hmac: string; expiresAtMs: number | null }) {
    super();
    this.issuer = issuer;
    this.name = key.name;
    this.#hmac = key.hmac;
    this.#expiresAtMs = key.expiresAtMs;
    this.decision = `api-key ${key.name}`;
    this.identity = {
      providerId: issuer.id,
      kind: 'api-key',
      subject: key.name,
      email: null,
      name: null,
      groups: [],
      claims: {},
    };
  }

  override get providerName(): string {
    return this.issuer.name;
  }

  problem(_host: GatewayHost, guard: Guard, nowMs: number): string | undefined {
    if (guard.keys.includes(this.issuer)) return this.isOver(nowMs) ? KEY_OVER : undefined;
    const issuer = guard.keys.find(({ id }) => id === this.issuer.id);
    if (issuer === undefined) return 'the key’s provider does not guard this address';
    const key = issuer.keyByHmac(this.#hmac);
    if (key === undefined || key.name !== this.name) return 'the key was removed';
    return key.isOver(nowMs) ? KEY_OVER : undefined;
  }

  isOver(nowMs: number): boolean {
    return this.#expiresAtMs !== null && nowMs >= this.#expiresAtMs;
  }
}

export interface ProvenToken {
  readonly identity: CallerIdentity;
  readonly expiresAtMs: number;
  /** The public key that verified the token, as JSON. */
  readonly jwk: string;
}

/** Tolerance for the clocks of issuers. */
export const TOKEN_LEEWAY_MS = 60_000;

export class TokenCaller extends Caller {
  readonly identity: CallerIdentity;
  readonly decision = 'token';
  readonly #token: ProvenToken;
  #provider: TokenIssuer;

  constructor(provider: TokenIssuer, token: ProvenToken) {
    super();
    this.#provider = provider;
    this.#token = token;
    this.identity = token.identity;
  }

  override get providerName(): string {
    return this.#provider.name;
  }

  override endsAtMs(): number {
    return this.#token.expiresAtMs;
  }

  problem(_host: GatewayHost, guard: Guard, nowMs: number): string | undefined {
    if (nowMs >= this.#token.expiresAtMs + TOKEN_LEEWAY_MS) return 'the token has expired';
    if (guard.tokens.includes(this.#provider)) return undefined;
    const provider = guard.tokens.find(({ id }) => id === this.#provider.id);
    const tokens = provider?.tokens ?? null;
    if (provider === undefined || tokens === null) return 'the token’s provider does not guard this address';
    const { issuer, audience } = tokens;
    const before = this.#provider.tokens;
    if (issuer !== before?.issuer || audience !== before.audience) return 'the token’s provider was changed';
    if (!tokens.keys.some((key) => JSON.stringify(key) === this.#token.jwk))
      return 'the token’s key is no longer published';
    this.#provider = provider;
    return undefined;
  }
}

export class BasicCaller extends Caller {
  readonly identity: CallerIdentity;
  readonly decision: string;
  override readonly isAmbient = true;
  readonly #passwordHash: string;
  readonly #shareId: string;

  constructor(shareId: string, name: string, passwordHash: string) {
    super();
    this.#shareId = shareId;
    this.#passwordHash = passwordHash;
    this.decision = `basic ${name}`;
    this.identity = {
      providerId: null,
      kind: 'basic',
      subject: name,
      email: null,
      name: null,
      groups: [],
      claims: {},
    };
  }

  problem(host: GatewayHost, guard: Guard): string | undefined {
    if (host.route.share.id !== this.#shareId) return 'the user belongs to another address';
    const isThere = guard.basicUsers.get(this.identity.subject)?.includes(this.#passwordHash);
    return isThere === true ? undefined : 'the user was removed or has another password';
  }
}

/** A caller that only a certificate identifies. Network rules decide whether the certificate is sufficient. */
export class CertificateCaller extends Caller {
  readonly identity: CallerIdentity;
  readonly decision = 'certificate';
  override readonly isAmbient = true;

  constructor(certificate: ClientCertificate) {
    super();
    const email = certificate.emails.map(canonicalEmail).find((each) => each !== undefined) ?? null;
    this.identity = {
      providerId: null,
      kind: 'certificate',
      subject: certificate.commonName ?? certificate.subject,
      email,
      name: null,
      groups: [],
      claims: {},
    };
  }

  problem(): undefined {
    return undefined;
  }
}
