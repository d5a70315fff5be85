/**
 * Log-ins with GitHub: OAuth 2.0 with PKCE, then the person from the API. Only the verified primary e-mail
 * address is used. Teams and organizations are not requested, so there are no groups.
 */
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ServerMetadata,
} from 'openid-client';
import type { KnownProvider } from './provider-directory.ts';
import { clientSecretOf, LoginFailure, type LoginProtocol, type LoginTools } from './login-protocol.ts';
import { personOf } from './proven-person.ts';
import { protocolClient } from './protocol-client.ts';

const BASE_URL = 'https://github.com';
const API_URL = 'https://api.github.com';
const DEFAULT_SCOPES = ['read:user', 'user:email'];

export const githubLogin: LoginProtocol = {
  async authorizationUrl(provider, { redirectUri, state, secrets }, tools) {
    const { scopes = DEFAULT_SCOPES } = provider.data as { scopes?: readonly string[] };
    const url = buildAuthorizationUrl(clientOf(provider, tools), {
      redirect_uri: redirectUri,
      scope: scopes.join(' '),
      state,
      code_challenge: await calculatePKCECodeChallenge(secrets.verifier!),
      code_challenge_method: 'S256',
    });
    return url.href;
  },

  async identify(provider, { url, state, secrets }, tools) {
    const tokens = await authorizationCodeGrant(clientOf(provider, tools), url, {
      expectedState: state,
      pkceCodeVerifier: secrets.verifier!,
    });
    const { apiUrl } = addressesOf(provider);
    const user = await ask(`${apiUrl}/user`, tokens.access_token, tools);
    const emails = await ask(`${apiUrl}/user/emails`, tokens.access_token, tools);
    return personFrom(user, emails);
  },
};

function personFrom(user: unknown, emails: unknown) {
  const { id, login, name } = (user ?? {}) as { id?: unknown; login?: unknown; name?: unknown };
  if (!Number.isSafeInteger(id) || typeof login !== 'string' || !Array.isArray(emails))
    throw new LoginFailure('provider-failed', 'the API says nothing that can be read');
  const primary = (emails as ({ primary?: unknown; verified?: unknown; email?: unknown } | null)[]).find(
    (entry) => entry?.primary === true && entry.verified === true,
  );
  const claims = {
    preferred_username: login,
    ...(typeof name === 'string' ? { name } : {}),
    ...(primary === undefined || primary === null ? {} : { email: primary.email, email_verified: true }),
  };
  const person = personOf(String(id), [claims], { trustsUnsaid: false });
  if (person === undefined || person.email === null)
    throw new LoginFailure('email-not-verified', 'the account has no verified primary email');
  return person;
}

async function ask(url: string, accessToken: string, { egress, signal }: LoginTools): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${accessToken}`,
    accept: 'application/vnd.github+json',
    'user-agent': 'frontdoor',
    'x-github-api-version': '2022-11-28',
  };
  const { status, json } = await egress.send({ method: 'GET', url, headers, signal });
  if (status !== 200)
    throw new LoginFailure('provider-failed', `the API answers ${status} at ${new URL(url).pathname}`);
  return json;
}

function clientOf(provider: KnownProvider, tools: LoginTools) {
  const { client_id: clientId } = provider.data as { client_id: string };
  const { egress, clock, signal } = tools;
  return protocolClient({
    server: serverOf(addressesOf(provider).baseUrl),
    clientId,
    clientSecret: clientSecretOf(provider, tools),
    egress,
    clock,
    signal,
  });
}

function serverOf(baseUrl: string): ServerMetadata {
  return {
    issuer: `${baseUrl}/login/oauth`,
    authorization_endpoint: `${baseUrl}/login/oauth/authorize`,
    token_endpoint: `${baseUrl}/login/oauth/access_token`,
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  };
}

function addressesOf({ data }: KnownProvider): { readonly baseUrl: string; readonly apiUrl: string } {
  const { base_url, api_url } = data as { base_url?: string; api_url?: string };
  const baseUrl = base_url?.replace(/\/+$/, '');
  const apiUrl = api_url?.replace(/\/+$/, '') ?? (baseUrl === undefined ? API_URL : `${baseUrl}/api/v3`);
  return { baseUrl: baseUrl ?? BASE_URL, apiUrl };
}
