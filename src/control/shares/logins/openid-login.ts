/**
 * Log-ins with OpenID Connect providers: authorization code flow with PKCE, state and nonce.
 * The ID token is verified with the issuer's keys and fixed algorithms, whichever way it arrived.
 */
import { jwtVerify } from 'jose';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  fetchUserInfo,
} from 'openid-client';
import { PROVIDER_TYPES, type OpenIdRules, type ProviderClaims } from '#domain';
import { CLOCK_SKEW_MS, isIssuedAhead } from '../../credentials/oauth/mod.ts';
import type { KnownProvider } from './provider-directory.ts';
import type { IssuerDirectory } from './issuer-directory.ts';
import { clientSecretOf, LoginFailure, type LoginProtocol, type LoginTools } from './login-protocol.ts';
import { personOf, type ProvenPerson } from './proven-person.ts';
import { protocolClient } from './protocol-client.ts';

export function openIdLogin(issuers: Pick<IssuerDirectory, 'of'>): LoginProtocol {
  const clientOf = async (provider: KnownProvider, tools: LoginTools) => {
    const published = issuers.of(provider);
    const { server } = await withinSignal(published.current(), tools.signal);
    const { client_id: clientId } = provider.data as { client_id: string };
    const clientSecret = clientSecretOf(provider, tools);
    const { egress, clock, signal } = tools;
    const config = protocolClient({ server, clientId, clientSecret, egress, clock, signal });
    return { published, server, clientId, config };
  };

  return {
    async authorizationUrl(provider, { redirectUri, state, secrets, isAnew }, tools) {
      const { config } = await clientOf(provider, tools);
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
      const { published, server, clientId, config } = await clientOf(provider, tools);
      const tokens = await authorizationCodeGrant(config, url, {
        expectedState: state,
        expectedNonce: secrets.nonce,
        idTokenExpected: true,
        ...(secrets.verifier === null ? {} : { pkceCodeVerifier: secrets.verifier }),
      });
      const claims = tokens.claims()!;
      if (isIssuedAhead(claims.iat, tools.clock.nowMs())) throw issuedAhead(claims.iat, tools.clock.nowMs());
      await withinSignal(
        jwtVerify(tokens.id_token!, published.keyOf, {
          issuer: server.issuer,
          audience: clientId,
          algorithms: server.id_token_signing_alg_values_supported as string[],
          clockTolerance: CLOCK_SKEW_MS / 1_000,
          currentDate: new Date(tools.clock.nowMs()),
        }),
        tools.signal,
      );
      const sources: ProviderClaims[] = [claims];
      if (server.userinfo_endpoint !== undefined)
        sources.push(await fetchUserInfo(config, tokens.access_token, claims.sub));
      const person = personFrom(provider, claims.sub, sources);
      const { auth_time: atS } = claims;
      return atS === undefined ? person : { ...person, authenticatedAtMs: Math.floor(atS * 1_000) };
    },
  };
}

function issuedAhead(issuedAtS: number, nowMs: number): Error {
  const [issued, now] = [issuedAtS * 1_000, nowMs].map((ms) => new Date(ms).toISOString());
  return new Error(
    `the ID token was issued at ${issued}, and the clock of this machine says ${now}: compare the clocks of both`,
  );
}

function personFrom(
  provider: KnownProvider,
  subject: string,
  sources: readonly ProviderClaims[],
): ProvenPerson {
  const { trustsUnsaidEmail, needsEmail } = rulesOf(provider);
  const trustsUnsaid = trustsUnsaidEmail(provider.data);
  const person = personOf(subject, sources, { trustsUnsaid });
  if (person === undefined) throw new LoginFailure('provider-failed', 'the subject cannot be used');
  if (needsEmail && person.email === null)
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
