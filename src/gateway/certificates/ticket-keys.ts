/**
 * The keys that TLS session tickets are sealed with: derived from one secret of the gateway's start, so that all of its
 * workers resume each other's sessions, and new every twelve hours, so that none of them opens yesterday's.
 */
import { hkdfSync } from 'node:crypto';

const PERIOD_MS = 12 * 3_600_000;
/** What node's TLS takes: name, HMAC key and AES key of 16 bytes each. */
const KEY_BYTES = 48;
export const TICKET_SECRET_BYTES = 32;

/** `nowMs`: Unix milliseconds; equal for everybody who has the secret within a period. */
export function ticketKeysAt(secret: Uint8Array, nowMs: number): Buffer {
  const period = Math.floor(nowMs / PERIOD_MS);
  return Buffer.from(hkdfSync('sha256', secret, '', `frontdoor tls tickets ${period}`, KEY_BYTES));
}

/** Until the next ones. */
export function ticketKeysLastMs(nowMs: number): number {
  return PERIOD_MS - (nowMs % PERIOD_MS);
}
