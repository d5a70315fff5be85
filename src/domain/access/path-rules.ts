/**
 * Paths that need no identity. A path is read once, in canonical form (RFC 3986 §6.2.2: escapes of unreserved
 * characters are decoded, others are in upper case). A path that servers read in several ways is `ambiguous`, and
 * one that a lenient server could take for another path is never `public`. The query is not part of a path.
 */
import { canonicalPath, isDoubtful, pathOfTarget } from '../request-path.ts';

/** `ambiguous` is reported only if there are public paths, because otherwise all paths have the same requirement. */
export type PathKind = 'public' | 'guarded' | 'ambiguous';

const MAX_PATTERN = 1_024;
/** Gateways answer these paths themselves. */
const RESERVED = '/.frontdoor';
/** Path characters without special meaning: unreserved characters and sub-delims without `;`, plus `:` and `@`. */
const PATTERN =
  /^\/(?:(?:[A-Za-z0-9._~!$&'()+,=:@-]|%[0-9A-Fa-f]{2})+\/)*(?:(?:[A-Za-z0-9._~!$&'()+,=:@-]|%[0-9A-Fa-f]{2})+|\*)?$/;
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
    const path = canonicalPath(pathOfTarget(target));
    if (path === undefined) return 'ambiguous';
    const isOpen = this.#exact.has(path) || this.#prefixes.some((prefix) => path.startsWith(prefix));
    return isOpen && !isReserved(path) && !isDoubtful(path) ? 'public' : 'guarded';
  }
}

/** Whether gateways answer the path themselves where people can log in. `path` has no query. */
export function isReserved(path: string): boolean {
  return path.startsWith(RESERVED) && (path.length === RESERVED.length || path[RESERVED.length] === '/');
}
