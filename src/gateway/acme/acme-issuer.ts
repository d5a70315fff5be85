/**
 * Obtains certificates for wanted names, a few at once, and keeps them on disk and in the store. It orders nothing by
 * itself: a name is wanted again and again by those that need it (`certificate-demand.ts`), and refused while it pauses
 * after a failure or a bound is reached. Organizations have bounds and turns of their own. ADR 0056.
 */
import { join } from 'node:path';
import { FrontdoorError, messageOf, systemClock, type Clock, type Log } from '#base';
import { QuietLog } from '#net';
import type { CertificateStore, KeptCertificate } from '../certificates/certificate-store.ts';
import { checkServedPair, type KeyPair, type ServedPair } from '../certificates/served-pair.ts';
import { diskProblem, loadObtained, writeObtained } from './certificate-files.ts';
import { AccountLimits } from './account-limits.ts';
import type { CertificateSource, NeededCertificate, IssueEvent } from './certificate-source.ts';
import { countedZone, maxRunning, MAX_WAITING_OF_ORGANIZATION, renewalAtMs } from './issue-policy.ts';
import type { RecordSweeper } from './dns/record-sweeper.ts';
import { IssueState } from './issue-state.ts';
import { isRateLimited, retryAfterOf } from './order-failure.ts';

/** Orders of all organizations at once: each is a process. */
const MAX_RUNNING = 4;
/** New names that wait, and names with renewals: a flood of new ones leaves these their places. */
const MAX_WAITING = 300;
const MAX_WAITING_RENEWALS = 600;
/** With the time of a DNS hook, and for its record to be visible. */
const ORDER_MS = 600_000;
const WRONG_CLOCK_PAUSE_MS = 3_600_000;
const DISK_RETRY_MS = 60_000;
const TOO_MANY = 'too many names are waiting';

export interface AcmeIssuerOptions {
  /** The folder of the account, the state and the certificates. It exists. */
  readonly folder: string;
  readonly store: CertificateStore;
  /** Rejects with the text of the certificate authority. The signal aborts when the gateway stops, or it takes too long. */
  readonly obtain: (name: string, signal: AbortSignal) => Promise<KeyPair>;
  /** The directory of the authority, which the state is kept with. */
  readonly directoryUrl: string;
  /** What to do when an order fails, for the log. */
  readonly remedy: string;
  /** Removes what orders left behind; closed with the issuer. */
  readonly records?: Pick<RecordSweeper, 'sweep' | 'close'> | undefined;
  readonly log: Log;
  readonly clock?: Clock | undefined;
  /** From 0 to 1. */
  readonly random?: (() => number) | undefined;
}

interface Order {
  readonly name: string;
  readonly needed: NeededCertificate;
  /** Whether there was a certificate for the name before. */
  readonly isRenewal: boolean;
}

export class AcmeIssuer implements CertificateSource {
  readonly #options: AcmeIssuerOptions;
  readonly #clock: Clock;
  readonly #state: IssueState;
  readonly #quietLog: QuietLog;
  readonly #listeners = new Set<(event: IssueEvent) => void>();
  readonly #waiting = new Map<string, Order>();
  readonly #running = new Map<string, Order>();
  readonly #limits: AccountLimits;
  /** The organizations whose orders began, the latest last. */
  readonly #turns = new Set<string>();
  /** Certificates that could not be written. */
  readonly #unwritten = new Map<string, KeyPair>();
  readonly #closing = new AbortController();
  #diskTimer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(options: AcmeIssuerOptions, state: IssueState) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#state = state;
    this.#limits = new AccountLimits(this.#clock);
    this.#quietLog = new QuietLog(options.log, () => this.#clock.monotonicMs());
  }

  /** Gives the certificates on disk to the store. */
  static async open(options: AcmeIssuerOptions): Promise<AcmeIssuer> {
    const { folder, directoryUrl, store, log, random } = options;
    const clock = options.clock ?? systemClock;
    store.take(await loadObtained(join(folder, 'certificates'), clock.nowMs(), log));
    const file = join(folder, 'state.json');
    return new AcmeIssuer(
      options,
      await IssueState.load({ file, directoryUrl, clock, log, random }, store.obtained),
    );
  }

  want(needed: readonly NeededCertificate[]): readonly string[] {
    const refused = needed.filter((each) => !this.#isTaken(each)).map(({ name }) => name);
    this.#begin();
    return refused;
  }

  follow(listener: (event: IssueEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  retry(): void {
    this.#state.forgetPauses();
    this.#limits.clear();
    void this.#options.records?.sweep();
    for (const [name, pair] of this.#unwritten) this.#write(name, pair);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#waiting.clear();
    clearTimeout(this.#diskTimer);
    await this.#options.records?.close();
    await this.written;
  }

  /** Resolves when everything so far was written, or could not be written. */
  get written(): Promise<void> {
    return Promise.all([this.#writing, this.#state.written]).then(() => {});
  }

  /** Whether the name has an order now; adds one if that is allowed. */
  #isTaken(needed: NeededCertificate): boolean {
    const { name } = needed;
    if (this.#closing.signal.aborted) return false;
    if (this.#waiting.has(name) || this.#running.has(name)) return true;
    const former = this.#options.store.obtainedFor(name);
    // Another worker wanted it a moment ago.
    if (former !== undefined && this.#clock.nowMs() < renewalAtMs(former)) return false;
    const isRenewal = former !== undefined;
    if (this.#isPaused({ needed, isRenewal })) return false;
    const bound = isRenewal ? this.#passedByRenewal() : this.#passedBound(needed);
    if (bound !== undefined) {
      const { organizationId } = needed;
      const fields = { hop: 'gateway', certificate: name, organizationId, waiting: this.#waiting.size };
      const problem = `no certificate is ordered: ${bound}`;
      this.#quietLog.warn(fields, problem);
      const failure = { problem, retryAtMs: null };
      this.#emit({ name, outcome: 'refused', certificate: undefined, failure });
      return false;
    }
    this.#waiting.set(name, { name, needed, isRenewal });
    return true;
  }

  #isPaused({ needed, isRenewal }: Pick<Order, 'needed' | 'isRenewal'>): boolean {
    if (this.#state.pauseMs(needed, isRenewal) > 0) return true;
    return !isRenewal && this.#limits.pauses(needed.organizationId);
  }

  #passedByRenewal(): string | undefined {
    return this.#waiting.size >= MAX_WAITING_RENEWALS ? TOO_MANY : undefined;
  }

  #passedBound(needed: NeededCertificate): string | undefined {
    const { organizationId, isAlone } = needed;
    const zone = countedZone(needed);
    const pending = { inZone: 0, inZoneOfOrganization: 0, ofOrganization: 0 };
    let waiting = 0;
    for (const [orders, isWaiting] of [
      [this.#waiting, true],
      [this.#running, false],
    ] as const)
      for (const { isRenewal, needed: other } of orders.values()) {
        if (isRenewal) continue;
        const isOwn = other.organizationId === organizationId;
        if (isOwn) pending.ofOrganization += 1;
        if (isOwn && isWaiting) waiting += 1;
        if (countedZone(other) !== zone) continue;
        pending.inZone += 1;
        if (isOwn) pending.inZoneOfOrganization += 1;
      }
    if (this.#waiting.size >= MAX_WAITING) return TOO_MANY;
    if (!isAlone && waiting >= MAX_WAITING_OF_ORGANIZATION)
      return 'too many names of its organization are waiting';
    return this.#state.passedBound(needed, pending);
  }

  /**
   * Renewals begin before new names, so that a flood of new ones lets no certificate expire. Otherwise organizations take
   * turns, and none has more orders at once than its part.
   */
  #begin(): void {
    while (this.#running.size < MAX_RUNNING) {
      const order = this.#next();
      if (order === undefined) return;
      const { organizationId } = order.needed;
      this.#turns.delete(organizationId);
      this.#turns.add(organizationId);
      if (this.#turns.size > MAX_WAITING) this.#turns.delete(this.#turns.values().next().value!);
      this.#waiting.delete(order.name);
      // Since it waits, another order may have failed.
      if (this.#isPaused(order)) {
        this.#emit({ name: order.name, outcome: 'refused', certificate: undefined });
        continue;
      }
      this.#running.set(order.name, order);
      void this.#run(order);
    }
  }

  #next(): Order | undefined {
    const running = new Map<string, number>();
    for (const { needed } of this.#running.values())
      running.set(needed.organizationId, (running.get(needed.organizationId) ?? 0) + 1);
    const able = [...this.#waiting.values()].filter(
      ({ needed }) => (running.get(needed.organizationId) ?? 0) < maxRunning(needed),
    );
    const renewal = able.find(({ isRenewal }) => isRenewal);
    if (renewal !== undefined) return renewal;
    const turns = [...this.#turns];
    const turnOf = ({ needed }: Order): number => turns.indexOf(needed.organizationId);
    return able.reduce<Order | undefined>(
      (first, order) => (first === undefined || turnOf(order) < turnOf(first) ? order : first),
      undefined,
    );
  }

  async #run(order: Order): Promise<void> {
    const { name } = order;
    const event = await this.#issue(order).catch((error: unknown) => this.#failed(order, error));
    this.#running.delete(name);
    if (event !== undefined) this.#emit(event);
    this.#begin();
  }

  #emit(event: IssueEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  async #issue({ name, needed, isRenewal }: Order): Promise<IssueEvent> {
    const { store, log } = this.#options;
    const served = checked(name, await this.#obtain(name));
    const certificate: KeptCertificate = { name, ...served.pair, isAutomatic: true };
    store.take([certificate]);
    this.#state.noteIssued(needed, isRenewal);
    this.#limits.noteIssued(needed.organizationId);
    if (this.#clock.nowMs() >= renewalAtMs(served)) {
      // It would be ordered again at once, and again.
      this.#state.noteFailure(needed, true, WRONG_CLOCK_PAUSE_MS);
      log.error(
        { hop: 'gateway', certificate: name, from: served.notBeforeMs, until: served.notAfterMs },
        "a new certificate is due for renewal already: check this machine's clock",
      );
    }
    this.#write(name, served.pair);
    log.info(
      { certificate: name, until: new Date(served.notAfterMs).toISOString(), isRenewal },
      'certificate obtained',
    );
    return { name, outcome: 'obtained', certificate };
  }

  async #obtain(name: string): Promise<KeyPair> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), ORDER_MS);
    const signal = AbortSignal.any([this.#closing.signal, late.signal]);
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    signal.addEventListener('abort', () =>
      reject(
        new FrontdoorError('unavailable', 'acme-failed', `not complete within ${ORDER_MS / 60_000} minutes`),
      ),
    );
    try {
      // A library that notices the signal late keeps no order from ending.
      return await Promise.race([this.#options.obtain(name, signal), aborted]);
    } finally {
      clearTimeout(timer);
    }
  }

  #failed({ name, needed, isRenewal }: Order, error: unknown): IssueEvent | undefined {
    if (this.#closing.signal.aborted) return undefined;
    const retryAfterMs = retryAfterOf(error);
    const retryInMs = this.#state.noteFailure(needed, isRenewal, retryAfterMs);
    const { log, remedy } = this.#options;
    if (isRateLimited(error)) {
      const newNamesInMs = this.#limits.note(needed.organizationId, retryAfterMs);
      log.warn(
        { hop: 'gateway', certificate: name, newNamesInMs },
        'the authority limits orders: new names pause',
      );
    }
    const fields = { hop: 'gateway', certificate: name, cause: messageOf(error), retryInMs, remedy };
    log.error(fields, 'a certificate could not be obtained');
    const failure = { problem: messageOf(error), retryAtMs: this.#clock.nowMs() + retryInMs };
    return { name, outcome: 'failed', certificate: undefined, failure };
  }

  /** A certificate that is not on disk is served nevertheless, and written later. */
  #write(name: string, pair: KeyPair): void {
    const { folder, log } = this.#options;
    this.#writing = this.#writing.then(async () => {
      try {
        await writeObtained(join(folder, 'certificates'), name, pair);
        this.#unwritten.delete(name);
      } catch (error) {
        this.#unwritten.set(name, pair);
        const fields = { hop: 'gateway', certificate: name, cause: diskProblem(error) };
        log.error(fields, 'an obtained certificate could not be written: it is in memory, and written later');
        this.#writeLater();
      }
    });
  }

  #writeLater(): void {
    if (this.#closing.signal.aborted || this.#diskTimer !== undefined) return;
    this.#diskTimer = setTimeout(() => {
      this.#diskTimer = undefined;
      for (const [name, pair] of this.#unwritten) this.#write(name, pair);
    }, DISK_RETRY_MS);
    this.#diskTimer.unref();
  }
}

/** Throws `acme-failed` for a certificate that cannot be served for the name. */
function checked(name: string, pair: KeyPair): ServedPair {
  const files = { certFile: 'the issued certificate', keyFile: 'its key' };
  const outcome = checkServedPair(name, pair, files, true);
  if ('loaded' in outcome && outcome.loaded.hosts.includes(name)) return outcome.loaded;
  const problem = 'problem' in outcome ? outcome.problem : `the issued certificate is not for ${name}`;
  throw new FrontdoorError('unavailable', 'acme-failed', problem);
}
