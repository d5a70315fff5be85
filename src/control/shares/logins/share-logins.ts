/**
 * The control plane's half of log-ins at shares: it talks to identity providers, keeps attempts and sessions, and
 * verifies everything. Gateways serve the browser. Expected refusals are results, not errors.
 */
import { randomNonce, randomPKCECodeVerifier } from 'openid-client';
import { addressKey, type Clock, type Log } from '#base';
import type { CallerIdentity } from '#domain/access';
import type {
  GatewaySession,
  LoginCallback,
  LoginRedeemed,
  LoginRedemption,
  LoginRefusal,
  LoginRefusalReason,
  LoginReturned,
  LoginStart,
  LoginStarted,
} from '#domain/gateway-shapes';
import { PROVIDER_TYPES } from '#domain/provider-types';
import { readAlone } from '#net';
import type { ShareCatalog } from '../catalog/share-catalog.ts';
import type { KnownProvider, ProviderDirectory } from './provider-directory.ts';
import type { ProviderSteps } from './provider-steps.ts';
import { randomToken, type Secrets } from '../../secrets/mod.ts';
import type { LoginAttemptTable, Store } from '../../store/mod.ts';
import { readIdentity } from './identity-column.ts';
import { guardedHost, originOf, type GuardedHost } from './guarded-host.ts';
import { isLoginState, isTestState, makeLoginState } from './login-state.ts';
import { LoginTrail } from './login-trail.ts';
import {
  attemptSecrets,
  claimAttempt,
  dropAttempt,
  grantCode,
  insertAttempt,
  redeemAttempt,
} from './login-attempts.ts';
import { endSessions, findSession, insertSession } from './login-sessions.ts';
import { identityOf } from './proven-person.ts';

export interface ShareLoginsOptions {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly catalog: ShareCatalog;
  readonly providers: ProviderDirectory;
  readonly steps: ProviderSteps;
  /** The address of the console, to which test sign-ins return; undefined without one. */
  readonly consoleUrl?: (() => string) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** 256 bits in base64url. */
const TOKEN = /^[\w-]{43}$/;

export class ShareLogins {
  readonly #options: ShareLoginsOptions;
  readonly #trail: LoginTrail;

  constructor(options: ShareLoginsOptions) {
    this.#options = options;
    this.#trail = new LoginTrail(options);
  }

  /** Rejects with errors of the store, as the other steps do. */
  async start(request: LoginStart): Promise<LoginStarted> {
    const { store, secrets, clock } = this.#options;
    const { shareId, host, port, providerId, returnTo, browser } = request;
    const guarded = guardedHost(this.#options.catalog, shareId, host);
    const provider = this.#providerOf(guarded, providerId);
    if (guarded === undefined || provider === undefined) return refused('provider-not-available');
    const state = makeLoginState(secrets);
    const usesPkce = PROVIDER_TYPES[provider.type].usesPkce(provider.data);
    const attempt = { verifier: usesPkce ? randomPKCECodeVerifier() : null, nonce: randomNonce(), returnTo };
    const redirectUri = callbackUrl(guarded, port, providerId);
    const url = await this.#options.steps.run(provider, (protocol, tools) =>
      protocol.authorizationUrl(provider, { redirectUri, state, secrets: attempt }, tools),
    );
    if (typeof url !== 'string') return url;
    const isStored = await store.transaction((trx) =>
      insertAttempt(trx, secrets, {
        state,
        shareId,
        providerId: provider.id,
        providerVersion: provider.version,
        host,
        port,
        browser,
        address: addressKey(request.address),
        secrets: attempt,
        nowMs: clock.nowMs(),
      }),
    );
    return isStored ? { type: 'redirect', url } : refused('too-many');
  }

  async finish({ host, providerId, parameters }: LoginCallback): Promise<LoginReturned> {
    const { store, secrets, clock, consoleUrl } = this.#options;
    const { state } = parameters;
    // The console has what ends a test: the code does nothing without it.
    if (state !== undefined && consoleUrl !== undefined && isTestState(secrets, state))
      return {
        type: 'redirect',
        url: `${consoleUrl()}/sign-in-test/return?${String(new URLSearchParams(parameters))}`,
      };
    if (state === undefined || !isLoginState(secrets, state)) return refused('attempt-not-valid');
    const attempt = await claimAttempt(store.db, secrets, state, providerId, clock.nowMs());
    if (attempt === undefined) return refused('attempt-not-valid');
    const identity = await this.#identify(attempt, host, state, parameters);
    if ('type' in identity) {
      await dropAttempt(store.db, attempt);
      return identity;
    }
    const code = randomToken();
    const isGranted = await grantCode(store.db, secrets, attempt, { code, identity, nowMs: clock.nowMs() });
    if (!isGranted) return refused('attempt-not-valid');
    return {
      type: 'redirect',
      url: `${originOf(attempt.host, attempt.port)}/.frontdoor/login?code=${code}`,
    };
  }

  async redeem(request: LoginRedemption): Promise<LoginRedeemed> {
    const { store, secrets, clock } = this.#options;
    let confirm = (): void => {};
    const redeemed = await store.transaction<LoginRedeemed>(async (trx, touch) => {
      const nowMs = clock.nowMs();
      const attempt = await redeemAttempt(trx, secrets, request, nowMs);
      if (attempt === undefined || attempt.identity === null) return refused('attempt-not-valid');
      const guarded = guardedHost(this.#options.catalog, attempt.share_id, attempt.host);
      const provider = this.#providerOf(guarded, attempt.auth_provider_id, attempt.provider_version);
      if (guarded === undefined || provider === undefined) return refused('provider-not-available');
      const proven = provenOf(secrets, attempt, attempt.identity);
      if (proven === undefined) return refused('attempt-not-valid');
      const { token, session } = await insertSession(trx, touch, secrets, {
        shareId: guarded.shareId,
        host: guarded.host,
        providerId: provider.id,
        providerVersion: provider.version,
        identity: proven.identity,
        absoluteMs: guarded.session.absoluteMs,
        nowMs,
      });
      confirm = await this.#trail.append(trx, touch, guarded, session, attempt.address);
      return { type: 'session', token, session, returnTo: proven.returnTo };
    });
    if (redeemed.type === 'session') confirm();
    return redeemed;
  }

  /** Returns the session of a cookie if it is still valid. */
  async find(token: string): Promise<GatewaySession | null> {
    const { store, secrets, clock } = this.#options;
    if (!TOKEN.test(token)) return null;
    const nowMs = clock.nowMs();
    const session = await findSession(store.db, secrets, token, nowMs);
    if (session === undefined) return null;
    const guarded = guardedHost(this.#options.catalog, session.shareId, session.host);
    const provider = this.#providerOf(guarded, session.providerId, session.providerVersion);
    if (guarded === undefined || provider === undefined) return null;
    const { idleMs, absoluteMs } = guarded.session;
    const isOver = nowMs - session.createdAtMs >= absoluteMs || nowMs - session.lastUsedAtMs >= idleMs;
    return isOver ? null : session;
  }

  /** Notifies every gateway. Ending a session that does not exist has no effect. */
  async end(token: string): Promise<void> {
    const { store, secrets, clock } = this.#options;
    const session = await findSession(store.db, secrets, token, clock.nowMs());
    if (session === undefined) return;
    await store.transaction((trx, touch) => endSessions(trx, touch, [session.id]));
  }

  async #identify(
    attempt: LoginAttemptTable,
    host: string,
    state: string,
    parameters: Readonly<Record<string, string>>,
  ): Promise<CallerIdentity | LoginRefusal> {
    const guarded = guardedHost(this.#options.catalog, attempt.share_id, attempt.host);
    const provider = this.#providerOf(guarded, attempt.auth_provider_id, attempt.provider_version);
    if (guarded === undefined || provider === undefined) return refused('provider-not-available');
    if (host !== guarded.loginHost) return refused('attempt-not-valid');
    const url = new URL(callbackUrl(guarded, attempt.port, provider.id));
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const secrets = readAlone(nameOf(attempt), () => attemptSecrets(this.#options.secrets, attempt));
    if (secrets === undefined) return refused('attempt-not-valid');
    const person = await this.#options.steps.run(provider, (protocol, tools) =>
      protocol.identify(provider, { url, state, secrets }, tools),
    );
    return 'type' in person ? person : identityOf(person, provider.id);
  }

  /** Returns a provider with which people can log in there, or undefined. */
  #providerOf(guarded: GuardedHost | undefined, id: string, version?: number): KnownProvider | undefined {
    if (guarded === undefined || !guarded.authProviderIds.includes(id)) return undefined;
    const provider = this.#options.providers.byId(id);
    if (provider === undefined || !provider.enabled || provider.frontdoorId !== guarded.frontdoorId)
      return undefined;
    if (!this.#options.steps.has(provider.type)) return undefined;
    return version === undefined || version === provider.version ? provider : undefined;
  }
}

function nameOf({ share_id: shareId }: LoginAttemptTable): string {
  return `a pending sign-in at the share ${shareId}`;
}

/** Returns undefined if the attempt is damaged. */
function provenOf(secrets: Secrets, attempt: LoginAttemptTable, identity: string) {
  return readAlone(nameOf(attempt), () => {
    const { returnTo } = attemptSecrets(secrets, attempt);
    return { identity: readIdentity(identity), returnTo };
  });
}

function refused(reason: LoginRefusalReason): LoginRefusal {
  return { type: 'refused', reason };
}

function callbackUrl({ loginHost }: GuardedHost, port: number, providerId: string): string {
  return `${originOf(loginHost, port)}/${providerId}/auth/callback`;
}
