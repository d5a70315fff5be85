/** Text of other parties, made harmless on a terminal: without control characters and bidirectional overrides. */

const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu;

export function printable(text: string): string {
  return text.replaceAll(UNSAFE, '\uFFFD');
}
