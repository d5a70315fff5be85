/**
 * Log-ins through OpenID Connect that are under way. Nothing about them is kept in memory: a request, its log-in and
 * its code are sealed texts that the client carries from one call to the next, so that callers without an identity
 * cost no memory, and each control plane over the database continues what another one began (ADR 0033).
 */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Clock } from '#base';
import { jsonReader, Part, Type, type ShapeOf } from '#base/shapes';
import { LOG_IN_METHODS } from '../../overlay/clients/mod.ts';
import type { Secrets } from '../../secrets/mod.ts';
import { OIDC_CLIENTS } from './session-tokens.ts';

/** How long a client may take for its log-in. */
const REQUEST_LIFETIME_MS = 10 * 60_000;
/** How long a code may be exchanged for tokens. */
const CODE_LIFETIME_MS = 60_000;
const MAX_TEXT_CHARS = 512;
const MAX_SEALED_CHARS = 8_192;
const CALLBACK_PATH = '/auth/callback';
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);
const SCOPES: ReadonlySet<string> = new Set(['openid', 'offline_access']);
/** SHA-256 in base64url without padding. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

type Stage = 'request' | 'log-in' | 'code';

const requestFields = {
  clientId: Part.text(),
  redirectUri: Part.text(),
  state: Part.text(),
  nonce: Part.text(),
  challenge: Part.text(),
  scopes: Part.texts(),
  /** Id of the session that begins with the log-in, so that a second step finds it. */
  sessionId: Part.text(),
};
const requestSchema = Type.Object(requestFields);
const loggedInSchema = Type.Object({
  ...requestFields,
  identityId: Part.text(),
  method: Part.oneOf(...LOG_IN_METHODS),
});

/** What the client asked for. */
export type AuthorizationRequest = ShapeOf<typeof requestSchema>;

/** A request whose identity has logged in, in a session that waits for its code. */
export type LoggedInRequest = ShapeOf<typeof loggedInSchema>;

const readEnd = jsonReader(Type.Object({ untilMs: Type.Number() }));
const readRequest = jsonReader(requestSchema);
const readLoggedIn = jsonReader(loggedInSchema);

/** A request that is refused: to its client's address if that is one of Frontdoor, else to the caller. */
export type AuthorizationProblem =
  | { readonly text: string }
  | { readonly redirectUri: string; readonly state: string; readonly error: string; readonly text: string };

/** Reads the parameters of `authorize`. */
export function authorizationOf(parameters: URLSearchParams): AuthorizationRequest | AuthorizationProblem {
  const text = (name: string): string => parameters.get(name) ?? '';
  const [clientId, redirectUri, state] = [text('client_id'), text('redirect_uri'), text('state')];
  const nonce = text('nonce');
  if (!OIDC_CLIENTS.has(clientId)) return { text: 'unable to retrieve client by id' };
  if (!isRedirect(redirectUri))
    return { text: 'The requested redirect_uri is missing in the client configuration' };
  const refused = (error: string, why: string): AuthorizationProblem => ({
    redirectUri,
    state: state.slice(0, MAX_TEXT_CHARS),
    error,
    text: why,
  });
  if (state.length > MAX_TEXT_CHARS || nonce.length > MAX_TEXT_CHARS)
    return refused('invalid_request', `state and nonce have at most ${MAX_TEXT_CHARS} characters`);
  if (text('response_type') !== 'code')
    return refused('unsupported_response_type', 'the response_type has to be code');
  if (text('code_challenge_method') !== 'S256' || !CHALLENGE.test(text('code_challenge')))
    return refused('invalid_request', 'a code_challenge of the method S256 is required');
  const scopes = [...new Set(text('scope').split(' '))].filter((scope) => SCOPES.has(scope));
  if (!scopes.includes('openid')) return refused('invalid_scope', 'the scope has to contain openid');
  return {
    clientId,
    redirectUri,
    state,
    nonce,
    challenge: text('code_challenge'),
    scopes,
    sessionId: randomUUID(),
  };
}

/** An address with the outcome, for the client's own listener. */
export function redirectTo(redirectUri: string, outcome: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(outcome).filter(([, value]) => value !== ''));
  return `${redirectUri}?${query.toString()}`;
}

/** RFC 7636, method S256. */
export function isVerifierOf(challenge: string, verifier: string): boolean {
  const actual = createHash('sha256').update(verifier).digest();
  const expected = Buffer.from(challenge, 'base64url');
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

export class OidcRequests {
  readonly #secrets: Pick<Secrets, 'seal' | 'unseal'>;
  readonly #clock: Clock;

  constructor(secrets: Pick<Secrets, 'seal' | 'unseal'>, clock: Clock) {
    this.#secrets = secrets;
    this.#clock = clock;
  }

  /** Returns the id under which the client logs in. */
  begin(request: AuthorizationRequest): string {
    return this.#seal('request', request, REQUEST_LIFETIME_MS);
  }

  /** Returns undefined if the id does not belong to Frontdoor, or too old. */
  request(id: string): AuthorizationRequest | undefined {
    return this.#unseal('request', id, readRequest);
  }

  /** Returns the id with which the client gets its code. */
  loggedIn(request: LoggedInRequest): string {
    return this.#seal('log-in', request, REQUEST_LIFETIME_MS);
  }

  logIn(id: string): LoggedInRequest | undefined {
    return this.#unseal('log-in', id, readLoggedIn);
  }

  code(request: LoggedInRequest): string {
    return this.#seal('code', request, CODE_LIFETIME_MS);
  }

  ofCode(code: string): LoggedInRequest | undefined {
    return this.#unseal('code', code, readLoggedIn);
  }

  #seal(stage: Stage, request: AuthorizationRequest, lifetimeMs: number): string {
    const untilMs = this.#clock.nowMs() + lifetimeMs;
    return this.#secrets.seal(JSON.stringify({ ...request, untilMs }), openerOf(stage));
  }

  #unseal<T>(stage: Stage, sealed: string, read: (text: string) => T): T | undefined {
    if (sealed === '' || sealed.length > MAX_SEALED_CHARS) return undefined;
    try {
      const text = this.#secrets.unseal(sealed, openerOf(stage));
      return readEnd(text).untilMs > this.#clock.nowMs() ? read(text) : undefined;
    } catch {
      return undefined;
    }
  }
}

/** A text of one stage opens in no other one. */
function openerOf(stage: Stage): string {
  return `edge API: OpenID Connect ${stage}`;
}

/** The client listens on this machine (RFC 8252), or is an app that the system knows by its scheme. */
function isRedirect(uri: string): boolean {
  if (uri === 'openziti://auth/callback') return true;
  if (uri.length > MAX_TEXT_CHARS || !URL.canParse(uri)) return false;
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(uri);
  return (
    (protocol === 'http:' || protocol === 'https:') &&
    LOOPBACK_HOSTS.has(hostname) &&
    pathname === CALLBACK_PATH &&
    `${search}${hash}${username}${password}` === ''
  );
}
