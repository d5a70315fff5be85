/** Removes control characters and bidirectional overrides from untrusted text, so that it is harmless on a terminal. */

const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu;

export function printable(text: string): string {
  return text.replaceAll(UNSAFE, '\uFFFD');
}
