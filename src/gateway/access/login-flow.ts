/**
 * The steps of a log-in in a browser: to the provider, back to `oauth.<zone>`, and from there with a one-time
 * code to the share, which alone sets the session cookie. The control plane judges each step, and a cookie that
 * is set before the log-in binds all of them to one browser. Codes and states occur only in targets and cookies,
 * and are never logged.
 */
import { createHash, randomBytes } from 'node:crypto';
import { messageOf, type Log } from '#base';
import type { LoginRefusal } from '#domain/gateway-shapes';
import type { Failure } from '../answers/failure-table.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import type { AccessRefusal, AccessVerdict } from './access.ts';
import { ACCESS_FAILURES, failureOfAccess, failureOfLogin } from './access-failure-table.ts';
import type { HostGuard } from './host-guard.ts';
import { answerInTime, type LoginControl } from './login-control.ts';
import { loginPageLanguage, type LoginPageLanguage } from './login-page-text.ts';
import {
  chooserPage,
  loggedOutPage,
  LOGIN_PATH,
  LOGOUT_PATH,
  redirect,
  type LoginPageView,
} from './login-pages.ts';
import {
  CLEAR_SESSION_LINE,
  loginCookieLine,
  readOwnCookies,
  sessionCookieLine,
  type OwnCookies,
} from './own-cookies.ts';
import { callerAddress, type Rate, type RateLimits } from './rate-limits.ts';
import { headerValue } from '../http/header-name.ts';
import { decodeQueryText } from './request-credentials.ts';
import { authorityOf, providerLogoutUrl } from './provider-logout.ts';
import { circleOf } from './redirect-circle.ts';
import { returnTarget } from './return-target-policy.ts';
import type { SessionCache } from './session-cache.ts';
import type { SignInLooks } from './sign-in-looks.ts';

export interface LoginFlowOptions {
  readonly control: LoginControl;
  readonly sessions: SessionCache;
  readonly looks: Pick<SignInLooks, 'of'>;
  readonly rates: RateLimits;
  /** Rate per address: starts and returns together, codes, and log-outs. */
  readonly rate: Rate;
  /** The port of the gateways' HTTPS as browsers see it; undefined if there is none. */
  readonly httpsPort: () => number | undefined;
  readonly log: Log;
  /** Monotonic milliseconds. */
  readonly monotonicMs: () => number;
}

const LOGIN_COOKIE_S = 600;
const MAX_PARAMETERS = 20;
/** A provider on the same machine may use plain HTTP. */
const VISIBLE_URL = /^https?:\/\/[!-~]{1,8192}$/;

/** A request of a browser that may sign in. */
export interface LoginVisit {
  readonly host: GatewayHost;
  readonly guard: HostGuard;
  readonly head: RequestHead;
  readonly client: ClientFacts;
  readonly cookies: OwnCookies;
}

export class LoginFlow {
  readonly #options: LoginFlowOptions;

  constructor(options: LoginFlowOptions) {
    this.#options = options;
  }

  /** Starts the log-in of a browser that requested `returnTo` without a session. */
  begin(
    { host, guard, head, client, cookies }: LoginVisit,
    returnTo: string,
  ): AccessVerdict | Promise<AccessVerdict> {
    const [only] = guard.logins;
    if (only === undefined) return refusal(failureOfAccess('login-not-available'));
    if (guard.logins.length === 1) return this.#start(host, only.id, client, cookies, returnTo);
    return this.#choose(host, guard, head, returnTo);
  }

  async #choose(
    host: GatewayHost,
    guard: HostGuard,
    head: RequestHead,
    returnTo: string,
  ): Promise<AccessVerdict> {
    const view = await this.#viewOf(host, head);
    const answer = chooserPage(host.host, guard.logins, returnTo, view);
    return { type: 'answer', decision: 'login-choice', answer };
  }

  async #viewOf(host: GatewayHost, head: RequestHead): Promise<LoginPageView> {
    const look = await this.#options.looks.of(host.route.share.id);
    return { look, language: languageOf(head) };
  }

  /** Handles a request below `/.frontdoor/` of a host where browsers log in. */
  reserved(
    host: GatewayHost,
    guard: HostGuard,
    head: RequestHead,
    client: ClientFacts,
  ): AccessVerdict | Promise<AccessVerdict> {
    const question = head.target.indexOf('?');
    const path = question === -1 ? head.target : head.target.slice(0, question);
    if (path !== LOGIN_PATH && path !== LOGOUT_PATH) return refusal(ACCESS_FAILURES.noSuchPage);
    const isRead = head.method === 'GET' || head.method === 'HEAD';
    if (!client.isSecure)
      return isRead ? this.toHttps(host, head, client) : refusal(ACCESS_FAILURES.wrongLoginMethod);
    const cookies = readOwnCookies(head);
    if (path === LOGOUT_PATH) {
      if (!isRead && head.method !== 'POST') return refusal(ACCESS_FAILURES.wrongLoginMethod);
      return this.#end(host, guard, head, client, cookies);
    }
    if (!isRead) return refusal(ACCESS_FAILURES.wrongLoginMethod);
    const parameters = queryOf(head.target);
    if (parameters === undefined) return refusal(failureOfLogin('attempt-not-valid'));
    const { code, provider, to } = parameters;
    // A HEAD request must not consume a code.
    if (code !== undefined && head.method === 'HEAD') return refusal(ACCESS_FAILURES.wrongLoginMethod);
    if (code !== undefined) return this.#redeem(host, code, client, cookies);
    const returnTo = returnTarget(to ?? '/');
    if (provider === undefined) return this.begin({ host, guard, head, client, cookies }, returnTo);
    const isOne = guard.logins.some(({ id }) => id === provider);
    if (!isOne) return refusal(failureOfLogin('provider-not-available'));
    return this.#start(host, provider, client, cookies, returnTo);
  }

  /** Redirects to the same address on TLS. Only GET and HEAD navigations of browsers are redirected. */
  toHttps(host: GatewayHost, head: RequestHead, client: ClientFacts): AccessVerdict {
    const circle = circleOf(head, client);
    if (circle !== undefined) return refusal(circle);
    const port = this.#options.httpsPort();
    if (port === undefined) return refusal(failureOfAccess('login-not-available', 'there is no HTTPS here'));
    const answer = redirect(302, `https://${authorityOf(host.host, port)}${head.target}`);
    return { type: 'answer', decision: 'to-https', answer };
  }

  /** `https://oauth.<zone>/<providerId>/auth/callback`. */
  async finish(providerId: string, head: RequestHead, client: ClientFacts): Promise<AccessVerdict> {
    const parameters = queryOf(head.target);
    if (parameters === undefined) return refusal(failureOfLogin('attempt-not-valid'));
    const limited = this.#limited('callback', undefined, client);
    if (limited !== undefined) return limited;
    const { host } = head;
    const { address } = client;
    return this.#asking('sign-in not finished', async () => {
      const returned = await answerInTime(
        this.#options.control.finishLogin({ host, providerId, parameters, address }),
      );
      if (returned.type === 'refused') return refusedLogin(returned);
      return { type: 'answer', decision: 'login-returned', answer: redirectOut(returned.url) };
    });
  }

  async #start(
    host: GatewayHost,
    providerId: string,
    client: ClientFacts,
    cookies: OwnCookies,
    returnTo: string,
  ): Promise<AccessVerdict> {
    const limited = this.#limited('login', host, client);
    if (limited !== undefined) return limited;
    const binding = cookies.login ?? randomBytes(32).toString('base64url');
    return this.#asking('sign-in not started', async () => {
      const started = await answerInTime(
        this.#options.control.startLogin({
          shareId: host.route.share.id,
          host: host.host,
          port: this.#options.httpsPort() ?? 443,
          providerId,
          returnTo: returnTarget(returnTo),
          browser: digestOf(binding),
          address: client.address,
        }),
      );
      if (started.type === 'refused') return refusedLogin(started);
      const lines = [loginCookieLine(binding, LOGIN_COOKIE_S)];
      if (cookies.isDoubled) lines.push(CLEAR_SESSION_LINE);
      return { type: 'answer', decision: 'login-started', answer: redirectOut(started.url, lines) };
    });
  }

  async #redeem(
    host: GatewayHost,
    code: string,
    client: ClientFacts,
    { login }: OwnCookies,
  ): Promise<AccessVerdict> {
    if (login === undefined) return refusal(failureOfLogin('attempt-not-valid'));
    const limited = this.#limited('redeem', host, client);
    if (limited !== undefined) return limited;
    return this.#asking('sign-in not redeemed', async () => {
      const redeemed = await answerInTime(
        this.#options.control.redeemLogin({
          shareId: host.route.share.id,
          host: host.host,
          code,
          browser: digestOf(login),
        }),
      );
      if (redeemed.type === 'refused') return refusedLogin(redeemed);
      const { token, session, returnTo } = redeemed;
      const caller = this.#options.sessions.put(token, session);
      if (caller === undefined) return refusal(failureOfLogin('attempt-not-valid'));
      const maxAgeS = Math.floor(host.route.rules.rules.session.absoluteMs / 1_000);
      const answer = redirect(303, returnTarget(returnTo), [sessionCookieLine(token, maxAgeS)]);
      return { type: 'answer', decision: 'login-done', answer };
    });
  }

  /**
   * Ends the session at this share. With `?provider=true` it redirects to the identity provider, which ends its
   * own session.
   */
  async #end(
    host: GatewayHost,
    guard: HostGuard,
    head: RequestHead,
    client: ClientFacts,
    { session }: OwnCookies,
  ): Promise<AccessVerdict> {
    const site = headerValue(head.fields, 'sec-fetch-site');
    if (site !== '' && site !== 'same-origin' && site !== 'none') return refusal(ACCESS_FAILURES.otherOrigin);
    const limited = session === undefined ? undefined : this.#limited('logout', host, client);
    if (limited !== undefined) return limited;
    const isAtProvider = queryOf(head.target)?.['provider'] === 'true';
    return this.#asking('session not ended', async () => {
      let url: string | undefined;
      if (session !== undefined) {
        const { sessions, control } = this.#options;
        let caller = sessions.known(session);
        if (isAtProvider && caller === undefined && !sessions.isBusy) caller = await sessions.find(session);
        if (isAtProvider && caller) url = this.#providerLogout(host, guard, caller.session.providerId);
        if (caller) sessions.end([caller.session.id]);
        await answerInTime(control.endSession({ token: session }));
      }
      const lines = [CLEAR_SESSION_LINE];
      if (url !== undefined) return { type: 'answer', decision: 'logout', answer: redirect(303, url, lines) };
      const where = isAtProvider ? 'share only' : 'share';
      const answer = loggedOutPage(where, await this.#viewOf(host, head), lines);
      return { type: 'answer', decision: 'logout', answer };
    });
  }

  #providerLogout(host: GatewayHost, guard: HostGuard, providerId: string): string | undefined {
    const provider = guard.logins.find(({ id }) => id === providerId);
    const port = this.#options.httpsPort();
    return provider === undefined || port === undefined
      ? undefined
      : providerLogoutUrl(provider.record, host.loginHost, port);
  }

  /**
   * `host` is the share's, so that log-ins at one share do not use up the limit of another; undefined if it is
   * not known yet.
   */
  #limited(
    what: 'login' | 'callback' | 'redeem' | 'logout',
    host: GatewayHost | undefined,
    { address }: ClientFacts,
  ): AccessRefusal | undefined {
    const { rates, rate, monotonicMs } = this.#options;
    const key = `${what} ${host?.route.share.id ?? ''} ${callerAddress(address)}`;
    const waitMs = rates.take(key, rate, monotonicMs());
    if (waitMs === 0) return undefined;
    return refusal(ACCESS_FAILURES.tooManyLogins, [`Retry-After: ${Math.ceil(waitMs / 1_000)}`]);
  }

  async #asking(message: string, ask: () => Promise<AccessVerdict>): Promise<AccessVerdict> {
    try {
      return await ask();
    } catch (error) {
      this.#options.log.warn({ hop: 'control', cause: messageOf(error) }, message);
      return refusal(ACCESS_FAILURES.loginAway);
    }
  }
}

function refusal(failure: Failure, lines: readonly string[] = []): AccessRefusal {
  return { type: 'refuse', decision: failure.code, failure, lines };
}

function refusedLogin({ reason }: LoginRefusal): AccessRefusal {
  return refusal(failureOfLogin(reason));
}

/** Redirects to a URL that the control plane made. */
function redirectOut(url: string, lines: readonly string[] = []): ReturnType<typeof redirect> {
  if (!VISIBLE_URL.test(url)) throw new TypeError('the control plane returned no valid URL for the redirect');
  return redirect(302, url, lines);
}

/** The language of the browser. */
export function languageOf({ fields }: RequestHead): LoginPageLanguage {
  return loginPageLanguage(headerValue(fields, 'accept-language'));
}

function digestOf(binding: string): string {
  return createHash('sha256').update(binding).digest('base64url');
}

/** Returns undefined if there are too many parameters, or a repeated one. */
function queryOf(target: string): Record<string, string> | undefined {
  const question = target.indexOf('?');
  const parameters = Object.create(null) as Record<string, string>;
  if (question === -1) return parameters;
  const pieces = target.slice(question + 1).split('&', MAX_PARAMETERS + 2);
  if (pieces.length > MAX_PARAMETERS) return undefined;
  for (const piece of pieces) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const name = decodeQueryText(equals === -1 ? piece : piece.slice(0, equals));
    if (name in parameters) return undefined;
    parameters[name] = equals === -1 ? '' : decodeQueryText(piece.slice(equals + 1));
  }
  return parameters;
}
