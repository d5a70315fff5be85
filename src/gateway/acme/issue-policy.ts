/**
 * Decides when certificates are obtained: the time of a renewal, the pause after a failure, and how many new ones a
 * zone may have, so that neither shares nor handshakes can use up what a certificate authority grants. ADR 0056.
 */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The span over which new certificates are counted. */
export const COUNTED_MS = 7 * DAY_MS;
/** Certificates for names that had none, in one zone and span. Let's Encrypt grants 50 for a registered domain. */
export const MAX_NEW_PER_ZONE = 50;
/** A renewal is due after this part of the lifetime, and up to `SPREAD` of the lifetime later. */
const RENEWED_AFTER = 2 / 3;
const SPREAD = 1 / 20;
const FIRST_PAUSE_MS = MINUTE_MS;
export const LONGEST_PAUSE_MS = DAY_MS;
/** Five attempts in the first hour: Let's Encrypt grants five failed validations of a name per hour. */
const PAUSE_FACTOR = 3;
const PAUSE_JITTER = 0.2;

export interface CertificateTimes {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** SHA-256 in the form of X.509 tools. It spreads renewals, and every process computes the same time from it. */
  readonly fingerprint: string;
}

/** Unix milliseconds. */
export function renewalAtMs({ notBeforeMs, notAfterMs, fingerprint }: CertificateTimes): number {
  const part = Number.parseInt(fingerprint.slice(0, 5).replace(':', ''), 16) / 0xffff;
  return notBeforeMs + (notAfterMs - notBeforeMs) * (RENEWED_AFTER + SPREAD * part);
}

/** The time until the next attempt for a name, after so many failures in a row. `random` is from 0 to 1. */
export function pauseMs(failures: number, random: number): number {
  const plain = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * PAUSE_FACTOR ** Math.max(0, failures - 1));
  return Math.round(plain * (1 - PAUSE_JITTER + 2 * PAUSE_JITTER * random));
}

/** The zone of `name.zone` or `*.zone`. */
export function zoneOf(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}
