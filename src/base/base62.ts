const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Encodes bytes as one big-endian number in base 62 (0-9A-Za-z). 16 random bytes make an id of at most 22
 * characters.
 */
export function base62(bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let text = '';
  do {
    text = DIGITS[Number(value % 62n)] + text;
    value /= 62n;
  } while (value > 0n);
  return text;
}
