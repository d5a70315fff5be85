/**
 * The kinds of proof: a log-in, a token, a key, a basic user, a client certificate; each knows what its own rests on.
 * Mutable: a caller is one object for all requests that show the same proof.
 */
import { canonicalEmail, type CallerIdentity, type GatewaySession } from '#domain';
import type { ClientCertificate } from '../certificates/client-certificate.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import { Caller, type Guard, type KeyIssuer, type TokenIssuer } from './caller.ts';

export const SESSION_IDLE = 'the session was not used for too long';

export class SessionCaller extends Caller {
  readonly decision = 'session';
  override readonly isAmbient = true;
  override readonly isReported = true;
  readonly token: string;
  /** The use up to which the control plane knew of no later one either. */
  idleSinceMs = -1;
  /** Of the table's knowledge when the control plane last told of it. */
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

  /** The same session, as the control plane knows it now. */
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
      return 'the session is another address’s';
    const provider = guard.logins.find(({ id }) => id === session.providerId);
    if (provider === undefined) return 'the session’s provider does not guard this address';
    if (provider.version !== session.providerVersion) return 'the session’s provider was changed';
    this.#providerName = provider.name;
    const { idleMs, absoluteMs } = host.route.rules.rules.session;
    if (nowMs >= session.createdAtMs + absoluteMs) return 'the session is over';
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
  /** JSON of the public key that verified it. */
  readonly jwk: string;
}

/** How far clocks of issuers may be off. */
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
      return 'the token’s key is not published any more';
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
    if (host.route.share.id !== this.#shareId) return 'the user is another address’s';
    const isThere = guard.basicUsers.get(this.identity.subject)?.includes(this.#passwordHash);
    return isThere === true ? undefined : 'the user was removed or has another password';
  }
}

/** Known by a certificate alone; whether it is good enough is one of the network rules. */
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
