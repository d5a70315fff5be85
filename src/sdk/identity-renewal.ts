/**
 * Renews an identity's certificate: after two thirds of its lifetime, or when the control plane asks for it (ADR 0062), a new
 * key is made, certified with the old certificate, written to the identity file and used. Failures are retried until it
 * works. Before that, and every hour, it takes over the authorities that the control plane trusts.
 */
import { X509Certificate } from 'node:crypto';
import { BackOff, messageOf, systemClock, type Clock, type Log } from '#base';
import { certificatesOfPem } from '#net';
import { saveIdentityFile } from '#net/files';
import { makeKeyRequest } from './certificate-signing.ts';
import type { EdgeApiClient } from './edge-api-client.ts';

/** Longer waits are split, because timers are limited and clocks can be set. */
const LONGEST_WAIT_MS = 3_600_000;
const FIRST_RETRY_MS = 60_000;
/** Authorities may have changed while the program was not running. */
const FIRST_CHECK_MS = 5_000;
/** Clients notice at the same moment that the authorities changed, and check within this time. */
const SPREAD_MS = 60_000;

export interface IdentityRenewalOptions {
  readonly client: Pick<
    EdgeApiClient,
    | 'identity'
    | 'extendIdentity'
    | 'useIdentity'
    | 'session'
    | 'changedAuthorities'
    | 'isRenewalRequested'
    | 'onAuthoritiesChange'
  >;
  /** Path of the identity file. */
  readonly path: string;
  readonly log: Log;
  readonly clock?: Clock | undefined;
  /** From 0 to below 1. */
  readonly random?: (() => number) | undefined;
}

export class IdentityRenewal {
  readonly #client: IdentityRenewalOptions['client'];
  readonly #path: string;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #backOff = new BackOff({ minMs: FIRST_RETRY_MS, maxMs: LONGEST_WAIT_MS, factor: 2 });
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #running: Promise<boolean> | undefined;
  /** Whether the next check comes early, because the authorities changed. */
  #isHurried = false;

  constructor({ client, path, log, clock = systemClock, random = Math.random }: IdentityRenewalOptions) {
    this.#client = client;
    this.#path = path;
    this.#log = log;
    this.#clock = clock;
    client.onAuthoritiesChange(() => {
      if (!this.#isHurried) this.#plan(random() * SPREAD_MS);
      this.#isHurried = true;
    });
    this.#plan(Math.min(FIRST_CHECK_MS, this.#nextCheckMs()));
  }

  /**
   * Takes over changed authorities, and renews now if that is due. Resolves to true if a new certificate is in use.
   * Rejects with the error of the edge API or the disk.
   */
  check(): Promise<boolean> {
    this.#running ??= this.#renewIfDue().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #renewIfDue(): Promise<boolean> {
    const client = this.#client;
    const isDue = this.#clock.nowMs() >= renewalAtMs(client.identity.certPem);
    try {
      await this.#takeOverAuthorities();
      if (!isDue && !(await client.isRenewalRequested())) return false;
    } catch (error) {
      // Some other control plane of OpenZiti may not answer these questions.
      this.#log.debug({ error: messageOf(error) }, 'the state of the authorities is not known');
      if (!isDue) return false;
    }
    const identity = client.identity;
    const { keyPem, csrPem } = await makeKeyRequest(commonNameOf(identity.certPem));
    const certPem = await client.extendIdentity(csrPem);
    const renewed = { ...identity, keyPem, certPem };
    // The file is written first, because the old certificate is invalid once the new one was used.
    await saveIdentityFile(this.#path, renewed);
    client.useIdentity(renewed);
    await client.session();
    this.#log.info({ until: new X509Certificate(certPem).validTo }, 'certificate renewed');
    return true;
  }

  async #takeOverAuthorities(): Promise<void> {
    const client = this.#client;
    const caPem = await client.changedAuthorities();
    if (caPem === undefined) return;
    const changed = { ...client.identity, caPem };
    await saveIdentityFile(this.#path, changed);
    client.useIdentity(changed);
    const subjects = certificatesOfPem(caPem).map(({ subject }) => subject);
    this.#log.info({ authorities: subjects }, 'the authorities of the control plane changed');
  }

  #plan(waitMs: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isHurried = false;
      this.check().then(
        () => {
          this.#backOff.reset();
          this.#plan(this.#nextCheckMs());
        },
        (error: unknown) => {
          const retryMs = this.#backOff.next();
          this.#log.warn({ error: messageOf(error), retryMs }, 'certificate could not be renewed');
          this.#plan(retryMs);
        },
      );
    }, waitMs);
    this.#timer.unref();
  }

  #nextCheckMs(): number {
    const dueMs = renewalAtMs(this.#client.identity.certPem) - this.#clock.nowMs();
    return Math.min(LONGEST_WAIT_MS, Math.max(1_000, dueMs));
  }
}

/** Two thirds of a certificate's lifetime, in Unix milliseconds. */
export function renewalAtMs(certPem: string): number {
  const leaf = new X509Certificate(certPem);
  const fromMs = Date.parse(leaf.validFrom);
  return fromMs + ((Date.parse(leaf.validTo) - fromMs) * 2) / 3;
}

function commonNameOf(certPem: string): string {
  return /^CN=(.+)$/m.exec(new X509Certificate(certPem).subject)?.[1] ?? 'identity';
}
