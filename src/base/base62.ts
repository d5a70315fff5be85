const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const DIGITS_PER_DIVISION = 5;
const DIVISOR = 62 ** DIGITS_PER_DIVISION;

/**
 * Encodes bytes as one big-endian number in base 62 (0-9A-Za-z). 16 random bytes make an id of at most 22
 * characters. Each long division by `DIVISOR` yields five digits; a BigInt takes more than twice as long.
 */
export function base62(bytes: Uint8Array): string {
  const quotient: number[] = [];
  for (let i = bytes.length % 2 === 0 ? 0 : -1; i < bytes.length; i += 2)
    quotient.push(((bytes[i] ?? 0) << 8) | bytes[i + 1]!);
  let text = '';
  let first = 0;
  do {
    let rest = 0;
    for (let i = first; i < quotient.length; i += 1) {
      const value = rest * 65_536 + quotient[i]!;
      rest = value % DIVISOR;
      quotient[i] = (value - rest) / DIVISOR;
    }
    while (quotient[first] === 0) first += 1;
    const isLast = first === quotient.length;
    for (let i = 0; i < DIGITS_PER_DIVISION && (!isLast || rest > 0); i += 1) {
      text = DIGITS[rest % 62]! + text;
      rest = Math.floor(rest / 62);
    }
  } while (first < quotient.length);
  return text || DIGITS[0]!;
}
