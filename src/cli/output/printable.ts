/** Text that others chose, made harmless for a terminal: no control characters, no reversed writing. */

const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu;

export function printable(text: string): string {
  return text.replaceAll(UNSAFE, '\uFFFD');
}
