/**
 * Paths that need no identity. A path is read once, in canonical form (RFC 3986 §6.2.2: escapes of unreserved
 * characters are decoded, others are in upper case). A path that servers read in several ways is `ambiguous`, and
 * one that a lenient server could take for another path is never `public`. The query is not part of a path.
 */

/** `ambiguous` is reported only if there are public paths, because otherwise all paths have the same requirement. */
export type PathKind = 'public' | 'guarded' | 'ambiguous';

const MAX_PATTERN = 1_024;
/** Gateways answer these paths themselves. */
const RESERVED = '/.frontdoor';
/** Path characters without special meaning: unreserved characters and sub-delims without `;`, plus `:` and `@`. */
const PATTERN =
  /^\/(?:(?:[A-Za-z0-9._~!$&'()+,=:@-]|%[0-9A-Fa-f]{2})+\/)*(?:(?:[A-Za-z0-9._~!$&'()+,=:@-]|%[0-9A-Fa-f]{2})+|\*)?$/;
const UNRESERVED = /^[A-Za-z0-9._~-]$/;
/**
 * A segment that begins with two or more dots. Servers that trim spaces, semicolons or what follows read it as
 * `..`.
 */
const DOTTED = /(?:^|\/)\.\./;

/** Returns `/health` or `/static/*` in canonical form, or undefined if the text is no such pattern. */
export function parsePathPattern(text: string): string | undefined {
  if (text.length > MAX_PATTERN || !PATTERN.test(text)) return undefined;
  const path = canonicalPath(text);
  if (path === undefined || isReserved(path) || isDoubtful(path)) return undefined;
  return path;
}

export class PathRules {
  readonly #exact = new Set<string>();
  readonly #prefixes: string[] = [];
  readonly #any: boolean;

  constructor(patterns: readonly string[]) {
    for (const pattern of patterns) {
      const path = parsePathPattern(pattern);
      if (path === undefined) continue;
      if (path.endsWith('/*')) this.#prefixes.push(path.slice(0, -1));
      else this.#exact.add(path);
    }
    this.#any = patterns.length > 0;
  }

  /** `target` is a request's target in origin form, as received and forwarded. */
  kind(target: string): PathKind {
    if (!this.#any) return 'guarded';
    const query = target.indexOf('?');
    const path = canonicalPath(query === -1 ? target : target.slice(0, query));
    if (path === undefined) return 'ambiguous';
    const isOpen = this.#exact.has(path) || this.#prefixes.some((prefix) => path.startsWith(prefix));
    return isOpen && !isReserved(path) && !isDoubtful(path) ? 'public' : 'guarded';
  }
}

/** Returns undefined if the path is ambiguous. A path without escapes is returned unchanged. */
function canonicalPath(path: string): string | undefined {
  if (path === '*') return path;
  if (path.charCodeAt(0) !== SLASH) return undefined;
  let start = 1;
  let hasEscapes = false;
  for (let i = 1; i <= path.length; i += 1) {
    const code = i === path.length ? SLASH : path.charCodeAt(i);
    if (code === SLASH) {
      const length = i - start;
      // Refuses empty segments except the last one, and segments of one or two dots.
      if (length === 0 && i < path.length) return undefined;
      if (length > 0 && length < 3 && path.charCodeAt(start) === DOT && path.charCodeAt(i - 1) === DOT)
        return undefined;
      start = i + 1;
    } else if (code === PERCENT) hasEscapes = true;
    // Refuses control characters and space, `#`, `;`, backslash, and non-ASCII characters.
    else if (code < 0x21 || code > 0x7e || code === 0x23 || code === 0x3b || code === 0x5c) return undefined;
  }
  return hasEscapes ? withoutEscapes(path) : path;
}

const SLASH = 0x2f;
const DOT = 0x2e;
const PERCENT = 0x25;

/**
 * Returns undefined for a malformed escape, an escaped character that would be refused, or bytes that are not
 * UTF-8.
 */
function withoutEscapes(path: string): string | undefined {
  let canonical = '';
  let from = 0;
  let followers = 0;
  for (let at = path.indexOf('%'); at !== -1; at = path.indexOf('%', at + 1)) {
    const hex = path.slice(at + 1, at + 3);
    if (!/^[0-9A-Fa-f]{2}$/.test(hex)) return undefined;
    if (followers > 0 && at !== from) return undefined;
    const byte = Number.parseInt(hex, 16);
    if (followers > 0) {
      if ((byte & 0xc0) !== 0x80) return undefined;
      followers -= 1;
    } else if (byte > 0x7f) {
      followers = followersOf(byte);
      if (followers === 0 || isOverlong(byte, Number.parseInt(path.slice(at + 4, at + 6), 16)))
        return undefined;
    } else if (byte < 0x20 || byte === 0x7f || '/\\.;'.includes(String.fromCharCode(byte))) return undefined;
    const character = String.fromCharCode(byte);
    canonical += path.slice(from, at);
    canonical += UNRESERVED.test(character) ? character : `%${hex.toUpperCase()}`;
    from = at + 3;
    at += 2;
  }
  return followers > 0 ? undefined : canonical + path.slice(from);
}

/** Returns how many bytes follow the first byte of a UTF-8 character; 0 if the byte starts none. */
function followersOf(byte: number): number {
  if (byte >= 0xc2 && byte <= 0xdf) return 1;
  if (byte >= 0xe0 && byte <= 0xef) return 2;
  return byte >= 0xf0 && byte <= 0xf4 ? 3 : 0;
}

/** Whether the second byte shows an overlong form, a surrogate, or a value beyond Unicode. */
function isOverlong(first: number, second: number): boolean {
  if (first === 0xe0) return second < 0xa0;
  if (first === 0xed) return second > 0x9f;
  if (first === 0xf0) return second < 0x90;
  return first === 0xf4 && second > 0x8f;
}

/** Whether gateways answer the path themselves where people can log in. `path` has no query. */
export function isReserved(path: string): boolean {
  return path.startsWith(RESERVED) && (path.length === RESERVED.length || path[RESERVED.length] === '/');
}

/** Whether a server that decodes twice, or cuts what follows two dots, reads another path. */
function isDoubtful(path: string): boolean {
  return path.includes('%25') || DOTTED.test(path);
}
