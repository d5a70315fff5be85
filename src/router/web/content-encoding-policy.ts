/** Selects the encoding of a response by the client's `Accept-Encoding` (RFC 9110 §12.5.3). */
export type ContentEncoding = 'gzip' | 'br' | 'deflate';

/** The order of preference among encodings with equal weight: the cheapest first. */
const OURS: readonly ContentEncoding[] = ['gzip', 'deflate', 'br'];
/** Maximum number of encodings in the header that are considered. */
const MAX_HEADER_CHARS = 1_024;

/** Returns undefined for no encoding. */
export function contentEncodingFor(acceptEncoding: string | undefined): ContentEncoding | undefined {
  if (acceptEncoding === undefined || acceptEncoding.length > MAX_HEADER_CHARS) return undefined;
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = q === undefined ? 1 : Number(q.slice(2));
    if (name !== '') weights.set(name, Number.isNaN(weight) ? 0 : weight);
  }
  const weightOf = (name: ContentEncoding): number => weights.get(name) ?? weights.get('*') ?? 0;
  const best = OURS.toSorted((a, b) => weightOf(b) - weightOf(a))[0]!;
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined;
}
