/**
 * Configures the protocol library (openid-client) for one auth provider: all requests go through the egress
 * client with one deadline, and the egress policy decides whether plain HTTP is allowed.
 */
import {
  allowInsecureRequests,
  clockSkew,
  clockTolerance,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  None,
  type ClientAuth,
  type CustomFetchOptions,
  type ServerMetadata,
} from 'openid-client';
import type { Clock } from '#base';
import type { EgressClient } from '#net';
import { CLOCK_SKEW_MS } from '../../credentials/oauth/mod.ts';

export type Outward = Pick<EgressClient, 'send'>;

export interface ProtocolClientOptions {
  readonly server: ServerMetadata;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  readonly egress: Outward;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Receives the ID token instead of the library, which refuses tokens of a tenant's issuer. */
  readonly takeIdToken?: (token: string) => void;
}

export function protocolClient(options: ProtocolClientOptions): Configuration {
  const { server, clientId, clientSecret, egress, clock, signal, takeIdToken } = options;
  const metadata = {
    [clockTolerance]: CLOCK_SKEW_MS / 1_000,
    [clockSkew]: Math.round((clock.nowMs() - Date.now()) / 1_000),
  };
  const config = new Configuration(server, clientId, metadata, authenticationOf(server, clientSecret));
  config[customFetch] = async (url, request) => {
    const answer = await fetchThrough(egress, url, request, signal);
    return takeIdToken === undefined || url !== server.token_endpoint
      ? answer
      : withoutIdToken(answer, takeIdToken);
  };
  allowInsecureRequests(config);
  return config;
}

function authenticationOf(server: ServerMetadata, secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const isPost = !methods.includes('client_secret_basic') && methods.includes('client_secret_post');
  return isPost ? ClientSecretPost(secret) : ClientSecretBasic(secret);
}

async function fetchThrough(
  egress: Outward,
  url: string,
  { method, headers, body }: CustomFetchOptions,
  signal: AbortSignal,
): Promise<Response> {
  if (method !== 'GET' && method !== 'POST') throw new TypeError(`${method} is not sent`);
  const text = body === undefined || body === null ? undefined : bodyText(body);
  const answer = await egress.send({
    method,
    url,
    headers,
    signal,
    body: text,
  });
  const type = answer.headers['content-type'];
  const isEmpty = answer.status === 204 || answer.status === 205 || answer.status === 304;
  return new Response(isEmpty ? null : answer.text, {
    status: answer.status,
    headers: typeof type === 'string' ? { 'content-type': type } : {},
  });
}

/** What the library sees is the answer of an OAuth 2.0 server. */
async function withoutIdToken(answer: Response, take: (token: string) => void): Promise<Response> {
  const { status, headers } = answer;
  const text = await answer.text();
  const body = parseJson(text);
  if (status !== 200 || typeof body !== 'object' || body === null)
    return new Response(text, { status, headers });
  const { id_token: idToken, ...rest } = body as { readonly id_token?: unknown };
  if (typeof idToken === 'string') take(idToken);
  return new Response(JSON.stringify(rest), { status, headers });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function bodyText(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('a body that is no form is not sent');
}
