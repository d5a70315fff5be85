/**
 * Looks through a request for something that lets it in: a session, a key, a token, a name and password, in this
 * order. Each is decided from memory where that is possible. What is wrong does not hide what is right.
 */
import { messageOf, type Log } from '#base';
import type { AccessReason } from '#domain';
import type { Failure } from '../answers/failure-table.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { ClientFacts } from '../shares/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import { ACCESS_FAILURES, failureOfAccess } from './access-failure-table.ts';
import type { AccessLimits } from './access-limits.ts';
import { type BasicCheck, readBasicPair } from './basic-check.ts';
import type { Caller } from './caller.ts';
import { SESSION_IDLE, type SessionCaller } from './caller-kinds.ts';
import type { HostGuard } from './host-guard.ts';
import type { OwnCookies } from './own-cookies.ts';
import type { Provider } from './provider.ts';
import { callerAddress, type RateLimits } from './rate-limits.ts';
import { DOUBLED, findAuthorization, findField, findParameter, NOT_THERE } from './request-credentials.ts';
import type { SessionCache } from './session-cache.ts';
import type { TokenCheck } from './token-check.ts';
import { looksLikeToken } from './token-form.ts';

/** One request in search of who sent it. */
export class Search {
  readonly host: GatewayHost;
  readonly head: RequestHead;
  readonly client: ClientFacts;
  readonly cookies: OwnCookies;
  guard: HostGuard;
  /** Who it is. */
  caller: Caller | undefined;
  /** The header line that said so, beside cookies. */
  line = NOT_THERE;
  /** The target without what said so. */
  target: string | undefined;
  /** Something was shown, and is not right. */
  wrong: 'session' | 'credential' | 'basic' | undefined;
  /** It goes no further. */
  failure: Failure | undefined;
  retryAfterMs = 0;

  constructor(
    host: GatewayHost,
    head: RequestHead,
    client: ClientFacts,
    cookies: OwnCookies,
    guard: HostGuard,
  ) {
    this.host = host;
    this.head = head;
    this.client = client;
    this.cookies = cookies;
    this.guard = guard;
  }

  get isOver(): boolean {
    return this.caller !== undefined || this.failure !== undefined;
  }

  refuse(reason: AccessReason): void {
    this.failure = failureOfAccess(reason);
  }
}

export interface ProofSearchOptions {
  readonly sessions: SessionCache;
  readonly tokens: TokenCheck;
  readonly basics: BasicCheck;
  readonly rates: RateLimits;
  readonly limits: AccessLimits;
  readonly guardOf: (host: GatewayHost) => HostGuard;
  readonly log: Log;
  /** Unix milliseconds, and monotonic ones. */
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

const STEPS = 3;
const SCHEME = /^(bearer|basic) (\S+)$/i;

export class ProofSearch {
  readonly #options: ProofSearchOptions;

  constructor(options: ProofSearchOptions) {
    this.#options = options;
  }

  /** Undefined: it is over; else it is when the promise settles, which never rejects. */
  run(search: Search, from = 0): Promise<void> | undefined {
    for (let step = from; step < STEPS; step += 1) {
      const asked = this.#step(search, step);
      if (asked !== undefined) return this.#goOn(asked, search, step + 1);
      if (search.isOver) return undefined;
    }
    return undefined;
  }

  async #goOn(asked: Promise<void>, search: Search, step: number): Promise<void> {
    await asked;
    // Providers may have changed meanwhile.
    search.guard = this.#options.guardOf(search.host);
    if (!search.isOver) await this.run(search, step);
  }

  #step(search: Search, step: number): Promise<void> | undefined {
    if (step === 0) return this.#session(search);
    if (step === 1) return this.#key(search);
    return this.#authorization(search);
  }

  #session(search: Search): Promise<void> | undefined {
    const { session: token } = search.cookies;
    // What came in the clear proves nothing: a session's cookie is for TLS alone.
    if (token === undefined || !search.client.isSecure || search.guard.logins.length === 0) return undefined;
    const { sessions, rates, limits, monotonicMs } = this.#options;
    const known = sessions.known(token);
    if (known === null) {
      search.wrong = 'session';
      return undefined;
    }
    if (known !== undefined && !sessions.isDoubtful(known)) {
      const problem = this.#judge(search, known);
      // Another gateway may have seen it since.
      if (problem !== SESSION_IDLE) return undefined;
    }
    if (sessions.isBusy) {
      search.failure = ACCESS_FAILURES.busy;
      return undefined;
    }
    const address = `wrong ${callerAddress(search.client.address)}`;
    if (known === undefined && this.#isLimited(search, address, limits.wrongRate)) return undefined;
    return sessions.find(token).then(
      (found) => {
        if (found === undefined) {
          rates.take(address, limits.wrongRate, monotonicMs());
          search.wrong = 'session';
          return;
        }
        // Providers may have changed meanwhile.
        search.guard = this.#options.guardOf(search.host);
        this.#judge(search, found);
      },
      (error: unknown) => this.#away(search, error, 'session not looked up'),
    );
  }

  #judge(search: Search, session: SessionCaller): string | undefined {
    const problem = session.problem(search.host, search.guard, this.#options.nowMs());
    if (problem === undefined) search.caller = session;
    else search.wrong ??= 'session';
    return problem;
  }

  /** Keys in headers and parameters of their own. */
  #key(search: Search): undefined {
    const { headerKeys, queryKeys } = search.guard;
    const { head } = search;
    for (const provider of headerKeys) {
      const line = findField(head.fields, provider.keyField);
      if (line === NOT_THERE) continue;
      if (line === DOUBLED) search.refuse('credential-doubled');
      else if (this.#tryKey(search, provider, head.fields.value(line))) search.line = line;
      if (search.isOver) return;
    }
    for (const provider of queryKeys) {
      const found = findParameter(head.target, provider.keyField);
      if (found === undefined) continue;
      if (found === DOUBLED) search.refuse('credential-doubled');
      else if (this.#tryKey(search, provider, found.value)) search.target = found.rest;
      if (search.isOver) return;
    }
  }

  #tryKey(search: Search, provider: Provider, key: string): boolean {
    const { limits, rates, nowMs, monotonicMs } = this.#options;
    let found = provider.seenKey(key);
    if (found === undefined) {
      const address = `wrong ${callerAddress(search.client.address)}`;
      if (this.#isLimited(search, address, limits.wrongRate)) return false;
      found = provider.findKey(key);
      if (found === undefined) rates.take(address, limits.wrongRate, monotonicMs());
    }
    if (found === undefined || found.problem(search.host, search.guard, nowMs()) !== undefined) {
      search.wrong = 'credential';
      return false;
    }
    search.caller = found;
    return true;
  }

  #authorization(search: Search): Promise<void> | undefined {
    const { guard, head } = search;
    if (!guard.readsAuthorization) return undefined;
    const line = findAuthorization(head.fields);
    if (line === NOT_THERE) return undefined;
    if (line === DOUBLED) {
      search.refuse('credential-doubled');
      return undefined;
    }
    const [, scheme = '', value = ''] = SCHEME.exec(head.fields.value(line)) ?? [];
    if (scheme.length === 6) return this.#bearer(search, line, value);
    if (scheme.length === 5) return this.#basic(search, line, value);
    search.wrong = 'credential';
    return undefined;
  }

  #bearer(search: Search, line: number, value: string): Promise<void> | undefined {
    const { tokens, rates, limits, guardOf, nowMs, monotonicMs } = this.#options;
    const { guard, host } = search;
    if (guard.tokens.length > 0) {
      const known = tokens.known(value);
      if (known !== undefined && known.problem(host, guard, nowMs()) === undefined) {
        search.caller = known;
        search.line = line;
        return undefined;
      }
    }
    const isToken = (guard.tokens.length > 0 || guard.hasUnknownIssuer) && looksLikeToken(value);
    for (const provider of guard.bearerKeys) {
      if (isToken && provider.seenKey(value) === undefined && provider.findKey(value) === undefined) continue;
      if (this.#tryKey(search, provider, value)) search.line = line;
      if (search.isOver) return undefined;
    }
    search.wrong = 'credential';
    const address = `wrong ${callerAddress(search.client.address)}`;
    if (!isToken || this.#isLimited(search, address, limits.wrongRate)) return undefined;
    if (tokens.running >= limits.maxChecks) {
      search.failure = ACCESS_FAILURES.busy;
      return undefined;
    }
    return tokens
      .check(value, () => guardOf(host).tokens)
      .then((found) => {
        const now = guardOf(host);
        if (found === undefined || found.problem(host, now, nowMs()) !== undefined) {
          if (now.hasUnknownIssuer) search.refuse('issuer-away');
          else rates.take(address, limits.wrongRate, monotonicMs());
          return;
        }
        search.caller = found;
        search.line = line;
      });
  }

  #basic(search: Search, line: number, value: string): Promise<void> | undefined {
    const { basics, rates, limits, guardOf, monotonicMs } = this.#options;
    const { guard, host } = search;
    if (guard.basicUsers.size === 0) {
      search.wrong = 'credential';
      return undefined;
    }
    search.wrong = 'basic';
    const { id: shareId } = host.route.share;
    const digest = basics.digest(shareId, value);
    const known = basics.known(digest);
    if (known !== undefined && known.problem(host, guard) === undefined) {
      search.caller = known;
      search.line = line;
      return undefined;
    }
    const pair = readBasicPair(value);
    const address = `password ${callerAddress(search.client.address)}`;
    if (pair === undefined || this.#isLimited(search, address, limits.wrongPasswordRate)) return undefined;
    if (basics.isBusy) {
      search.failure = ACCESS_FAILURES.busy;
      return undefined;
    }
    // Taken before it is known whether it is wrong, given back if not: many at once are no way around.
    rates.take(address, limits.wrongPasswordRate, monotonicMs());
    return basics.check(digest, shareId, pair, guard.basicUsers.get(pair.name)).then((found) => {
      // Whoever asks later shares the answer to an earlier password.
      if (found === undefined || found.problem(host, guardOf(host)) !== undefined) return;
      rates.giveBack(address, limits.wrongPasswordRate, monotonicMs());
      search.caller = found;
      search.line = line;
    });
  }

  /** Too many wrong ones came from there: no more are checked for a while. */
  #isLimited(search: Search, address: string, rate: AccessLimits['wrongRate']): boolean {
    const waitMs = this.#options.rates.waitMs(address, rate, this.#options.monotonicMs());
    if (waitMs === 0) return false;
    search.failure = ACCESS_FAILURES.tooManyWrong;
    search.retryAfterMs = waitMs;
    return true;
  }

  #away(search: Search, error: unknown, message: string): void {
    this.#options.log.warn({ hop: 'control', cause: messageOf(error) }, message);
    search.refuse('control-plane-away');
  }
}
