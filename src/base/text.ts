// UTF-8 without the platform's types, which this part does not have, so that it stays pure.
declare const TextEncoder: new () => { encode(text: string): Uint8Array<ArrayBuffer> };
declare const TextDecoder: new (label: string) => { decode(bytes: Uint8Array): string };

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8');

/** Up to this length, a loop over the characters takes less time than a call of the encoder. */
const SHORT_CHARACTERS = 64;

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  if (!isShortAscii(text)) return encoder.encode(text);
  const bytes = new Uint8Array(text.length);
  writeAscii(bytes, 0, text);
  return bytes;
}

/** Whether `writeAscii` can write it, and does so faster than the encoder. */
export function isShortAscii(text: string): boolean {
  if (text.length > SHORT_CHARACTERS) return false;
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** Writes a text without other characters than those of ASCII. */
export function writeAscii(bytes: Uint8Array, at: number, text: string): void {
  for (let i = 0; i < text.length; i += 1) bytes[at + i] = text.charCodeAt(i);
}

/** Malformed sequences become U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
