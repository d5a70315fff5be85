/**
 * The path of a request's target, as policies and settings by path read it. A path is read once, in canonical form (RFC 3986
 * §6.2.2). Servers read some paths in several ways: `pathReadings` has them all, so that no spelling leads around a setting.
 */

const UNRESERVED = /^[A-Za-z0-9._~-]$/;
/**
 * A segment that begins with two or more dots. Servers that trim spaces, semicolons or what follows read it as
 * `..`.
 */
const DOTTED = /(?:^|\/)\.\./;
/** Whole segments without special characters, with or without a slash at the end. */
const PREFIX = /^(?:\/(?:[A-Za-z0-9._~!$&'()+,=:@-]|%[0-9A-Fa-f]{2})+)*\/?$/;
/** How often a path is decoded to find its readings. */
const MAX_ROUNDS = 4;
/** In a reading: a segment that is a dot, or begins with two. Servers cut parameters and spaces off. */
const DOT_SEGMENT = /(?:^|[/\\])\.(?:\.|[\s;]*(?:[/\\]|$))/;

export function pathOfTarget(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

/** With its question mark; '' if there is none. */
export function queryOfTarget(target: string): string {
  return target.slice(pathOfTarget(target).length);
}

/** Returns `/app` in canonical form, '' for `/`, or undefined if the text is not a path of whole segments. */
export function parsePathPrefix(text: string): string | undefined {
  if (!PREFIX.test(text)) return undefined;
  const path = text === '' ? text : canonicalPath(text);
  if (path === undefined || isDoubtful(path)) return undefined;
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Whether the path is `prefix` or below it. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');
}

/**
 * Returns the ways in which servers may read the path of a target: usually the canonical form alone. Undefined if one of them
 * has a dot segment, or decoding does not end.
 */
export function pathReadings(target: string): readonly string[] | undefined {
  const path = pathOfTarget(target);
  const canonical = canonicalPath(path);
  if (canonical !== undefined && !isDoubtful(canonical)) return [canonical];
  const readings = new Set<string>();
  let text = path.replaceAll(/%[0-9A-Fa-f]{2}/g, (escape) => canonicalEscape(escape));
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const cut = text
      .replaceAll('\\', '/')
      .replaceAll(/;[^/]*/g, '')
      .replace(/[\0#].*$/s, '');
    for (const reading of [text, cut]) {
      if (DOT_SEGMENT.test(reading)) return undefined;
      readings.add(reading).add(reading.replaceAll(/\/{2,}/g, '/'));
    }
    const next = decodedPath(text);
    if (next === text) return [...readings];
    text = next;
  }
  return undefined;
}

/** Every escape as a character of one byte, overlong and wide forms included. */
export function decodedPath(path: string): string {
  return path
    .replaceAll(/%c0%af|%e0%80%af/gi, '/')
    .replaceAll(/%c0%ae|%e0%80%ae/gi, '.')
    .replaceAll(/%u00([0-9a-f]{2})|%([0-9a-f]{2})/gi, (_, wide: string | undefined, hex: string) =>
      String.fromCharCode(Number.parseInt(wide ?? hex, 16)),
    );
}

function canonicalEscape(escape: string): string {
  const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  return UNRESERVED.test(character) ? character : escape.toUpperCase();
}

/** Returns undefined if the path is ambiguous. A path without escapes is returned unchanged. */
export function canonicalPath(path: string): string | undefined {
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

/** Whether a server that decodes twice, or cuts what follows two dots, reads another path. */
export function isDoubtful(path: string): boolean {
  return path.includes('%25') || DOTTED.test(path);
}
