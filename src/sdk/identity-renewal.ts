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

export interface IdentityRenewal {
  /**
   * Takes over changed authorities, and renews now if that is due. Resolves to true if a new certificate is in use.
   * Rejects with the error of the edge API or the disk.
   */
  check(): Promise<boolean>;
  close(): void;
}

export function startIdentityRenewal(options: IdentityRenewalOptions): IdentityRenewal {
  const { client, path, log, random = Math.random } = options;
  const clock = options.clock ?? systemClock;
  const backOff = new BackOff({ minMs: FIRST_RETRY_MS, maxMs: LONGEST_WAIT_MS, factor: 2 });
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let running: Promise<boolean> | undefined;
  /** Whether the next check comes early, because the authorities changed. */
  let isHurried = false;

  async function renewIfDue(): Promise<boolean> {
    const isDue = clock.nowMs() >= renewalAtMs(client.identity.certPem);
    try {
      await takeOverAuthorities();
      if (!isDue && !(await client.isRenewalRequested())) return false;
    } catch (error) {
      // Some other control plane of OpenZiti may not answer these questions.
      log.debug({ error: messageOf(error) }, 'the state of the authorities is not known');
      if (!isDue) return false;
    }
    const identity = client.identity;
    const { keyPem, csrPem } = await makeKeyRequest(commonNameOf(identity.certPem));
    const certPem = await client.extendIdentity(csrPem);
    const renewed = { ...identity, keyPem, certPem };
    // The file is written first, because the old certificate is invalid once the new one was used.
    await saveIdentityFile(path, renewed);
    client.useIdentity(renewed);
    await client.session();
    log.info({ until: new X509Certificate(certPem).validTo }, 'certificate renewed');
    return true;
  }

  function check(): Promise<boolean> {
    running ??= renewIfDue().finally(() => {
      running = undefined;
    });
    return running;
  }

  async function takeOverAuthorities(): Promise<void> {
    const caPem = await client.changedAuthorities();
    if (caPem === undefined) return;
    const changed = { ...client.identity, caPem };
    await saveIdentityFile(path, changed);
    client.useIdentity(changed);
    const subjects = certificatesOfPem(caPem).map(({ subject }) => subject);
    log.info({ authorities: subjects }, 'the authorities of the control plane changed');
  }

  function plan(waitMs: number): void {
    if (closed) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      isHurried = false;
      check().then(
        () => {
          backOff.reset();
          plan(nextCheckMs());
        },
        (error: unknown) => {
          const retryMs = backOff.next();
          log.warn({ error: messageOf(error), retryMs }, 'certificate could not be renewed');
          plan(retryMs);
        },
      );
    }, waitMs);
    timer.unref();
  }

  function nextCheckMs(): number {
    const dueMs = renewalAtMs(client.identity.certPem) - clock.nowMs();
    return Math.min(LONGEST_WAIT_MS, Math.max(1_000, dueMs));
  }

  client.onAuthoritiesChange(() => {
    if (!isHurried) plan(random() * SPREAD_MS);
    isHurried = true;
  });
  plan(Math.min(FIRST_CHECK_MS, nextCheckMs()));
  return {
    check,
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
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
