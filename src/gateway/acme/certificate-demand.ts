/**
 * Knows which certificates a gateway needs and has not: for zones (with a DNS hook) `*.zone`, else each served name, and always
 * each domain of a share, when a client's handshake asks for it; and those whose renewal is due. Handshakes may wait for a certificate that is on order, a
 * bounded number for a bounded time, and end without it: no client sees another certificate in the meantime. Each worker has a
 * demand of its own; the source joins equal ones. ADR 0056.
 */
import { systemClock, type Clock } from '#base';
import type { Exposition } from '#net/metrics';
import type { CertificateStore, ObtainedCertificate } from '../certificates/certificate-store.ts';
import type { CertificateSource, NeededCertificate, IssueEvent } from './certificate-source.ts';
import { renewalAtMs, zoneOf } from './issue-policy.ts';

/** Between two checks: less when a renewal is due before. */
const CHECK_MS = 10_000;
const LEAST_CHECK_MS = 500;
/** For the handshake that causes an order. Clients give up after 20 s or more. */
const WAIT_MS = 15_000;
const MAX_WAITING_HANDSHAKES = 1_000;
/** After a refusal or a failure, handshakes for the name continue at once for so long. */
const REFUSED_MS = 10_000;
const MAX_REFUSED = 2_000;

/** In whose name a certificate is ordered. */
export type NameOwner = Omit<NeededCertificate, 'name'>;

export interface CertificateDemandOptions {
  readonly store: CertificateStore;
  readonly source: CertificateSource;
  /** Whether zones get wildcard certificates; otherwise single names of them get theirs on demand, as domains do. */
  readonly hasWildcards: boolean;
  /** Returns the owner of a host (canonical) that is a share's, or receives log-ins; undefined for another host. */
  readonly ownerOf: (host: string) => NameOwner | undefined;
  readonly zones: () => readonly string[];
  /** Hosts whose certificates are ordered before a client asks for them. */
  readonly ownHosts?: readonly string[] | undefined;
  readonly clock?: Clock | undefined;
  readonly waitMs?: number | undefined;
}

interface Waiting {
  readonly promise: Promise<boolean>;
  readonly resolve: (isObtained: boolean) => void;
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

  /**
   * Returns undefined if a handshake for this host (canonical) continues. Otherwise a promise, which never rejects: true when it
   * continues, and false when it has to end, because the certificate is on order and not here in time.
   */
  missing(host: string): Promise<boolean> | undefined {
    const { store, ownerOf, hasWildcards } = this.#options;
    if (store.isProvided(host)) return undefined;
    const owner = ownerOf(host);
    if (owner === undefined) return undefined;
    const name = hasWildcards && owner.domain === undefined ? `*.${zoneOf(host)}` : host;
    if (this.#isRefused(name)) return undefined;
    const known = this.#waiting.get(name);
    if (known === undefined) {
      if (this.#want([{ name, ...owner }]).length > 0) return undefined;
      // The certificate may have come in the meantime.
      if (store.isProvided(host)) return undefined;
    }
    if (this.#waitingHandshakes >= MAX_WAITING_HANDSHAKES) return Promise.resolve(false);
    const waiting = known ?? this.#wait(name);
    waiting.handshakes += 1;
    this.#waitingHandshakes += 1;
    return waiting.promise;
  }

  /** Wants what is missing or due. Called at least every ten seconds, and when the zones are known or change. */
  check(): void {
    const names = new Set(this.#dueNames());
    if (this.#options.hasWildcards) for (const name of this.#missingWildcards()) names.add(name);
    for (const name of this.#missingHosts()) names.add(name);
    if (names.size > 0) this.#wantNames([...names]);
    this.#plan();
  }

  /** Forgets refusals and pauses, and wants again what is missing or due. */
  retry(): void {
    this.#options.source.retry();
    this.#refusedUntilMs.clear();
    this.check();
  }

  /** Handshakes that wait end. */
  close(): void {
    this.#isClosed = true;
    this.#stopFollowing();
    clearTimeout(this.#timer);
    for (const name of this.#waiting.keys()) this.#release(name, false);
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
    const { store, ownerOf, hasWildcards, zones } = this.#options;
    const wildcards = new Set(hasWildcards ? zones().map((zone) => `*.${zone}`) : []);
    const isSingle = (name: string): boolean => {
      const owner = ownerOf(name);
      return owner !== undefined && (!hasWildcards || owner.domain !== undefined);
    };
    return store.obtained.filter(
      ({ name }) => (wildcards.has(name) || isSingle(name)) && !store.isProvidedByFile(name),
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

  #missingHosts(): readonly string[] {
    const { store, ownHosts = [], hasWildcards, zones } = this.#options;
    const isBelowWildcard = (host: string): boolean => hasWildcards && zones().includes(zoneOf(host));
    return ownHosts.filter(
      (host) => !store.isProvided(host) && !isBelowWildcard(host) && !this.#isRefused(host),
    );
  }

  #wantNames(names: readonly string[]): void {
    const { ownerOf } = this.#options;
    this.#want(
      names.flatMap((name) => {
        // A zone is known by its host for log-ins.
        const owner = ownerOf(name.replace(/^\*\./, 'oauth.'));
        return owner === undefined ? [] : { name, ...owner };
      }),
    );
  }

  #want(needed: readonly NeededCertificate[]): readonly string[] {
    const refused = this.#options.source.want(needed);
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
    // Without an order, a handshake continues with the default certificate, if there is any.
    this.#release(name, outcome !== 'failed');
  }

  #isRefused(name: string): boolean {
    const untilMs = this.#refusedUntilMs.get(name);
    if (untilMs === undefined) return false;
    if (this.#clock.monotonicMs() < untilMs) return true;
    this.#refusedUntilMs.delete(name);
    return false;
  }

  #wait(name: string): Waiting {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => this.#release(name, false), this.#options.waitMs ?? WAIT_MS);
    const waiting = { promise, resolve, timer, handshakes: 0 };
    this.#waiting.set(name, waiting);
    return waiting;
  }

  #release(name: string, goesOn: boolean): void {
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) return;
    this.#waiting.delete(name);
    this.#waitingHandshakes -= waiting.handshakes;
    clearTimeout(waiting.timer);
    waiting.resolve(goesOn);
  }
}
