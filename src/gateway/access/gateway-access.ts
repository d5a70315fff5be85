/**
 * Access decisions of the gateway, in this order: time and network, path, caller, rate. Known callers are decided
 * from memory; others need a look-up, a computation, or a log-in in the browser. No identity is trusted for
 * longer than `GATEWAY_TRUST_MS` after the last message from the control plane. ADR 0015.
 */
import { performance } from 'node:perf_hooks';
import { ForwardClock, systemClock } from '#base';
import { decideIdentity, decideProvability, pathKind } from '#domain/access';
import { GATEWAY_TRUST_MS, type GatewayDelta, type GatewayProvider } from '#domain/gateway-shapes';
import { FAILURES, type Failure } from '../answers/failure-table.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import {
  OPEN_ADMISSION,
  type AccessControl,
  type AccessAdmission,
  type AccessRefusal,
  type AccessVerdict,
} from './access.ts';
import type { AccessFeed } from '../shares/access-feed.ts';
import { ACCESS_FAILURES, accessEnded, failureOfAccess } from './access-failure-table.ts';
import { DEFAULT_ACCESS_LIMITS } from './access-limits.ts';
import { BasicCheck } from './basic-check.ts';
import { CallerAdmission, Grant, type Caller } from './caller.ts';
import { SESSION_IDLE, SessionCaller } from './caller-kinds.ts';
import type { GatewayAccessOptions } from './gateway-access-options.ts';
import { HttpsRedirection } from './https-redirection.ts';
import { answerInTime } from './login-control.ts';
import { LoginFlow } from './login-flow.ts';
import { LoginHosts } from './login-hosts.ts';
import { isReserved } from './login-pages.ts';
import { isForeign } from './foreign-origin.ts';
import { isNavigation, isPreflight } from './navigation.ts';
import { NetworkCheck } from './network-check.ts';
import { OriginIdentity } from './origin-identity.ts';
import { notWanted, refusal, retryAfter, unauthenticated, withOwnLines } from './own-verdicts.ts';
import {
  CLEAR_SESSION_LINE,
  NO_COOKIES,
  omittedLine,
  readOwnCookies,
  type OwnCookies,
} from './own-cookies.ts';
import { changesOf, PathAdmission, PREFLIGHT } from './path-admission.ts';
import { preflightVerdict } from './preflight-answer.ts';
import { ProofSearch, Search } from './proof-search.ts';
import { ProviderRegistry } from './provider-registry.ts';
import { callerAddress, RateLimits } from './rate-limits.ts';
import { SessionCache } from './session-cache.ts';
import { SignInLooks } from './sign-in-looks.ts';
import { TokenCheck } from './token-check.ts';
import { UsageReporter } from './usage-reporter.ts';

type Snapshot = Parameters<AccessFeed['replaceAll']>[0];

/** Time limit for newly fetched keys to arrive over the feed. */
const REFRESH_WAIT_MS = 1_000;

export class GatewayAccess implements AccessControl, AccessFeed {
  generation = 0;
  readonly #options: GatewayAccessOptions;
  readonly #providers = new ProviderRegistry();
  readonly #origin: OriginIdentity;
  readonly #sessions: SessionCache;
  readonly #rates: RateLimits;
  readonly #search: ProofSearch;
  readonly #logins: LoginFlow;
  readonly #loginHosts: LoginHosts;
  readonly #usage: UsageReporter;
  /** Undefined: requests over plain HTTP are served. */
  readonly #redirect: HttpsRedirection | undefined;
  readonly #nowMs: () => number;
  /** Wall clock, for times that are compared with those of other machines. */
  readonly #wallMs: () => number;
  readonly #monotonicMs: () => number;
  readonly #networks = new NetworkCheck();
  /** Monotonic time of the last message from the control plane; undefined before the first one. */
  #lastContactMs: number | undefined;

  constructor(options: GatewayAccessOptions) {
    const { control, log } = options;
    const limits = { ...DEFAULT_ACCESS_LIMITS, ...options.limits };
    // Never goes back, so that an expired credential stays expired if the clock is set back.
    const wall = options.clock ?? systemClock;
    const clock = new ForwardClock(wall);
    const nowMs = (): number => clock.nowMs();
    const monotonicMs = options.monotonicMs ?? (() => performance.now());
    const rates = new RateLimits(limits.maxCallers);
    this.#options = options;
    const { isCertified, publicHttpsPort } = options;
    this.#redirect = isCertified && new HttpsRedirection(isCertified, publicHttpsPort);
    this.#nowMs = nowMs;
    this.#wallMs = () => wall.nowMs();
    this.#monotonicMs = monotonicMs;
    this.#origin = new OriginIdentity(log);
    this.#rates = rates;
    this.#sessions = new SessionCache({
      find: (token) => answerInTime(control.findSession({ token })),
      monotonicMs,
      maxSessions: limits.maxSessions,
      maxLookups: limits.maxLookups,
    });
    this.#search = new ProofSearch({
      sessions: this.#sessions,
      tokens: new TokenCheck({
        refresh: (id) => this.#refresh(id),
        nowMs,
        monotonicMs,
        maxTokens: limits.maxTokens,
      }),
      basics: new BasicCheck(monotonicMs),
      limits,
      guardOf: (host) => this.#providers.guardOf(host),
      log,
      nowMs,
      monotonicMs,
    });
    this.#logins = new LoginFlow({
      control,
      sessions: this.#sessions,
      looks: new SignInLooks({ find: (query) => control.signInPage(query), log, monotonicMs }),
      rates,
      rate: limits.loginRate,
      httpsPort: options.publicHttpsPort,
      log,
      monotonicMs,
    });
    this.#loginHosts = new LoginHosts(this.#logins, this.#origin, options.onZonesChanged);
    this.#usage = new UsageReporter({
      report: (usage) => control.reportUsage(usage),
      certifiedZones: options.certifiedZones ?? (() => []),
      domains: options.domains ?? (() => []),
      tcpPorts: options.tcpPorts,
      udpPorts: options.udpPorts,
      log,
      everyMs: limits.usageEveryMs,
    });
  }

  provider(id: string): GatewayProvider | undefined {
    return this.#providers.find(id)?.record;
  }

  replaceAll({ providers, zones, zoneOwners, keys }: Snapshot): void {
    this.generation += 1;
    this.#providers.replaceAll(providers, keys);
    this.#origin.setKeys(keys);
    this.#loginHosts.setZones(zones, zoneOwners);
    // A snapshot does not list sessions that ended in the meantime.
    this.#sessions.doubt();
  }

  change(delta: GatewayDelta): void {
    this.generation += 1;
    this.#providers.change(delta);
    if (delta.keys !== undefined) this.#origin.setKeys(delta.keys);
    if (delta.zones !== undefined) this.#loginHosts.setZones(delta.zones, delta.zoneOwners);
    if (delta.endedSessions !== undefined) this.#sessions.end(delta.endedSessions);
  }

  onContact(): void {
    this.#lastContactMs = this.#monotonicMs();
  }

  kept(): ReturnType<AccessFeed['kept']> {
    return { providers: this.#providers.kept(), ...this.#loginHosts.kept() };
  }

  decide(host: GatewayHost, head: RequestHead, client: ClientFacts): AccessVerdict | Promise<AccessVerdict> {
    const secured = client.isSecure ? undefined : this.#redirect?.verdictOf(host, head, client);
    if (secured !== undefined) return secured;
    const cookies = readOwnCookies(head);
    if (!host.isGuarded)
      return cookies === NO_COOKIES ? OPEN_ADMISSION : { ...OPEN_ADMISSION, changes: changesOf(cookies) };
    const verdict = this.#decide(host, head, client, cookies);
    if (verdict instanceof Promise) return verdict.then((settled) => withOwnLines(settled, host, client));
    return verdict.type === 'admit' ? verdict : withOwnLines(verdict, host, client);
  }

  /** The hosts `oauth.<zone>`, and the owners of their zones. */
  get loginHosts(): Pick<LoginHosts, 'has' | 'ownerOf'> {
    return this.#loginHosts;
  }

  isOwnHost(host: string): boolean {
    return this.#loginHosts.has(host);
  }

  decideOwn(head: RequestHead, client: ClientFacts): AccessVerdict | Promise<AccessVerdict> | undefined {
    return this.#loginHosts.decide(head, client);
  }

  decidePort(host: GatewayHost, client: ClientFacts): Failure | undefined {
    if (!host.isGuarded) return undefined;
    const network = this.#networks.refusalOf(host, client, this.#nowMs());
    if (network !== undefined) return network;
    // The control plane refuses such guards. Without this they would be silently left out.
    return host.needsIdentity ? FAILURES.portGuarded : this.#overRate(host, client)?.failure;
  }

  endOf(host: GatewayHost | undefined, admission: AccessAdmission, client: ClientFacts): Failure | undefined {
    if (host === undefined) return FAILURES.revoked;
    if (!host.isGuarded) return undefined;
    const nowMs = this.#nowMs();
    const { rules } = host.route;
    const network = this.#networks.refusalOf(host, client, nowMs);
    if (network !== undefined) return network;
    if (!host.needsIdentity) return undefined;
    if (admission instanceof PathAdmission && admission.isOpenBy(rules)) return undefined;
    if (!this.#isTrusted()) return failureOfAccess('control-plane-away');
    if (!(admission instanceof CallerAdmission)) return accessEnded('the address now requires an identity');
    const unprovable = decideProvability(rules, this.#providers.guardOf(host).hasLogins);
    if (unprovable !== undefined) return failureOfAccess(unprovable);
    const { caller } = admission.grant;
    const problem = this.#problemOf(caller, host, nowMs);
    if (problem !== undefined) return accessEnded(problem);
    const reason = decideIdentity(rules, caller.identity);
    return reason === undefined ? undefined : failureOfAccess(reason);
  }

  /** Reports the remaining use of keys and sessions. Never rejects. */
  async close(): Promise<void> {
    await this.#usage.close();
  }

  /** Reports the use of keys and sessions since the last report. */
  reportUsage(): Promise<void> {
    return this.#usage.report();
  }

  /** As `reportUsage`, within a second. */
  reportUsageSoon(): void {
    this.#usage.reportSoon();
  }

  #decide(
    host: GatewayHost,
    head: RequestHead,
    client: ClientFacts,
    cookies: OwnCookies,
  ): AccessVerdict | Promise<AccessVerdict> {
    const nowMs = this.#nowMs();
    const { rules } = host.route;
    const network = this.#networks.refusalOf(host, client, nowMs);
    if (network !== undefined) return refusal(network);
    const path = pathKind(rules, head.target);
    if (path === 'ambiguous') return refusal(failureOfAccess('path-ambiguous'));
    const preflight = preflightVerdict(rules.rules, head);
    if (preflight !== undefined) return preflight;
    if (path === 'public') return this.#admitPath('public-path', host, head, client, cookies);
    if (!host.needsIdentity) {
      const caller = this.#networks.callerOf(host, client);
      if (caller !== undefined && isForeign(head, client.isSecure, rules.actingOrigins))
        return refusal(ACCESS_FAILURES.otherOrigin, [], caller.identity);
      if (caller === undefined || !this.#origin.canSign)
        return this.#admitPath('network', host, head, client, cookies);
      return this.#admit(caller, { host, head, client, cookies }, cookies.omitted, undefined, nowMs);
    }
    if (rules.rules.allowPreflights && isPreflight(head) && !isReserved(head.target))
      return this.#admitPath(PREFLIGHT, host, head, client, cookies);
    const guard = this.#providers.guardOf(host);
    const unprovable = decideProvability(rules, guard.hasLogins);
    if (unprovable !== undefined) return refusal(failureOfAccess(unprovable));
    if (!this.#isTrusted()) return refusal(failureOfAccess('control-plane-away'));
    if (guard.hasLogins && isReserved(head.target)) return this.#logins.reserved(host, guard, head, client);
    const search = new Search(host, head, client, cookies, guard);
    const searching = this.#search.run(search);
    if (searching === undefined) return this.#conclude(search);
    return searching.then(() =>
      this.#isTrusted() ? this.#conclude(search) : refusal(failureOfAccess('control-plane-away')),
    );
  }

  /** Concludes the search for the caller. */
  #conclude(search: Search): AccessVerdict | Promise<AccessVerdict> {
    const { caller, failure, cookies, line, target } = search;
    if (caller === undefined) {
      if (failure === undefined) return this.#turnAway(search);
      const lines = search.retryAfterMs > 0 ? [retryAfter(search.retryAfterMs)] : [];
      return refusal(failure, lines);
    }
    const { omitted } = cookies;
    const all = line < 0 ? omitted : omitted.length === 0 ? omittedLine(line) : [...omitted, line];
    return this.#admit(caller, search, all, target, this.#nowMs());
  }

  #admit(
    caller: Caller,
    { host, head, client, cookies }: Pick<Search, 'host' | 'head' | 'client' | 'cookies'>,
    omitted: readonly number[],
    target: string | undefined,
    nowMs: number,
  ): AccessVerdict {
    let grant = caller.grants.get(host);
    if (grant === undefined) {
      grant = new Grant(caller, host, this.#origin);
      caller.grants.set(host, grant);
    }
    const { identity } = caller;
    if (grant.refusal !== undefined) return notWanted(grant.refusal, identity);
    const { rules, actingOrigins } = host.route.rules;
    const { rateLimit } = rules;
    if (caller.isAmbient && isForeign(head, client.isSecure, actingOrigins))
      return refusal(ACCESS_FAILURES.otherOrigin, [], identity);
    if (rateLimit !== null) {
      const waitMs = this.#rates.take(grant.rateKey, rateLimit, this.#monotonicMs());
      if (waitMs > 0) return refusal(failureOfAccess('rate-limited'), [retryAfter(waitMs)], identity);
    }
    this.#usage.note(caller, nowMs);
    return grant.admission(omitted, cookies.lines, target, this.#wallMs());
  }

  #admitPath(
    decision: string,
    host: GatewayHost,
    head: RequestHead,
    client: ClientFacts,
    cookies: OwnCookies,
  ): AccessVerdict {
    return this.#overRate(host, client) ?? new PathAdmission(decision, head.target, cookies);
  }

  #overRate(host: GatewayHost, client: ClientFacts): AccessRefusal | undefined {
    const { rateLimit } = host.route.rules.rules;
    if (rateLimit === null) return undefined;
    const key = `${host.route.share.id} ${callerAddress(client.address)}`;
    const waitMs = this.#rates.take(key, rateLimit, this.#monotonicMs());
    return waitMs > 0 ? refusal(failureOfAccess('rate-limited'), [retryAfter(waitMs)]) : undefined;
  }

  /** Handles a request without a valid credential. */
  #turnAway(search: Search): AccessVerdict | Promise<AccessVerdict> {
    const { host, head, client, guard, cookies, wrong } = search;
    const lines = cookies.isDoubled ? [CLEAR_SESSION_LINE] : [];
    if (wrong === 'credential' || wrong === 'basic')
      return unauthenticated('credential-wrong', host, guard, wrong, lines);
    if (isNavigation(head)) {
      if (guard.logins.length > 0 && !client.isSecure) return this.#logins.toHttps(host, head, client);
      if (guard.logins.length > 0) return this.#logins.begin(search, head.target);
      if (guard.hasLogins) return refusal(failureOfAccess('login-not-available'), lines);
    }
    const missing = wrong === 'session' ? 'credential-wrong' : 'credential-missing';
    const reason = guard.isShut ? 'provider-disabled' : missing;
    return unauthenticated(reason, host, guard, undefined, lines);
  }

  #problemOf(caller: Caller, host: GatewayHost, nowMs: number): string | undefined {
    const problem = caller.problem(host, this.#providers.guardOf(host), nowMs);
    if (!(caller instanceof SessionCaller)) return problem;
    if (this.#sessions.hasEnded(caller.session.id)) return 'the session was ended';
    const isIdle = problem === SESSION_IDLE && caller.idleSinceMs !== caller.lastUsedMs;
    if (!this.#sessions.isDoubtful(caller) && !isIdle) return problem;
    // The look-up starts now; its result applies at the next check.
    void this.#sessions.confirm(caller);
    return isIdle ? undefined : problem;
  }

  /** Whether the control plane was in contact recently enough to trust identities. */
  #isTrusted(): boolean {
    const lastContactMs = this.#lastContactMs;
    return (
      lastContactMs !== undefined &&
      this.#monotonicMs() - lastContactMs < GATEWAY_TRUST_MS &&
      this.#providers.hasKeys &&
      this.#origin.canSign
    );
  }

  /** Resolves when the provider's published keys have arrived, or when they cannot be fetched. */
  async #refresh(providerId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#providers.find(providerId);
    const stop = this.#providers.onceChanged(resolve);
    try {
      await answerInTime(this.#options.control.refreshProvider(providerId));
      if (this.#providers.find(providerId) === before) await answerInTime(promise, REFRESH_WAIT_MS);
    } catch {
      // Without the control plane, the token is judged by the known keys.
    } finally {
      stop();
    }
  }
}
