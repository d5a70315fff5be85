/** How a recorded body is shown: formatted JSON, the fields of a form, text, an image, or its bytes. Pure. */

export type BodyView =
  | { readonly kind: 'json' | 'text' | 'hex'; readonly text: string }
  | { readonly kind: 'form'; readonly fields: readonly (readonly [string, string])[] }
  | { readonly kind: 'image'; readonly type: string };

/** Images that browsers decode without running anything in them; SVG is shown as text. */
const IMAGES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
]);
const HEX_COLUMNS = 16;
/** More lines would slow the page down. */
const MAX_HEX_BYTES = 16_384;

export function bytesOfBase64(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

export function base64OfText(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

/** `type`: the value of `Content-Type`. */
export function bodyView(bytes: Uint8Array, type: string, isEncoded: boolean): BodyView {
  const media = type.split(';')[0]!.trim().toLowerCase();
  if (isEncoded) return { kind: 'hex', text: hexOf(bytes) };
  if (IMAGES.has(media)) return { kind: 'image', type: media };
  const text = textOf(bytes);
  if (text === undefined) return { kind: 'hex', text: hexOf(bytes) };
  if (media === 'application/x-www-form-urlencoded')
    return { kind: 'form', fields: [...new URLSearchParams(text)] };
  if (media === 'application/json' || media.endsWith('+json'))
    return { kind: 'json', text: formattedJson(text) };
  return { kind: 'text', text };
}

/** Undefined for bytes that are no text. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // Text has none of these.
    // oxlint-disable-next-line no-control-regex
    return /[\0-\x08\x0E-\x1A]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** A body that was cut off is no JSON now; it is shown as it is. */
function formattedJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** `00000010  48 65 6c 6c 6f  Hello`. */
function hexOf(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, MAX_HEX_BYTES); at += HEX_COLUMNS) {
    const row = [...bytes.subarray(at, at + HEX_COLUMNS)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const shown = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${hex.padEnd(HEX_COLUMNS * 3 - 1)}  ${shown}`);
  }
  if (bytes.length > MAX_HEX_BYTES) lines.push('…');
  return lines.join('\n');
}
