/**
 * Which responses are compressed for which clients, and what that changes in their heads. A response that could be compressed
 * varies by `Accept-Encoding`, whether it is or not. RFC 9110 §8.4, §8.8.1, §12.5.3.
 */
import type { ContentCoding } from '#domain/upstream';
import { compareName, hasHeader, headerValue, SAME_NAME } from './header-name.ts';
import type { FieldLines } from './head-decoder.ts';
import type { ResponseHead } from './response-head-policy.ts';
import type { LineChanges } from './set-cookie-policy.ts';

/** Below this size, the headers cost more than is saved. */
const MIN_BYTES = 1_024;
const TEXT_TYPES =
  /^(?:text\/(?!event-stream)|[^/]+\/[^;]*\+(?:json|xml)\b|application\/(?:json|xml|javascript|x-javascript|ecmascript|graphql|manifest\+json|wasm|x-ndjson|rtf|sql|toml|yaml)\b|image\/(?:bmp|svg\+xml|x-icon|vnd\.microsoft\.icon)\b|font\/(?:ttf|otf)\b)/i;
/** They state something about the bytes that would be replaced. */
const BOUND_TO_BYTES = [
  'content-encoding',
  'content-range',
  'content-digest',
  'repr-digest',
  'digest',
  'content-md5',
];
const NO_CONTENT = new Set([204, 205, 206, 304]);

/** What a client and its share say about compression. */
export interface Acceptance {
  readonly method: string;
  readonly isHttp10: boolean;
  /** `Accept-Encoding` of the request. */
  readonly accepted: string;
  /** Codings of the share. */
  readonly codings: readonly ContentCoding[];
}

export interface Compressing extends LineChanges {
  /** Undefined: the body stays as it is. */
  readonly coding: ContentCoding | undefined;
}

/** Returns undefined if compression does not concern the response. */
export function compressingOf(head: ResponseHead, acceptance: Acceptance): Compressing | undefined {
  const { fields, status } = head;
  const { codings, isHttp10 } = acceptance;
  const coding = isHttp10 ? undefined : chosenCoding(acceptance.accepted, codings);
  // A cache compares the entity tag with that of the response that it has.
  if (status === 304) return coding === undefined ? undefined : { coding: undefined, ...weakened(fields) };
  if (acceptance.method === 'HEAD' || !isCompressible(head)) return undefined;
  const vary = variesByCoding(fields) ? '' : 'Vary: Accept-Encoding\r\n';
  if (coding === undefined) return { coding, omitted: [], lines: vary };
  const { omitted, lines } = weakened(fields);
  const ranges = linesOf(fields, 'accept-ranges');
  return {
    coding,
    omitted: [...omitted, ...ranges],
    lines: `${lines}${vary}Content-Encoding: ${coding}\r\n`,
  };
}

function isCompressible({ fields, status, contentLength, announcedTrailers }: ResponseHead): boolean {
  if (NO_CONTENT.has(status) || (contentLength >= 0 && contentLength < MIN_BYTES)) return false;
  // Trailers may have a digest of the bytes.
  if (announcedTrailers !== '' || BOUND_TO_BYTES.some((name) => hasHeader(fields, name))) return false;
  if (!TEXT_TYPES.test(headerValue(fields, 'content-type'))) return false;
  return !linesOf(fields, 'cache-control').some((at) =>
    /(?:^|[\s,])no-transform(?:$|[\s,;])/i.test(fields.value(at)),
  );
}

/** Returns the coding that the client weighs highest; of equal ones, the first of the share. */
export function chosenCoding(accepted: string, codings: readonly ContentCoding[]): ContentCoding | undefined {
  const weights = weightsOf(accepted);
  // No coding is used that weighs less than the body as it is.
  let best = weights.get('identity') ?? 0;
  let chosen: ContentCoding | undefined;
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0;
    if (weight > best || (weight === best && weight > 0 && chosen === undefined)) {
      best = weight;
      chosen = coding;
    }
  }
  return chosen;
}

/** A weight that is malformed counts as 0. */
function weightsOf(accepted: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const item of accepted.split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    if (name === '') continue;
    const given = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = given === undefined ? 1 : /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(given)?.[1];
    weights.set(name === 'x-gzip' ? 'gzip' : name, Number(weight ?? 0));
  }
  return weights;
}

/** The bytes of a compressed response are others, so that its entity tag is no strong one. */
function weakened(fields: FieldLines): LineChanges {
  const tags = linesOf(fields, 'etag').filter((at) => !fields.value(at).startsWith('W/'));
  return { omitted: tags, lines: tags.map((at) => `ETag: W/${fields.value(at)}\r\n`).join('') };
}

function variesByCoding(fields: FieldLines): boolean {
  return linesOf(fields, 'vary').some((at) =>
    fields
      .value(at)
      .split(',')
      .some((name) => /^(?:\*|accept-encoding)$/i.test(name.trim())),
  );
}

function linesOf(fields: FieldLines, name: string): readonly number[] {
  const found: number[] = [];
  for (let i = 0; i < fields.count; i += 1) {
    const start = fields.lineStart[i]!;
    if (fields.nameEnd[i]! - start !== name.length) continue;
    if (compareName(fields.text, start, name) === SAME_NAME) found.push(i);
  }
  return found;
}
