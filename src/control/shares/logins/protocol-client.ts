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
}

export function protocolClient(options: ProtocolClientOptions): Configuration {
  const { server, clientId, clientSecret, egress, clock, signal } = options;
  const metadata = {
    [clockTolerance]: CLOCK_SKEW_MS / 1_000,
    [clockSkew]: Math.round((clock.nowMs() - Date.now()) / 1_000),
  };
  const config = new Configuration(server, clientId, metadata, authenticationOf(server, clientSecret));
  config[customFetch] = (url, request) => fetchThrough(egress, url, request, signal);
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

function bodyText(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('a body that is no form is not sent');
}
