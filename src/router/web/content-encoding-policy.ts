/** Which encoding of an answer a client takes, by its `Accept-Encoding` (RFC 9110 §12.5.3). */
export type ContentEncoding = 'gzip' | 'br' | 'deflate';

/** Among those that a client likes equally: the cheapest first. */
const OURS: readonly ContentEncoding[] = ['gzip', 'deflate', 'br'];
/** No client names more. */
const MAX_HEADER_CHARS = 1_024;

/** Undefined: as it is. */
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
