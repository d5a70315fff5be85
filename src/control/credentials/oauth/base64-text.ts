/** Decodes standard base64 of visible ASCII, padded or not. Returns undefined for anything else. */
export function textOfBase64(text: string): string | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64').replace(/=+$/, '') !== text.replace(/=+$/, '')) return undefined;
  const decoded = bytes.toString('latin1');
  return /^[\x21-\x7e]+$/.test(decoded) ? decoded : undefined;
}
