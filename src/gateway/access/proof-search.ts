/**
 * Looks for a valid credential in a request: a session, an API key, a token, a name and password, in this order.
 * Each is decided from memory if possible. An invalid credential does not prevent a valid one from being found.
 */
import { AttemptLimits, messageOf, type AttemptRate, type Log } from '#base';
import type { AccessReason } from '#domain/access';
import type { Failure } from '../answers/failure-table.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import { ACCESS_FAILURES, failureOfAccess } from './access-failure-table.ts';
import type { AccessLimits } from './access-limits.ts';
import { type BasicCheck, readBasicPair } from './basic-check.ts';
import type { Caller } from './caller.ts';
import { SESSION_IDLE, type KeyCaller, type SessionCaller } from './caller-kinds.ts';
import type { HostGuard } from './host-guard.ts';
import type { OwnCookies } from './own-cookies.ts';
import type { Provider } from './provider.ts';
import { callerAddress, type Rate } from './rate-limits.ts';
import { DOUBLED, findAuthorization, findField, findParameter, NOT_THERE } from './request-credentials.ts';
import type { SessionCache } from './session-cache.ts';
import type { TokenCheck } from './token-check.ts';
import { looksLikeToken } from './token-form.ts';

/** The state of the search for the caller of one request. */
export class Search {
  readonly host: GatewayHost;
  readonly head: RequestHead;
  readonly client: ClientFacts;
  readonly cookies: OwnCookies;
  guard: HostGuard;
  /** The caller that was found. */
  caller: Caller | undefined;
  /** Index of the header line with its credential, apart from cookies. */
  line = NOT_THERE;
  /** The target without the credential, if it was in the query. */
  target: string | undefined;
  /** An invalid credential was found. */
  wrong: 'session' | 'credential' | 'basic' | undefined;
  /** The request is refused with this failure. */
  failure: Failure | undefined;
  retryAfterMs = 0;
  /** Providers that do not know the presented key. */
  missed: Provider[] | undefined;
  /** How long no further key is checked at a provider after too many wrong ones. */
  limitedMs = 0;

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
  readonly limits: AccessLimits;
  readonly guardOf: (host: GatewayHost) => HostGuard;
  readonly log: Log;
  /** In Unix milliseconds; the other clock is monotonic. */
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

const STEPS = 3;
/** Kinds of credentials, whose failures are counted separately. */
const SESSION = 'session';
const TOKEN = 'token';
const PASSWORD = 'password';
const SCHEME = /^(bearer|basic) (\S+)$/i;

export class ProofSearch {
  readonly #options: ProofSearchOptions;
  /** Wrong credentials, by share and provider, and by address. */
  readonly #wrong: AttemptLimits;
  readonly #wrongRate: AttemptRate;
  readonly #passwordRate: AttemptRate;

  constructor(options: ProofSearchOptions) {
    this.#options = options;
    const { maxCallers, wrongRate, wrongPasswordRate } = options.limits;
    this.#wrong = new AttemptLimits(maxCallers);
    this.#wrongRate = attemptRate(wrongRate);
    this.#passwordRate = attemptRate(wrongPasswordRate);
  }

  /** Runs the search. Returns undefined if it is complete, or a promise that settles when it is and never rejects. */
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
    // Providers may have changed in the meantime.
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
    // A session cookie is accepted only over TLS.
    if (token === undefined || !search.client.isSecure || search.guard.logins.length === 0) return undefined;
    const { sessions } = this.#options;
    const known = sessions.known(token);
    if (known === null) {
      search.wrong = 'session';
      return undefined;
    }
    if (known !== undefined && !sessions.isDoubtful(known)) {
      const problem = this.#judge(search, known);
      // Another gateway may have used the session since.
      if (problem !== SESSION_IDLE) return undefined;
    }
    if (sessions.isBusy) {
      search.failure = ACCESS_FAILURES.busy;
      return undefined;
    }
    if (known === undefined && this.#isLimited(search, SESSION)) return undefined;
    return sessions.find(token).then(
      (found) => {
        if (found === undefined) {
          this.#failed(search, SESSION);
          search.wrong = 'session';
          return;
        }
        // Providers may have changed in the meantime.
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

  /** Looks for API keys in their own headers and parameters: first those seen before, then all. */
  #key(search: Search): undefined {
    const { headerKeys, queryKeys } = search.guard;
    const { head } = search;
    for (const provider of headerKeys) {
      const line = findField(head.fields, provider.keyField);
      if (line >= 0 && this.#accept(search, provider.seenKey(head.fields.value(line)))) {
        search.line = line;
        return;
      }
    }
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
    this.#noKey(search);
  }

  /** A key that this provider does not know may belong to another one. */
  #tryKey(search: Search, provider: Provider, key: string): boolean {
    let found = provider.seenKey(key);
    if (found === undefined) {
      const waitMs = this.#waitMs(search, provider.id);
      if (waitMs > 0) {
        search.limitedMs = Math.max(search.limitedMs, waitMs);
        return false;
      }
      found = provider.findKey(key);
    }
    if (found !== undefined) return this.#accept(search, found);
    search.wrong = 'credential';
    search.missed ??= [];
    search.missed.push(provider);
    return false;
  }

  /** Records that no provider knows the presented key. */
  #noKey(search: Search): void {
    for (const provider of search.missed ?? []) this.#failed(search, provider.id);
    search.missed = undefined;
    if (search.limitedMs > 0) this.#limit(search, search.limitedMs);
  }

  #accept(search: Search, found: KeyCaller | undefined): boolean {
    if (found === undefined) return false;
    if (found.problem(search.host, search.guard, this.#options.nowMs()) !== undefined) {
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
    const { tokens, limits, guardOf, nowMs } = this.#options;
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
      if (this.#accept(search, provider.seenKey(value))) {
        search.line = line;
        return undefined;
      }
    }
    for (const provider of guard.bearerKeys) {
      if (isToken && provider.findKey(value) === undefined) continue;
      if (this.#tryKey(search, provider, value)) search.line = line;
      if (search.isOver) return undefined;
    }
    search.wrong = 'credential';
    this.#noKey(search);
    if (!isToken || search.isOver || this.#isLimited(search, TOKEN)) return undefined;
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
          else this.#failed(search, TOKEN);
          return;
        }
        search.caller = found;
        search.line = line;
      });
  }

  #basic(search: Search, line: number, value: string): Promise<void> | undefined {
    const { basics, guardOf } = this.#options;
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
    if (pair === undefined || this.#isLimited(search, PASSWORD)) return undefined;
    if (basics.isBusy) {
      search.failure = ACCESS_FAILURES.busy;
      return undefined;
    }
    // Counts the attempt before its result is known and undoes it if the password is correct, so that
    // concurrent attempts cannot exceed the limit.
    this.#failed(search, PASSWORD);
    return basics.check(digest, shareId, pair, guard.basicUsers.get(pair.name)).then((found) => {
      // A request that waited may share the result for a password that was changed in the meantime.
      if (found === undefined || found.problem(host, guardOf(host)) !== undefined) return;
      const source = callerAddress(search.client.address);
      this.#wrong.takeBack(targetOf(search, PASSWORD), source, this.#rateOf(PASSWORD));
      search.caller = found;
      search.line = line;
    });
  }

  /** Whether the address sent too many wrong credentials, so that no more are checked for a while. */
  #isLimited(search: Search, shown: string): boolean {
    const waitMs = this.#waitMs(search, shown);
    if (waitMs > 0) this.#limit(search, waitMs);
    return waitMs > 0;
  }

  #limit(search: Search, waitMs: number): void {
    search.failure = ACCESS_FAILURES.tooManyWrong;
    search.retryAfterMs = waitMs;
  }

  /**
   * `shown` is a provider's id or a kind of credential. Wrong credentials at one share do not lock callers out of
   * another.
   */
  #waitMs(search: Search, shown: string): number {
    const source = callerAddress(search.client.address);
    const nowMs = this.#options.monotonicMs();
    return this.#wrong.waitMs(targetOf(search, shown), source, this.#rateOf(shown), nowMs);
  }

  #failed(search: Search, shown: string): void {
    const source = callerAddress(search.client.address);
    const nowMs = this.#options.monotonicMs();
    this.#wrong.failed(targetOf(search, shown), source, this.#rateOf(shown), nowMs);
  }

  #rateOf(shown: string): AttemptRate {
    return shown === PASSWORD ? this.#passwordRate : this.#wrongRate;
  }

  #away(search: Search, error: unknown, message: string): void {
    this.#options.log.warn({ hop: 'control', cause: messageOf(error) }, message);
    search.refuse('control-plane-away');
  }
}

function targetOf({ host }: Search, shown: string): string {
  return `${host.route.share.id} ${shown}`;
}

function attemptRate({ requests, perMs }: Rate): AttemptRate {
  return { attempts: requests, perMs };
}
