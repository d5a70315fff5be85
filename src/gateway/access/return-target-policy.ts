/**
 * Where a browser may be redirected after a log-in: to a path of the same host, in the reading of every browser.
 * A target that any browser could read as another host is replaced by the front page.
 */
const MAX_TARGET = 2_000;
/** Visible ASCII with exactly one leading slash, raw or encoded, and a backslash in the query only. */
const TARGET = /^\/(?!\/|%2f|%5c|%09|%0a|%0d)[!-"$->@-[\]-~]*(?:\?[!-"$-~]*)?$/i;

export function returnTarget(text: string): string {
  return text.length <= MAX_TARGET && TARGET.test(text) ? text : '/';
}
