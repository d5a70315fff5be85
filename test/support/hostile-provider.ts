/**
 * An OpenID provider on loopback that does what a test asks for: every document, claim, signature and redirect can be
 * another than it should be. Without an attack it is a plain good one.
 */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';

type Json = Record<string, unknown>;

export interface Attack {
  readonly metadata?: (metadata: Json) => Json;
  readonly keySet?: (keys: JWK[]) => JWK[];
  /** Parameters of the answer that the browser brings. */
  readonly answer?: (parameters: Json, request: URLSearchParams) => Json;
  readonly header?: (header: Json) => Json;
  readonly claims?: (claims: Json) => Json;
  /** The whole ID token. */
  readonly idToken?: (header: Json, claims: Json) => Promise<string> | string;
  readonly token?: (body: Json) => Json;
  readonly userinfo?: (claims: Json) => unknown;
  /** Skips the check of the code's verifier. */
  readonly ignoresVerifier?: boolean;
}

export interface HostileProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly port: number;
  attack: Attack;
  readonly requests: string[];
  /** The bodies of the requests for tokens. */
  readonly forms: URLSearchParams[];
  readonly publicKeyPem: string;
  /** A key that is not published. */
  readonly strangerKey: CryptoKey;
  sign(header: Json, claims: Json, key?: CryptoKey): Promise<string>;
  rotate(): Promise<void>;
  close(): Promise<void>;
}

export async function startHostileProvider(): Promise<HostileProvider> {
  const make = () => generateKeyPair('RS256', { extractable: true });
  let keys = await make();
  let kid = randomUUID();
  let publicKeyPem = await exportSPKI(keys.publicKey);
  const stranger = await make();
  const codes = new Map<string, URLSearchParams>();
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500);
      response.end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const issuer = `http://localhost:${port}`;

  const provider: HostileProvider = {
    issuer,
    port,
    attack: {},
    requests: [],
    forms: [],
    get publicKeyPem() {
      return publicKeyPem;
    },
    strangerKey: stranger.privateKey,
    sign: (header, claims, key = keys.privateKey) =>
      new SignJWT(claims).setProtectedHeader(header as { alg: string }).sign(key, {
        crit: Object.fromEntries(((header['crit'] ?? []) as string[]).map((name) => [name, true])),
      }),
    rotate: async () => {
      keys = await make();
      kid = randomUUID();
      publicKeyPem = await exportSPKI(keys.publicKey);
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
    [Symbol.asyncDispose]: () => provider.close(),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer);
    provider.requests.push(url.pathname);
    const { attack } = provider;
    const json = (body: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return json((attack.metadata ?? same)(metadataOf(issuer)));
      case '/jwks': {
        const jwk = { ...(await exportJWK(keys.publicKey)), kid, use: 'sig', alg: 'RS256' };
        return json({ keys: (attack.keySet ?? same)([jwk]) });
      }
      case '/authorize': {
        const code = randomUUID();
        codes.set(code, url.searchParams);
        const plain = { code, state: url.searchParams.get('state'), iss: issuer };
        const back = new URL(url.searchParams.get('redirect_uri') ?? '');
        const parameters = (attack.answer ?? same)(plain, url.searchParams);
        for (const [name, value] of Object.entries(parameters)) back.searchParams.set(name, String(value));
        response.writeHead(302, { location: back.href });
        response.end();
        return;
      }
      case '/token': {
        const form = await formOf(request);
        provider.forms.push(form);
        const asked = codes.get(form.get('code') ?? '');
        codes.delete(form.get('code') ?? '');
        const challenge = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url');
        const isGood = asked?.get('code_challenge') === challenge || attack.ignoresVerifier === true;
        if (asked === undefined || !isGood) return json({ error: 'invalid_grant' }, 400);
        const header = (attack.header ?? same)({ alg: 'RS256', kid });
        const claims = (attack.claims ?? same)(claimsOf(issuer, asked));
        const id_token = await (attack.idToken ?? provider.sign)(header, claims);
        const body = { access_token: randomUUID(), token_type: 'Bearer', expires_in: 60, id_token };
        return json((attack.token ?? same)(body));
      }
      case '/userinfo': {
        const claims = { sub: 'ann', email: 'ann@example.com', email_verified: true };
        return json((attack.userinfo ?? same)(claims));
      }
      default:
        return json({ error: 'not_found' }, 404);
    }
  }
  return provider;
}

/** `alg: none` in any casing, with or without something in the signature's place. */
export function unsigned(header: Json, claims: Json, alg = 'none', signature = ''): string {
  return `${base64Url({ ...header, alg })}.${base64Url(claims)}.${signature}`;
}

/** HS256 with a text as the key. */
export function signedWithText(header: Json, claims: Json, key: string): string {
  const signed = `${base64Url({ ...header, alg: 'HS256' })}.${base64Url(claims)}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

function same<T>(value: T): T {
  return value;
}

function metadataOf(issuer: string): Json {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}

function claimsOf(issuer: string, asked: URLSearchParams): Json {
  const nowS = Math.floor(Date.now() / 1_000);
  return {
    iss: issuer,
    sub: 'ann',
    aud: asked.get('client_id'),
    iat: nowS,
    exp: nowS + 300,
    nonce: asked.get('nonce'),
  };
}

function base64Url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}
