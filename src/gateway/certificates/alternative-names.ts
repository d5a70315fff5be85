/** Reads the subject alternative names of a certificate from Node's text form, which is one line with quoting. */
import type { X509Certificate } from 'node:crypto';

const ENTRY = /([^:,]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/y;

/** Returns the values of one type (`DNS`, `email`) in order. Returns none if the line cannot be read to its end. */
export function alternativeNames(
  { subjectAltName }: Pick<X509Certificate, 'subjectAltName'>,
  type: 'DNS' | 'email',
  max: number,
): string[] {
  const line = subjectAltName ?? '';
  const found: string[] = [];
  ENTRY.lastIndex = 0;
  while (ENTRY.lastIndex < line.length) {
    const match = ENTRY.exec(line);
    if (match === null) return [];
    const [, kind, value] = match as unknown as [string, string, string];
    if (kind !== type || found.length >= max) continue;
    try {
      found.push(value.startsWith('"') ? String(JSON.parse(value)) : value);
    } catch {
      return [];
    }
  }
  return found;
}
