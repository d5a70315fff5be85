/**
 * Log-ins with OpenID Connect providers: authorization code flow with PKCE, state and nonce.
 * The ID token is verified with the issuer's keys and fixed algorithms, by the library as well where it knows the issuer.
 */
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  type Configuration,
  type ServerMetadata,
} from 'openid-client';
import { PROVIDER_TYPES, type OpenIdRules, type ProviderClaims } from '#domain/provider-types';
import type { KnownProvider } from './provider-directory.ts';
import { servesTenants, verifyIdToken, type IdTokenClaims } from './id-token.ts';
import type { IssuerDirectory } from './issuer-directory.ts';
import {
  clientSecretOf,
  LoginFailure,
  type LoginProtocol,
  type LoginReturn,
  type LoginTools,
} from './login-protocol.ts';
import { personOf, type ProvenPerson } from './proven-person.ts';
import { protocolClient, type ProtocolClientOptions } from './protocol-client.ts';

export function openIdLogin(issuers: Pick<IssuerDirectory, 'of'>): LoginProtocol {
  const clientOf = async (provider: KnownProvider, tools: LoginTools) => {
    const published = issuers.of(provider);
    const { server } = await withinSignal(published.current(), tools.signal);
    const { client_id: clientId } = provider.data as { client_id: string };
    const clientSecret = clientSecretOf(provider, tools);
    const { egress, clock, signal } = tools;
    return { published, server, clientId, clientSecret, egress, clock, signal };
  };

  return {
    async authorizationUrl(provider, { redirectUri, state, secrets, isAnew }, tools) {
      const config = protocolClient(await clientOf(provider, tools));
      const { verifier, nonce } = secrets;
      const prompt = PROVIDER_TYPES[provider.type].prompt(provider.data);
      const url = buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: scopesOf(provider).join(' '),
        state,
        nonce,
        ...(isAnew === true && prompt !== undefined ? { prompt } : {}),
        ...(verifier === null
          ? {}
          : {
              code_challenge: await calculatePKCECodeChallenge(verifier),
              code_challenge_method: 'S256',
            }),
      });
      return url.href;
    },

    async identify(provider, { url, state, secrets }, tools) {
      const { published, ...client } = await clientOf(provider, tools);
      const { server, clientId } = client;
      const { config, accessToken, idToken } = servesTenants(server.issuer)
        ? await exchangeOfTenants(client, url, state, secrets)
        : await exchange(client, url, state, secrets);
      if (idToken === undefined) throw new Error('the token endpoint sends no ID token');
      const rules = rulesOf(provider);
      const claims = await withinSignal(
        verifyIdToken(idToken, {
          issuer: server.issuer,
          clientId,
          nonce: secrets.nonce,
          nowMs: tools.clock.nowMs(),
          algorithms: server.id_token_signing_alg_values_supported as string[],
          keysFor: (isIssuer) => (rules.keysNameIssuers ? published.keysOf(isIssuer) : published.keyOf),
        }),
        tools.signal,
      );
      checkAnswerIssuer(url, server, claims);
      const refusal = rules.refusalOf(claims, provider.data);
      if (refusal !== undefined) throw new LoginFailure('denied', refusal);
      const sources: ProviderClaims[] = [claims];
      if (rules.readsUserinfo && server.userinfo_endpoint !== undefined)
        sources.push(await fetchUserInfo(config, accessToken, claims.sub));
      const person = personFrom(provider, claims, sources);
      const { auth_time: atS } = claims as { auth_time?: unknown };
      return typeof atS === 'number' ? { ...person, authenticatedAtMs: Math.floor(atS * 1_000) } : person;
    },
  };
}

interface Exchanged {
  readonly config: Configuration;
  readonly accessToken: string;
  readonly idToken: string | undefined;
}

async function exchange(
  client: ProtocolClientOptions,
  url: URL,
  expectedState: string,
  { verifier, nonce }: LoginReturn['secrets'],
): Promise<Exchanged> {
  const config = protocolClient(client);
  const tokens = await authorizationCodeGrant(config, url, {
    expectedState,
    expectedNonce: nonce,
    idTokenExpected: true,
    ...(verifier === null ? {} : { pkceCodeVerifier: verifier }),
  });
  return { config, accessToken: tokens.access_token, idToken: tokens.id_token };
}

/**
 * The library compares issuers with that of the metadata, which is none of a tenant. It sees those of the answer and of the
 * ID token not at all here, and both are compared afterwards.
 */
async function exchangeOfTenants(
  client: ProtocolClientOptions,
  url: URL,
  expectedState: string,
  { verifier }: LoginReturn['secrets'],
): Promise<Exchanged> {
  let idToken: string | undefined;
  const server = { ...client.server, authorization_response_iss_parameter_supported: false };
  const config = protocolClient({ ...client, server, takeIdToken: (token) => void (idToken = token) });
  const answer = new URL(url);
  answer.searchParams.delete('iss');
  const tokens = await authorizationCodeGrant(config, answer, {
    expectedState,
    ...(verifier === null ? {} : { pkceCodeVerifier: verifier }),
  });
  return { config, accessToken: tokens.access_token, idToken };
}

/** RFC 9207: the answer comes from the server that issued the token. */
function checkAnswerIssuer(url: URL, server: ServerMetadata, claims: IdTokenClaims): void {
  const [named, ...more] = url.searchParams.getAll('iss');
  const isMissing = named === undefined && server.authorization_response_iss_parameter_supported === true;
  if (isMissing || (named !== undefined && named !== claims.iss) || more.length > 0)
    throw new Error('the answer and the ID token are of different issuers');
}

function personFrom(
  provider: KnownProvider,
  claims: IdTokenClaims,
  sources: readonly ProviderClaims[],
): ProvenPerson {
  const { data } = provider;
  const rules = rulesOf(provider);
  const trustsUnsaid = rules.trustsUnsaidEmail(data);
  const subject = rules.subjectOf(claims, data);
  const person = personOf(subject, rules.claimsOf(sources, data), { trustsUnsaid });
  if (person === undefined) throw new LoginFailure('provider-failed', 'the subject cannot be used');
  if (rules.needsEmail && person.email === null)
    throw new LoginFailure('email-not-verified', 'the account has no verified email');
  return person;
}

function scopesOf(provider: KnownProvider): readonly string[] {
  const { scopes = rulesOf(provider).scopes } = provider.data as { scopes?: readonly string[] };
  return ['openid', ...scopes.filter((scope) => scope !== 'openid')];
}

/** The type of the provider has the protocol of this file. */
function rulesOf({ type }: KnownProvider): OpenIdRules {
  return PROVIDER_TYPES[type].openId!;
}

/** The work continues by itself, because other callers may wait for it too. */
export async function withinSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
