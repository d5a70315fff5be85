/**
 * Where a browser may be sent after a log-in: a path of the same host, as every browser reads it. What could be taken
 * for another host, by anybody, leads to the front page instead.
 */
const MAX_TARGET = 2_000;
/** Visible ASCII; one slash first, and none, raw or encoded, behind it; a backslash in the query only. */
const TARGET = /^\/(?!\/|%2f|%5c|%09|%0a|%0d)[!-"$->@-[\]-~]*(?:\?[!-"$-~]*)?$/i;

export function returnTarget(text: string): string {
  return text.length <= MAX_TARGET && TARGET.test(text) ? text : '/';
}
