/**
 * Random secrets that are shown once: API tokens, client secrets, session tokens, enrollment codes. All come from
 * the system's generator, and none contains a character that an Authorization header or a URL must escape.
 */
import { randomBytes } from 'node:crypto';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** 256 random bits in base64url: 43 characters of A-Z a-z 0-9 - _. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** 160 random bits as 32 base32 characters (A-Z 2-7). */
export function randomEnrollmentCode(): string {
  return base32(randomBytes(20));
}

/** RFC 4648 base32, upper case, without padding: 5 bytes make 8 characters. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(value >> bits) & 31];
    }
  }
  if (bits > 0) text += BASE32[(value << (5 - bits)) & 31];
  return text;
}
