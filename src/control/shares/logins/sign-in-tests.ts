/**
 * Test sign-ins: a person who administers a frontdoor signs in with one of its providers, at the callback URL of the gateways,
 * before a share uses it. No session begins at the end. What a test has to remember is in a cookie of its browser, sealed and
 * bound to the session at the console; its state differs from those of sign-ins at shares, so that neither can end the other.
 */
import { randomNonce, randomPKCECodeVerifier } from 'openid-client';
import type { Clock } from '#base';
import { jsonReader, Part, Type, type ShapeOf } from '#base/shapes';
import { compileRules, decideIdentity, type AccessReason } from '#domain/access';
import type { LoginRefusal, LoginRefusalReason } from '#domain/gateway-shapes';
import { PROVIDER_TYPES } from '#domain/provider-types';
import type { ShareCatalog } from '../catalog/share-catalog.ts';
import type { Secrets } from '../../secrets/mod.ts';
import { isTestState, makeTestState } from './login-state.ts';
import { identityOf, type ProvenPerson } from './proven-person.ts';
import type { KnownProvider, ProviderDirectory } from './provider-directory.ts';
import type { ProviderSteps } from './provider-steps.ts';

export interface SignInTestsOptions {
  readonly secrets: Secrets;
  readonly catalog: Pick<ShareCatalog, 'all'>;
  readonly providers: Pick<ProviderDirectory, 'byId'>;
  readonly steps: ProviderSteps;
  readonly clock: Clock;
}

const testSchema = Type.Object({
  purpose: Part.oneOf('sign-in-test'),
  frontdoorId: Part.text(),
  providerId: Part.text(),
  providerVersion: Type.Number(),
  redirectUri: Part.text(),
  state: Part.text(),
  verifier: Part.nullable(Part.text()),
  nonce: Part.text(),
  /** The session at the console, which sees the result. */
  sessionId: Part.text(),
  expiresAtMs: Type.Number(),
});
type SignInTest = ShapeOf<typeof testSchema>;
const readTest = jsonReader(testSchema);

export interface TestedShare {
  readonly token: string;
  /** Why its policy refuses the person; undefined if its rules about people admit them. */
  readonly refusal: AccessReason | undefined;
}

export interface SignInTestResult {
  readonly provider: Pick<KnownProvider, 'id' | 'name' | 'frontdoorId'>;
  readonly redirectUri: string;
  readonly outcome:
    | { readonly person: ProvenPerson; readonly shares: readonly TestedShare[] }
    /** `detail` is for the operator, and has no secret. */
    | { readonly reason: LoginRefusalReason; readonly detail: string };
}

/** Ten minutes, for people who have to find a second factor first. */
export const SIGN_IN_TEST_MS = 600_000;
const MAX_SHARES = 20;
const MAX_DESCRIPTION_CHARS = 500;

export class SignInTests {
  readonly #options: SignInTestsOptions;

  constructor(options: SignInTestsOptions) {
    this.#options = options;
  }

  /** Returns the provider if it is one of the frontdoor, which the caller was granted, and people sign in with it. */
  providerOf(frontdoorId: string, providerId: string): KnownProvider | undefined {
    const { providers, steps } = this.#options;
    const provider = providers.byId(providerId);
    // It may be disabled.
    return provider?.frontdoorId === frontdoorId && steps.has(provider.type) ? provider : undefined;
  }

  /** Returns where the browser goes, and the content of the cookie; or why the provider cannot be asked. */
  async begin(
    provider: KnownProvider,
    redirectUri: string,
    sessionId: string,
  ): Promise<{ readonly url: string; readonly sealed: string } | SignInTestResult> {
    const { secrets, steps, clock } = this.#options;
    const usesPkce = PROVIDER_TYPES[provider.type].usesPkce(provider.data);
    const test: SignInTest = {
      purpose: 'sign-in-test',
      frontdoorId: provider.frontdoorId,
      providerId: provider.id,
      providerVersion: provider.version,
      redirectUri,
      state: makeTestState(secrets),
      verifier: usesPkce ? randomPKCECodeVerifier() : null,
      nonce: randomNonce(),
      sessionId,
      expiresAtMs: clock.nowMs() + SIGN_IN_TEST_MS,
    };
    let detail = '';
    const beginning = { redirectUri, state: test.state, secrets: secretsOf(test), isAnew: true };
    const url = await steps.run(
      provider,
      (protocol, tools) => protocol.authorizationUrl(provider, beginning, tools),
      ({ message }) => (detail = message),
    );
    if (typeof url !== 'string') return resultOf(provider, redirectUri, { reason: url.reason, detail });
    return { url, sealed: secrets.seal(JSON.stringify(test)) };
  }

  /** The provider sent the browser back with these parameters. Returns undefined if the session began no such test. */
  async finish(
    sealed: string,
    sessionId: string,
    parameters: URLSearchParams,
  ): Promise<SignInTestResult | undefined> {
    const { providers, steps } = this.#options;
    const test = this.#testOf(sealed, sessionId, parameters.get('state') ?? '');
    const provider = test && providers.byId(test.providerId);
    if (test === undefined || provider === undefined) return undefined;
    const { redirectUri, state } = test;
    if (provider.version !== test.providerVersion)
      return resultOf(provider, redirectUri, {
        reason: 'attempt-not-valid',
        detail: 'the provider was changed during the test',
      });
    const url = new URL(redirectUri);
    for (const [name, value] of parameters) url.searchParams.append(name, value);
    let detail = '';
    const person = await steps.run<ProvenPerson | LoginRefusal>(
      provider,
      (protocol, tools) => protocol.identify(provider, { url, state, secrets: secretsOf(test) }, tools),
      ({ message }) => (detail = message),
    );
    if (!('type' in person))
      return resultOf(provider, redirectUri, { person, shares: this.#sharesOf(provider, person) });
    const description = (parameters.get('error_description') ?? '').slice(0, MAX_DESCRIPTION_CHARS);
    const whole = description === '' ? detail : `${detail}: ${description}`;
    return resultOf(provider, redirectUri, { reason: person.reason, detail: whole });
  }

  /** The shares that the provider guards, with what their rules about people decide. */
  #sharesOf(provider: KnownProvider, person: ProvenPerson): readonly TestedShare[] {
    const identity = identityOf(person, provider.id);
    const shares: TestedShare[] = [];
    for (const share of this.#options.catalog.all()) {
      if (share.frontdoorId !== provider.frontdoorId || !share.authProviderIds.includes(provider.id))
        continue;
      shares.push({ token: share.token, refusal: decideIdentity(compileRules(share.rules), identity) });
      if (shares.length === MAX_SHARES) break;
    }
    return shares;
  }

  #testOf(sealed: string, sessionId: string, state: string): SignInTest | undefined {
    const { secrets, clock } = this.#options;
    if (!isTestState(secrets, state)) return undefined;
    try {
      const test = readTest(secrets.unseal(sealed));
      const isOwn = test.sessionId === sessionId && test.state === state;
      return isOwn && test.expiresAtMs > clock.nowMs() ? test : undefined;
    } catch {
      // Another installation, or nobody, has sealed it.
      return undefined;
    }
  }
}

function secretsOf({ verifier, nonce }: SignInTest) {
  return { verifier, nonce, returnTo: '/' };
}

function resultOf(
  { id, name, frontdoorId }: KnownProvider,
  redirectUri: string,
  outcome: SignInTestResult['outcome'],
): SignInTestResult {
  return { provider: { id, name, frontdoorId }, redirectUri, outcome };
}
