/**
 * An identified caller, and its grant at one host: the headers that describe it to the origin, made once and
 * renewed before they expire. While requests look alike, they share one admission object without allocation.
 * Mutable, because it is on the path of every request.
 */
import { decideIdentity, type AccessReason, type CallerIdentity } from '#domain/access';
import type { GatewayTokenIssuer } from '#domain/gateway-shapes';
import type { HeadChanges } from '../http/head-changes.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import type { AccessAdmission } from './access.ts';
import type { OriginIdentity } from './origin-identity.ts';

/** The enabled providers and users that guard a host now. */
export interface Guard {
  readonly logins: readonly { readonly id: string; readonly name: string; readonly version: number }[];
  readonly keys: readonly KeyIssuer[];
  readonly tokens: readonly TokenIssuer[];
  /** Password hashes by user name. */
  readonly basicUsers: ReadonlyMap<string, readonly string[]>;
}

export interface KeyIssuer {
  readonly id: string;
  readonly name: string;
  keyByHmac(hmac: string): { readonly name: string; isOver(nowMs: number): boolean } | undefined;
}

export interface TokenIssuer {
  readonly id: string;
  readonly name: string;
  readonly tokens: GatewayTokenIssuer | null;
}

export abstract class Caller {
  abstract readonly identity: CallerIdentity;
  /** The decision for logs: `session`, `api-key reports`. */
  abstract readonly decision: string;
  /** Time of the last request, in Unix milliseconds. */
  lastUsedMs = 0;
  /** Whether browsers send the credential by themselves, whichever page causes the request. */
  readonly isAmbient: boolean = false;
  /** Whether the time of last use is reported to the owner. */
  readonly isReported: boolean = false;
  /** Whether `lastUsedMs` is not reported yet. */
  isUnreported = false;
  /** One grant per host that admitted the caller. */
  readonly grants = new WeakMap<GatewayHost, Grant>();
  #key: string | undefined;

  /** Equal for all credentials of one person or program. */
  get key(): string {
    const { kind, providerId, subject } = this.identity;
    this.#key ??= `${kind === 'session' || kind === 'token' ? 'person' : kind} ${providerId ?? ''} ${subject}`;
    return this.#key;
  }

  /** Name of the auth provider; '' if there is none. */
  get providerName(): string {
    return '';
  }

  /** Expiry in Unix milliseconds; undefined if the credential does not expire by itself. */
  endsAtMs(_host: GatewayHost): number | undefined {
    return undefined;
  }

  /** Returns why the credential is not valid at this host now, or undefined if it is valid. */
  abstract problem(host: GatewayHost, guard: Guard, nowMs: number): string | undefined;
}

/** An admission that depends on the caller. */
export class CallerAdmission implements AccessAdmission {
  readonly type = 'admit';
  readonly decision: string;
  readonly identity: CallerIdentity;
  readonly changes: HeadChanges;
  readonly isGuarded = true;
  readonly grant: Grant;

  constructor(grant: Grant, changes: HeadChanges) {
    this.grant = grant;
    this.decision = grant.caller.decision;
    this.identity = grant.caller.identity;
    this.changes = changes;
  }
}

export class Grant {
  readonly caller: Caller;
  readonly host: GatewayHost;
  /** Set if the caller is known but not admitted at this host. */
  readonly refusal: AccessReason | undefined;
  /** Key of the caller's rate limit. */
  readonly rateKey: string;
  readonly #origin: OriginIdentity;
  #lines = '';
  #linesFromMs = 0;
  #linesUntilMs = 0;
  #last: CallerAdmission | undefined;

  constructor(caller: Caller, host: GatewayHost, origin: OriginIdentity) {
    const { share, rules } = host.route;
    this.caller = caller;
    this.host = host;
    this.#origin = origin;
    this.refusal = decideIdentity(rules, caller.identity);
    this.rateKey = `${share.id} ${caller.key}`;
  }

  /** `cookieLines` are the foreign cookies of omitted lines; `target` replaces the request's target. */
  admission(
    omitted: readonly number[],
    cookieLines: string,
    target: string | undefined,
    nowMs: number,
  ): CallerAdmission {
    if (nowMs >= this.#linesUntilMs || nowMs < this.#linesFromMs) this.#renew(nowMs);
    const last = this.#last;
    const isPlain = cookieLines === '' && target === undefined;
    if (isPlain && last !== undefined && isSame(last.changes.omitted, omitted)) return last;
    const lines = cookieLines === '' ? this.#lines : cookieLines + this.#lines;
    const admission = new CallerAdmission(this, { omitted, target, lines });
    if (isPlain) this.#last = admission;
    return admission;
  }

  #renew(nowMs: number): void {
    const { lines, renewAtMs } = this.#origin.linesOf(this.caller, this.host, nowMs);
    this.#lines = lines;
    this.#linesFromMs = nowMs;
    this.#linesUntilMs = renewAtMs;
    this.#last = undefined;
  }
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}
