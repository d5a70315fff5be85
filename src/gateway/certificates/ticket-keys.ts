/**
 * The keys for TLS session tickets. They are derived from a secret that is made at the gateway's start, so that
 * all workers resume each other's sessions, and change every twelve hours, so that a key decrypts no old tickets.
 */
import { hkdfSync } from 'node:crypto';

const PERIOD_MS = 12 * 3_600_000;
/** Node's TLS takes a name, an HMAC key and an AES key of 16 bytes each. */
const KEY_BYTES = 48;
export const TICKET_SECRET_BYTES = 32;

/** `nowMs` is in Unix milliseconds. All processes with the secret derive equal keys within a period. */
export function ticketKeysAt(secret: Uint8Array, nowMs: number): Buffer {
  const period = Math.floor(nowMs / PERIOD_MS);
  return Buffer.from(hkdfSync('sha256', secret, '', `frontdoor tls tickets ${period}`, KEY_BYTES));
}

/** Milliseconds until the next keys. */
export function ticketKeysLastMs(nowMs: number): number {
  return PERIOD_MS - (nowMs % PERIOD_MS);
}
