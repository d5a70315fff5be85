/**
 * Which trailers of chunked bodies are passed on, and how they are announced. Some recipients merge trailers into the headers, so
 * that no name may have a meaning for framing, routing, authentication, caching or the reading of the content.
 * RFC 9110 §6.5.
 */
import { fieldCode, OTHER } from './field-name-table.ts';
import { FieldLines } from './head-decoder.ts';
import type { HeaderRuleSet } from './header-changes.ts';

/** More trailers make a body malformed. */
export const MAX_TRAILERS = 64;
/** The names and values of all trailers of a body. */
export const MAX_TRAILER_BYTES = 16_384;
const MAX_ANNOUNCED = 32;

const REFUSED_PREFIXES = [
  ...[
    'content-',
    'accept',
    'access-control-',
    'if-',
    'proxy-',
    'sec-',
    'x-http-method',
    'x-frame-',
    'x-api-',
  ],
];

const REFUSED: ReadonlySet<string> = new Set([
  ...[
    'age',
    'allow',
    'alt-svc',
    'authentication-info',
    'cache-control',
    'clear-site-data',
    'date',
    'early-data',
  ],
  ...['expires', 'location', 'max-forwards', 'origin', 'pragma', 'priority', 'range', 'referer', 'refresh'],
  ...[
    'retry-after',
    'set-cookie',
    'set-cookie2',
    'set-login',
    'strict-transport-security',
    'vary',
    'via',
    'warning',
  ],
  ...['user-agent', 'www-authenticate', 'x-method-override', 'x-requested-with'],
  ...['public-key-pins', 'referrer-policy', 'permissions-policy', 'cross-origin-opener-policy'],
]);

/** Scratch object: valid during one call. */
const scratch = new FieldLines();

function isPassed(name: string): boolean {
  // Credentials and headers that gateways set have a code.
  if (fieldCode(name, 0, name.length) !== OTHER) return false;
  const folded = name.toLowerCase().replaceAll('_', '-');
  return !REFUSED.has(folded) && !REFUSED_PREFIXES.some((prefix) => folded.startsWith(prefix));
}

/**
 * Returns the lines that are passed on. `text` has the lines of a decoded body; `rules` are those for its heads. `isCall`: the body
 * is a response of gRPC, whose readers keep trailers apart from headers, so that a service may give them any name of its own.
 */
export function passingTrailers(text: string, rules: HeaderRuleSet | undefined, isCall = false): string {
  if (text === '' || scratch.decode(`${text}\r\n`, 0, MAX_TRAILERS) !== undefined) return '';
  const removed = rules?.removedFrom(scratch) ?? [];
  let lines = '';
  for (let i = 0; i < scratch.count; i += 1) {
    const name = scratch.name(i);
    const isKept = isCall ? scratch.code[i] === OTHER : isPassed(name);
    if (isKept && !removed.includes(i)) lines += `${name}: ${scratch.value(i)}\r\n`;
  }
  return lines;
}

/** Returns the `Trailer` line of a head for the names that its sender announced, or ''. */
export function announcingLine(announced: string): string {
  if (announced === '') return '';
  const names = announced.split(',', MAX_ANNOUNCED + 1).map((name) => name.trim());
  if (names.length > MAX_ANNOUNCED) return '';
  const passing = names.filter((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && isPassed(name));
  return passing.length === 0 ? '' : `Trailer: ${passing.join(', ')}\r\n`;
}

/** Whether a `TE` header accepts trailers. */
export function acceptsTrailers(te: string): boolean {
  return te.split(',').some((coding) => coding.trim().toLowerCase() === 'trailers');
}
