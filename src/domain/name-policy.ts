/**
 * The form of names: of resources that people name (frontdoors, environments), and of shares, which become DNS
 * labels.
 */

const MAX_NAME_CODE_POINTS = 255;
const CONTROL = /\p{Cc}/u;
/** Half of a surrogate pair cannot be encoded as UTF-8. */
const LONE_SURROGATE = /\p{Cs}/u;
const SHARE_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const RESERVED_SHARE_NAMES: ReadonlySet<string> = new Set(['oauth', 'api', 'www']);

/**
 * Returns the name without outer spaces: 1 to 255 code points, no control characters. Undefined if it is not a
 * name.
 */
export function parseName(text: string): string | undefined {
  const name = text.trim();
  if (
    name === '' ||
    name.length > 2 * MAX_NAME_CODE_POINTS ||
    CONTROL.test(name) ||
    LONE_SURROGATE.test(name)
  ) {
    return undefined;
  }
  return [...name].length <= MAX_NAME_CODE_POINTS ? name : undefined;
}

/**
 * Accepts 1 to 63 of a-z, 0-9 and inner hyphens, except labels that gateways reserve. Existing shares may have
 * any of these.
 */
export function isShareLabel(text: string): boolean {
  return SHARE_NAME.test(text) && !RESERVED_SHARE_NAMES.has(text);
}

/**
 * Accepts names for new shares: a share label without hyphens in the third and fourth place. Those are reserved
 * (RFC 5891, 4.2.3.1): browsers display `xn--…` in letters of other scripts, which may look like another share's
 * name.
 */
export function isShareName(text: string): boolean {
  return isShareLabel(text) && !text.startsWith('--', 2);
}

/** The rule that a text breaks which is no name for a new share, for the message "Value for … must be of <rule>". */
export function shareNameRule(text: string): string {
  if (!SHARE_NAME.test(text)) return 'share name (1 to 63 of a-z, 0-9 and -, no - at either end)';
  return isShareLabel(text)
    ? 'share name without -- in the third and fourth place'
    : `share name other than ${[...RESERVED_SHARE_NAMES].join(', ')}`;
}
