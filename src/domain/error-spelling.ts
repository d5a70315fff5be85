/**
 * How codes are spelled for callers. Inside, a code is words joined by hyphens; the Management API and the audit trail
 * join them by underscores, and the edge API, like OpenZiti, writes them in capitals.
 */

/** Codes that callers know by an older word. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  'body-timeout': 'timeout',
  'server-silent': 'no_answer',
};

/** `store-unavailable` as `store_unavailable`. */
export function apiSpelling(code: string): string {
  return OTHER_WORDS[code] ?? code.replaceAll('-', '_');
}

/** `store-unavailable` as `STORE_UNAVAILABLE`. */
export function edgeSpelling(code: string): string {
  return apiSpelling(code).toUpperCase();
}
