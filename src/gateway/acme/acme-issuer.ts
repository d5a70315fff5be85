/**
 * Obtains certificates for wanted names, at most two at once, and keeps them on disk and in the store. It orders nothing by
 * itself: a name is wanted again and again by those that need it (`certificate-demand.ts`), and refused while it pauses
 * after a failure or its zone has had too many new certificates. ADR 0056.
 */
import { join } from 'node:path';
import { FrontdoorError, messageOf, systemClock, type Clock, type Log } from '#base';
import { QuietLog } from '#net';
import type { CertificateStore, KeptCertificate } from '../certificates/certificate-store.ts';
import { checkServedPair, type KeyPair, type ServedPair } from '../certificates/served-pair.ts';
import { diskProblem, loadObtained, writeObtained } from './certificate-files.ts';
import type { CertificateSource, IssueEvent } from './certificate-source.ts';
import { MAX_NEW_PER_ZONE, renewalAtMs, zoneOf } from './issue-policy.ts';
import { IssueState } from './issue-state.ts';
import { retryAfterOf } from './order-failure.ts';

const MAX_RUNNING = 2;
/** New names that wait, and names with renewals: a flood of new ones leaves these their places. */
const MAX_WAITING = 300;
const MAX_WAITING_RENEWALS = 600;
/** With the time of a DNS hook, and for its record to be visible. */
const ORDER_MS = 600_000;
const WRONG_CLOCK_PAUSE_MS = 3_600_000;
const DISK_RETRY_MS = 60_000;

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
  readonly log: Log;
  readonly clock?: Clock | undefined;
  /** From 0 to 1. */
  readonly random?: (() => number) | undefined;
}

interface Order {
  readonly name: string;
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
  /** Certificates that could not be written. */
  readonly #unwritten = new Map<string, KeyPair>();
  readonly #closing = new AbortController();
  #diskTimer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(options: AcmeIssuerOptions, state: IssueState) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#state = state;
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

  want(names: readonly string[]): readonly string[] {
    const refused = names.filter((name) => !this.#isTaken(name));
    this.#begin();
    return refused;
  }

  follow(listener: (event: IssueEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  retry(): void {
    this.#state.forgetPauses();
    for (const [name, pair] of this.#unwritten) this.#write(name, pair);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#waiting.clear();
    clearTimeout(this.#diskTimer);
    await this.written;
  }

  /** Resolves when everything so far was written, or could not be written. */
  get written(): Promise<void> {
    return Promise.all([this.#writing, this.#state.written]).then(() => {});
  }

  /** Whether the name has an order now; adds one if that is allowed. */
  #isTaken(name: string): boolean {
    if (this.#closing.signal.aborted) return false;
    if (this.#waiting.has(name) || this.#running.has(name)) return true;
    const former = this.#options.store.obtainedFor(name);
    // Another worker wanted it a moment ago.
    if (former !== undefined && this.#clock.nowMs() < renewalAtMs(former)) return false;
    if (this.#state.pauseMs(name) > 0) return false;
    const isRenewal = former !== undefined;
    if (!isRenewal && !this.#hasRoom(zoneOf(name))) {
      const fields = { hop: 'gateway', certificate: name, newInSevenDays: MAX_NEW_PER_ZONE };
      const message =
        'no certificate is ordered: its zone has had too many new ones; use a wildcard (DNS hook)';
      this.#quietLog.warn(fields, message);
      return false;
    }
    if (this.#waiting.size >= (isRenewal ? MAX_WAITING_RENEWALS : MAX_WAITING)) {
      this.#quietLog.warn(
        { hop: 'gateway', certificate: name, waiting: this.#waiting.size },
        'no certificate is ordered: too many names are waiting',
      );
      return false;
    }
    this.#waiting.set(name, { name, isRenewal });
    return true;
  }

  #hasRoom(zone: string): boolean {
    let pending = 0;
    for (const orders of [this.#waiting, this.#running])
      for (const { name, isRenewal } of orders.values())
        if (!isRenewal && zoneOf(name) === zone) pending += 1;
    return this.#state.hasRoom(zone, pending);
  }

  /** Renewals begin before new names, so that a flood of new ones lets no certificate expire. */
  #begin(): void {
    while (this.#running.size < MAX_RUNNING && this.#waiting.size > 0) {
      const orders = [...this.#waiting.values()];
      const order = orders.find(({ isRenewal }) => isRenewal) ?? orders[0]!;
      this.#waiting.delete(order.name);
      this.#running.set(order.name, order);
      void this.#run(order);
    }
  }

  async #run(order: Order): Promise<void> {
    const { name } = order;
    const event = await this.#issue(order).catch((error: unknown) => this.#failed(name, error));
    this.#running.delete(name);
    if (event !== undefined) for (const listener of this.#listeners) listener(event);
    this.#begin();
  }

  async #issue({ name, isRenewal }: Order): Promise<IssueEvent> {
    const { store, log } = this.#options;
    const served = checked(name, await this.#obtain(name));
    const certificate: KeptCertificate = { name, ...served.pair, isAutomatic: true };
    store.take([certificate]);
    this.#state.noteIssued(name, isRenewal);
    if (this.#clock.nowMs() >= renewalAtMs(served)) {
      // It would be ordered again at once, and again.
      this.#state.noteFailure(name, WRONG_CLOCK_PAUSE_MS);
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

  #failed(name: string, error: unknown): IssueEvent | undefined {
    if (this.#closing.signal.aborted) return undefined;
    const retryInMs = this.#state.noteFailure(name, retryAfterOf(error));
    const { log, remedy } = this.#options;
    const fields = { hop: 'gateway', certificate: name, cause: messageOf(error), retryInMs, remedy };
    log.error(fields, 'a certificate could not be obtained');
    return { name, outcome: 'failed', certificate: undefined };
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
