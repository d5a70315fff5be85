/**
 * Knows which certificates a gateway needs and has not: for zones (with a DNS hook) `*.zone`, else each served name when a
 * client's handshake asks for it; and those whose renewal is due. Handshakes may wait for a new certificate, a bounded
 * number for a bounded time. Each worker has a demand of its own; the source joins equal ones. ADR 0056.
 */
import { systemClock, type Clock } from '#base';
import type { Exposition } from '#net';
import type { CertificateStore, ObtainedCertificate } from '../certificates/certificate-store.ts';
import type { CertificateSource, IssueEvent } from './certificate-source.ts';
import { renewalAtMs } from './issue-policy.ts';

/** Between two checks: less when a renewal is due before. */
const CHECK_MS = 10_000;
const LEAST_CHECK_MS = 500;
/** For the handshake that causes an order. Clients give up after 20 s or more. */
const WAIT_MS = 15_000;
const MAX_WAITING_HANDSHAKES = 1_000;
/** After a refusal or a failure, handshakes for the name go on at once for so long. */
const REFUSED_MS = 10_000;
const MAX_REFUSED = 2_000;

export interface CertificateDemandOptions {
  readonly store: CertificateStore;
  readonly source: CertificateSource;
  /** Whether zones get wildcard certificates; otherwise single names get theirs on demand. */
  readonly hasWildcards: boolean;
  /** Whether a host (canonical) is a share's, or receives log-ins. */
  readonly isServed: (host: string) => boolean;
  readonly zones: () => readonly string[];
  readonly clock?: Clock | undefined;
  readonly waitMs?: number | undefined;
}

interface Waiting {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly timer: NodeJS.Timeout;
  handshakes: number;
}

export class CertificateDemand {
  readonly #options: CertificateDemandOptions;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  readonly #refusedUntilMs = new Map<string, number>();
  readonly #counts = { obtained: 0, failed: 0 };
  readonly #stopFollowing: () => void;
  #timer: NodeJS.Timeout;
  #waitingHandshakes = 0;
  #isClosed = false;

  constructor(options: CertificateDemandOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#stopFollowing = options.source.follow((event) => this.#onEvent(event));
    // No share is known yet.
    this.#timer = this.#checkIn(CHECK_MS);
  }

  get hasWildcards(): boolean {
    return this.#options.hasWildcards;
  }

  /**
   * Returns undefined if a handshake for this host (canonical) can go on. Otherwise a promise that resolves when there is a
   * certificate, or when there will be none in time. It never rejects.
   */
  missing(host: string): Promise<void> | undefined {
    const { store, isServed, hasWildcards } = this.#options;
    if (hasWildcards || store.isProvided(host) || !isServed(host)) return undefined;
    if (this.#waitingHandshakes >= MAX_WAITING_HANDSHAKES || this.#isRefused(host)) return undefined;
    const known = this.#waiting.get(host);
    if (known === undefined) {
      if (this.#want([host]).length > 0) return undefined;
      // The certificate may have come meanwhile.
      if (store.isProvided(host)) return undefined;
    }
    const waiting = known ?? this.#wait(host);
    waiting.handshakes += 1;
    this.#waitingHandshakes += 1;
    return waiting.promise;
  }

  /** Wants what is missing or due. Called at least every ten seconds, and when the zones are known or change. */
  check(): void {
    const names = this.#options.hasWildcards ? this.#missingWildcards() : this.#dueNames();
    if (names.length > 0) this.#want(names);
    this.#plan();
  }

  /** Forgets refusals and pauses, and wants again what is missing or due. */
  retry(): void {
    this.#options.source.retry();
    this.#refusedUntilMs.clear();
    this.check();
  }

  /** Handshakes that wait go on. */
  close(): void {
    this.#isClosed = true;
    this.#stopFollowing();
    clearTimeout(this.#timer);
    for (const host of this.#waiting.keys()) this.#release(host);
  }

  write(to: Exposition): void {
    const prefix = 'frontdoor_gateway_certificates';
    const { obtained, failed } = this.#counts;
    to.one(`${prefix}_obtained_total`, 'counter', 'Certificates that were obtained automatically', obtained);
    to.one(`${prefix}_failed_total`, 'counter', 'Orders of certificates that failed', failed);
    const needed = this.#needed();
    to.one(`${prefix}_automatic`, 'gauge', 'Obtained certificates of names that are served', needed.length);
    if (needed.length === 0) return;
    const renewalMs = Math.min(...needed.map((one) => renewalAtMs(one)));
    const expiryMs = Math.min(...needed.map(({ notAfterMs }) => notAfterMs));
    const unix = 'Unix time in seconds of the next';
    to.one(`${prefix}_renewal_timestamp_seconds`, 'gauge', `${unix} renewal that is due`, renewalMs / 1_000);
    to.one(`${prefix}_expiry_timestamp_seconds`, 'gauge', `${unix} expiry`, expiryMs / 1_000);
  }

  #plan(): void {
    if (this.#isClosed) return;
    const nowMs = this.#clock.nowMs();
    let waitMs = CHECK_MS;
    for (const one of this.#needed()) {
      const dueInMs = renewalAtMs(one) - nowMs;
      // One that is due already was wanted just now.
      if (dueInMs > 0) waitMs = Math.min(waitMs, Math.max(LEAST_CHECK_MS, dueInMs));
    }
    clearTimeout(this.#timer);
    this.#timer = this.#checkIn(waitMs);
  }

  #checkIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.check(), ms).unref();
  }

  /** Obtained certificates whose name is served, and by no file. */
  #needed(): ObtainedCertificate[] {
    const { store, isServed, hasWildcards, zones } = this.#options;
    const wildcards = new Set(hasWildcards ? zones().map((zone) => `*.${zone}`) : []);
    return store.obtained.filter(
      ({ name }) => (hasWildcards ? wildcards.has(name) : isServed(name)) && !store.isProvidedByFile(name),
    );
  }

  #dueNames(): string[] {
    const nowMs = this.#clock.nowMs();
    return this.#needed().flatMap((one) => (nowMs >= renewalAtMs(one) ? [one.name] : []));
  }

  #missingWildcards(): string[] {
    const { store, zones } = this.#options;
    const nowMs = this.#clock.nowMs();
    const current = new Set(store.obtained.flatMap((one) => (nowMs < renewalAtMs(one) ? [one.name] : [])));
    const names = zones().map((zone) => `*.${zone}`);
    return names.filter((name) => !current.has(name) && !store.isProvidedByFile(name));
  }

  #want(names: readonly string[]): readonly string[] {
    const refused = this.#options.source.want(names);
    for (const name of refused) this.#settle(name, 'refused');
    return refused;
  }

  #onEvent({ name, outcome }: IssueEvent): void {
    if (outcome !== 'refused') this.#counts[outcome] += 1;
    this.#settle(name, outcome);
    this.#plan();
  }

  #settle(name: string, outcome: IssueEvent['outcome']): void {
    if (outcome === 'obtained') this.#refusedUntilMs.delete(name);
    else {
      if (this.#refusedUntilMs.size >= MAX_REFUSED) this.#refusedUntilMs.clear();
      this.#refusedUntilMs.set(name, this.#clock.monotonicMs() + REFUSED_MS);
    }
    this.#release(name);
  }

  #isRefused(host: string): boolean {
    const untilMs = this.#refusedUntilMs.get(host);
    if (untilMs === undefined) return false;
    if (this.#clock.monotonicMs() < untilMs) return true;
    this.#refusedUntilMs.delete(host);
    return false;
  }

  #wait(host: string): Waiting {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => this.#release(host), this.#options.waitMs ?? WAIT_MS);
    const waiting = { promise, resolve, timer, handshakes: 0 };
    this.#waiting.set(host, waiting);
    return waiting;
  }

  #release(host: string): void {
    const waiting = this.#waiting.get(host);
    if (waiting === undefined) return;
    this.#waiting.delete(host);
    this.#waitingHandshakes -= waiting.handshakes;
    clearTimeout(waiting.timer);
    waiting.resolve();
  }
}
