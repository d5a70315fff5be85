const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

export const SHARE_TOKEN_BYTES = 10;

/**
 * Returns the token of a share without a name: `SHARE_TOKEN_BYTES` random bytes as 16 characters, which are a
 * valid share name.
 */
export function shareTokenOf(random: Uint8Array): string {
  if (random.length !== SHARE_TOKEN_BYTES)
    throw new RangeError(`a share token requires ${SHARE_TOKEN_BYTES} bytes`);
  let text = '';
  let value = 0;
  let bits = 0;
  for (const byte of random) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(value >> bits) & 31];
    }
  }
  return text;
}
