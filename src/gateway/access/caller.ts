/**
 * Who let himself be known, and one caller at one host: what its requests are told to the origin with, made once and
 * renewed before it runs out. While a request looks like the one before, the whole admission is the one before, and
 * nothing is made for it. Mutable: this is on the path of every request.
 */
import { decideIdentity, type AccessReason, type CallerIdentity, type GatewayTokenIssuer } from '#domain';
import type { HeadChanges } from '../http/forward-head-codec.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import type { AccessAdmission } from './access.ts';
import type { OriginIdentity } from './origin-identity.ts';

/** What guards a host now, as far as callers ask. Enabled providers only. */
export interface Guard {
  readonly logins: readonly { readonly id: string; readonly name: string; readonly version: number }[];
  readonly keys: readonly KeyIssuer[];
  readonly tokens: readonly TokenIssuer[];
  /** Password hashes by name. */
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
  /** For logs: `session`, `api-key reports`. */
  abstract readonly decision: string;
  /** Unix milliseconds of the last request. */
  lastUsedMs = 0;
  /** Browsers show it by themselves, whichever page makes them send something. */
  readonly isAmbient: boolean = false;
  /** Its owner is told when it was last used. */
  readonly isReported: boolean = false;
  /** `lastUsedMs` has not been told yet. */
  isUnreported = false;
  /** One per host that it was admitted at. */
  readonly grants = new WeakMap<GatewayHost, Grant>();
  #key: string | undefined;

  /** The same for all proofs of one person or program. */
  get key(): string {
    const { kind, providerId, subject } = this.identity;
    this.#key ??= `${kind === 'session' || kind === 'token' ? 'person' : kind} ${providerId ?? ''} ${subject}`;
    return this.#key;
  }

  /** Of the auth provider; '' without one. */
  get providerName(): string {
    return '';
  }

  /** Unix milliseconds; undefined: its proof does not end by itself. */
  endsAtMs(_host: GatewayHost): number | undefined {
    return undefined;
  }

  /** Why it does not hold at this host now; undefined: it does. */
  abstract problem(host: GatewayHost, guard: Guard, nowMs: number): string | undefined;
}

/** Admitted because of who calls. */
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
  /** Known, but not wanted here. */
  readonly refusal: AccessReason | undefined;
  /** Of rate limits. */
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

  /** `cookieLines` are other cookies of omitted lines; `target` in place of the one that came. */
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
