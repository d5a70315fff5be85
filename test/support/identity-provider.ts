/**
 * A real OpenID provider (`oidc-provider`) on loopback whose users log in by a form, or at once as the user that a
 * test sets or that the request's `login_hint` names. Its keys can be rotated, and it can be stopped and started again
 * at the same address.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server } from 'node:net';
import { exportJWK, generateKeyPair, importJWK, SignJWT, type JWK } from 'jose';
import { definedFields } from '#base';
import { freePort } from './free-port.ts';
import { OpenIdProvider } from './openid-provider.ts';

export interface IdentityProviderUser {
  readonly sub: string;
  readonly email?: string;
  /** Default: true. */
  readonly emailVerified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
  /** More claims, which come with the scope `openid`. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Further claims, of the userinfo endpoint only. */
  readonly userinfo?: Readonly<Record<string, unknown>>;
}

export interface IdentityProviderOptions {
  readonly users: readonly IdentityProviderUser[];
  /** Redirect addresses of all of them: any of its scheme when absent. */
  readonly clients?: readonly { readonly id: string; readonly secret?: string }[];
  /** HTTPS with this certificate; without it plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Puts all claims into the ID token: the userinfo endpoint is not needed. */
  readonly claimsInIdToken?: boolean;
  /** The path of the issuer, as `/TENANT/v2.0`. The provider answers below each path of as many segments. */
  readonly issuerPath?: string;
}

export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  /** The issuer without its path. */
  readonly origin: string;
  readonly port: number;
  /** The user that every visitor is logged in as, without a form; undefined shows a form. */
  loggedInAs: string | undefined;
  /** So many seconds ago visitors have logged in, as ID tokens say. */
  authenticatedAgoS: number;
  /** Changes the metadata and the key set as they are read. */
  changeDocument: ((document: Record<string, unknown>) => Record<string, unknown>) | undefined;
  /** Paths of the requests that came. */
  readonly requests: string[];
  /** Other redirect addresses are refused from here on. */
  allowRedirects(uris: readonly string[]): void;
  /** Allowed redirects after a log-out; none before this is set. */
  allowLogouts(uris: readonly string[]): void;
  /** New keys sign from here on; the old ones are no longer published. */
  rotateKeys(): Promise<void>;
  /** A token for a machine, signed by the present keys. */
  signToken(claims: Readonly<Record<string, unknown>>, options?: TokenOptions): Promise<string>;
  /** Connections are refused until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface TokenOptions {
  readonly audience?: string;
  readonly issuer?: string;
  readonly expiresInS?: number;
}

/** Paths of documents that a provider publishes, and the header by which they come unchanged. */
const DOCUMENT = /\/(?:openid-configuration|jwks)$/;
const AS_IS = 'x-as-is';

export const DEFAULT_CLIENT = { id: 'frontdoor', secret: 'the-secret-of-the-client' } as const;

export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const made = new LocalIdentityProvider(options);
  await made.start();
  await made.rotateKeys();
  return made;
}

class LocalIdentityProvider implements IdentityProvider {
  readonly #options: IdentityProviderOptions;
  readonly #cookieKey = randomBytes(16).toString('hex');
  readonly requests: string[] = [];
  loggedInAs: string | undefined;
  authenticatedAgoS = 0;
  changeDocument: IdentityProvider['changeDocument'];
  #server: Server | undefined;
  #port = 0;
  #provider: OpenIdProvider | undefined;
  #key: JWK = {};
  #redirects: ReadonlySet<string> | undefined;
  #logouts: ReadonlySet<string> = new Set();

  constructor(options: IdentityProviderOptions) {
    this.#options = options;
  }

  get issuer(): string {
    return `${this.origin}${this.#options.issuerPath ?? ''}`;
  }

  get origin(): string {
    return `${this.#options.tls === undefined ? 'http' : 'https'}://localhost:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  allowRedirects(uris: readonly string[]): void {
    this.#redirects = new Set(uris);
  }

  allowLogouts(uris: readonly string[]): void {
    this.#logouts = new Set(uris);
  }

  async rotateKeys(): Promise<void> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    this.#key = { ...(await exportJWK(privateKey)), kid: randomUUID(), use: 'sig', alg: 'RS256' };
    this.#provider = this.#makeProvider();
  }

  async signToken(claims: Readonly<Record<string, unknown>>, options: TokenOptions = {}): Promise<string> {
    const { audience = DEFAULT_CLIENT.id, issuer = this.issuer, expiresInS = 300 } = options;
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: this.#key.kid!, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(Math.floor(Date.now() / 1_000) + expiresInS)
      .sign(await importJWK(this.#key, 'RS256'));
  }

  async start(): Promise<void> {
    const { tls } = this.#options;
    const answer = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#answer(request, response);
    const server = tls === undefined ? createHttpServer(answer) : createHttpsServer(tls, answer);
    if (this.#port === 0) this.#port = await freePort();
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server as (Server & { closeAllConnections(): void }) | undefined;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  close(): Promise<void> {
    return this.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const whole = (request.url ?? '/').split('?')[0]!;
    this.requests.push(whole);
    const path = this.#mount(request);
    try {
      if (this.changeDocument !== undefined && DOCUMENT.test(path) && request.headers[AS_IS] === undefined) {
        const answer = await fetch(`${this.origin}${whole}`, { headers: { [AS_IS]: '1' } });
        const document = this.changeDocument((await answer.json()) as Record<string, unknown>);
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(document));
        return;
      }
      // The provider keeps no log-in: every visitor is asked.
      if (path === '/auth') delete request.headers.cookie;
      if (path.startsWith('/interaction/')) await this.#interact(request, response, path);
      else await this.#provider!.callback()(request, response);
    } catch (error) {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    }
  }

  /** Takes the path of the issuer off that of the request, as a server does that mounts the provider there. */
  #mount(request: IncomingMessage & { originalUrl?: string }): string {
    const segments = (this.#options.issuerPath ?? '').split('/').length - 1;
    const url = request.url ?? '/';
    if (segments > 0 && !url.startsWith('/interaction/')) {
      request.originalUrl = url;
      request.url = `/${url
        .split('/')
        .slice(1 + segments)
        .join('/')}`;
    }
    return (request.url ?? '/').split('?')[0]!;
  }

  /** Asks for the user's name alone: consent is given. */
  async #interact(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const provider = this.#provider!;
    const { params } = await provider.interactionDetails(request, response);
    const hint = typeof params['login_hint'] === 'string' ? params['login_hint'] : undefined;
    const chosen = path.endsWith('/login') ? (await formOf(request)).get('user') : undefined;
    const accountId = chosen ?? this.loggedInAs ?? hint;
    if (accountId === 'nobody') {
      const result = { error: 'access_denied', error_description: 'the user denied the request' };
      await provider.interactionFinished(request, response, result);
    } else if (this.#userOf(accountId) !== undefined) {
      const ts = Math.floor(Date.now() / 1_000) - this.authenticatedAgoS;
      await provider.interactionFinished(request, response, { login: { accountId, remember: false, ts } });
    } else {
      const buttons = [...this.#options.users.map(({ sub }) => sub), 'nobody']
        .map((sub) => `<button name="user" value="${sub}" id="${sub}">${sub}</button>`)
        .join('');
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(
        `<!doctype html><title>Who?</title><form method="post" action="${path}/login">${buttons}</form>`,
      );
    }
  }

  #userOf(sub: string | null | undefined): IdentityProviderUser | undefined {
    return this.#options.users.find((user) => user.sub === sub);
  }

  #makeProvider(): OpenIdProvider {
    const { clients = [DEFAULT_CLIENT], claimsInIdToken = false, users } = this.#options;
    const more = new Set(users.flatMap(({ claims, userinfo }) => Object.keys({ ...claims, ...userinfo })));
    const provider = new OpenIdProvider(this.issuer, {
      clients: clients.map(({ id, secret }) => ({
        client_id: id,
        ...(secret === undefined ? { token_endpoint_auth_method: 'none' } : { client_secret: secret }),
        require_auth_time: true,
        redirect_uris: ['https://placeholder.example/callback'],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      })),
      jwks: { keys: [this.#key] },
      cookies: { keys: [this.#cookieKey] },
      claims: {
        openid: ['sub', ...more],
        email: ['email', 'email_verified'],
        profile: ['name'],
        groups: ['groups'],
      },
      scopes: ['openid', 'email', 'profile', 'groups', 'offline_access'],
      conformIdTokenClaims: !claimsInIdToken,
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_context: unknown, sub: string) => {
        const user = this.#userOf(sub);
        if (user === undefined) return undefined;
        const claims = (use: 'id_token' | 'userinfo') =>
          use === 'userinfo' ? { ...claimsOf(user), ...user.userinfo } : claimsOf(user);
        return { accountId: sub, claims };
      },
      loadExistingGrant: async (context: {
        oidc: { client: { clientId: string }; session: { accountId: string } };
      }) => {
        const { client, session } = context.oidc;
        const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope('openid email profile groups');
        await grant.save();
        return grant;
      },
      ttl: {
        AccessToken: 600,
        AuthorizationCode: 60,
        IdToken: 86_400,
        Interaction: 600,
        Session: 600,
        Grant: 600,
      },
    });
    provider.Client.prototype.redirectUriAllowed = (uri) => this.#redirects?.has(uri) ?? true;
    provider.Client.prototype.postLogoutRedirectUriAllowed = (uri) => this.#logouts.has(uri);
    return provider;
  }
}

function claimsOf({ sub, email, emailVerified = true, name, groups, claims }: IdentityProviderUser) {
  const verified = email === undefined ? undefined : emailVerified;
  return definedFields({ sub, email, email_verified: verified, name, groups, ...claims });
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}
