/**
 * Regular expressions of the formats, as texts without anchors. ECMA-262, Python's `re` and Java read them alike:
 * they use no lookbehind, no Unicode property classes and no flags. `format-table.test.ts` checks each of them
 * against the parser in `domain`.
 */
import { BACKEND_MODE_TABLE, type BackendModeRow } from '#domain';

/** Matches decimal numbers from 1 to `most`, without leading zeros. */
export function numberUpTo(most: number): string {
  const digits = String(most);
  const shorter = digits.length === 1 ? [] : [`[1-9][0-9]{0,${digits.length - 2}}`];
  const sameLength = [...digits].flatMap((digit, at) => {
    const least = at === 0 ? 1 : 0;
    const below = Number(digit) - 1;
    if (below < least) return [];
    const rest = digits.length - at - 1;
    return [`${digits.slice(0, at)}[${least}-${below}]${rest === 0 ? '' : `[0-9]{${rest}}`}`];
  });
  return `(?:${[digits, ...sameLength, ...shorter].join('|')})`;
}

const OCTET = `(?:0|${numberUpTo(255)})`;
export const IPV4 = `(?:${OCTET}\\.){3}${OCTET}`;

const GROUP = '[0-9A-Fa-f]{1,4}';
/** Eight groups, or fewer with one `::`. The last two groups may be written as an IPv4 address. */
export const IPV6 = ipv6();

function ipv6(): string {
  const forms = [`(?:${GROUP}:){7}${GROUP}`, `(?:${GROUP}:){6}${IPV4}`];
  for (let before = 0; before <= 7; before += 1) {
    const left = before === 0 ? '' : `${GROUP}(?::${GROUP}){${before - 1}}`;
    const right = before === 7 ? '' : `(?:${GROUP}(?::${GROUP}){0,${6 - before}})?`;
    forms.push(`${left}::${right}`);
    if (before <= 5) forms.push(`${left}::(?:${GROUP}:){0,${5 - before}}${IPV4}`);
  }
  return `(?:${forms.join('|')})`;
}

/** An IPv4-mapped IPv6 address: its first 80 bits are zero, the next 16 are ones. */
const MAPPED =
  `(?:(?:0{1,4}:){5}[Ff]{4}:[0-9A-Fa-f:.]+` +
  `|(?:0{1,4}(?::0{1,4})*)?::(?:0{1,4}:)*[Ff]{4}:(?:${GROUP}:${GROUP}|${IPV4}))`;

/** An address or a network. The prefix length of a mapped address is at least 96. */
export const IP_NETWORK =
  `(?:${IPV4}(?:/(?:0|${numberUpTo(32)}))?` +
  `|(?!${MAPPED}/(?:[0-9]|[1-8][0-9]|9[0-5])$)${IPV6}(?:/(?:0|${numberUpTo(128)}))?)`;

const DNS_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
export const DNS_NAME = `(?:${DNS_LABEL}\\.)*${DNS_LABEL}`;
/** A name must not end in a number, because browsers and resolvers read such a name as an IPv4 address. */
const NO_NUMBER = '(?!(?:[0-9]+|0[Xx][0-9A-Fa-f]*)(?:[:/]|$))';
/** A DNS name of two labels or more. */
export const ZONE_NAME = `(?:${DNS_LABEL}\\.)+${NO_NUMBER}${DNS_LABEL}`;

const HOST_LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
/** A name of at most 253 characters, an IPv4 address, or an IPv6 address in brackets. */
export const HOST = `(?:(?![^:/]{254})(?:${HOST_LABEL}\\.)*${NO_NUMBER}${HOST_LABEL}|${IPV4}|\\[${IPV6}\\])`;
/** At most five digits. */
export const PORT = `(?![0-9]{6})0*${numberUpTo(65_535)}`;

/** `preserve` and `target` have the form of a name. */
export const UPSTREAM_HOST = `${HOST}(?::${PORT})?`;

/** One byte of a sequence of UTF-8 after its first, percent-encoded. */
const NEXT = '%[89ABab][0-9A-Fa-f]';
/** A character, percent-encoded where it must be. Control characters, `.` and `/` are not encoded. */
const PATH_CHARACTER = [
  "[A-Za-z0-9._~!$&'()*+,;=:@-]",
  '%(?:2[0-9A-Da-d]|[3-6][0-9A-Fa-f]|7[0-9A-Ea-e])',
  `%(?:[Cc][2-9A-Fa-f]|[Dd][0-9A-Fa-f])${NEXT}`,
  `%[Ee](?:0%[ABab][0-9A-Fa-f]|[Dd]%[89][0-9A-Fa-f]|[1-9A-Ca-cEeFf]${NEXT})${NEXT}`,
  `%[Ff](?:0%[9ABab][0-9A-Fa-f]|4%8[0-9A-Fa-f]|[1-3]${NEXT})${NEXT}${NEXT}`,
].join('|');
const FOLDER = `(?:/(?!\\.\\.?(?:[/?]|$))(?:${PATH_CHARACTER})+)+/?`;

const CONTINUATION = '%[89ABab][0-9A-Fa-f]';
/**
 * Escapes of one ASCII character, except those that servers interpret differently (`%25`, `%2E`, `%2F`, `%3B`,
 * `%5C`).
 */
const ESCAPE = '%2[0-46-9A-Da-d]|%3[0-9AC-Fac-f]|%[46][0-9A-Fa-f]|%5[0-9ABD-Fabd-f]|%7[0-9A-Ea-e]';
/** Escapes of a non-ASCII character in UTF-8. */
const ESCAPES =
  `%(?:[Cc][2-9A-Fa-f]|[Dd][0-9A-Fa-f])${CONTINUATION}` +
  `|%[Ee]0%[ABab][0-9A-Fa-f]${CONTINUATION}` +
  `|%[Ee](?:[1-9A-Ca-cEFef])(?:${CONTINUATION}){2}` +
  `|%[Ee][Dd]%[89][0-9A-Fa-f]${CONTINUATION}` +
  `|%[Ff]0%[9ABab][0-9A-Fa-f](?:${CONTINUATION}){2}` +
  `|%[Ff][1-3](?:${CONTINUATION}){3}` +
  `|%[Ff]4%8[0-9A-Fa-f](?:${CONTINUATION}){2}`;
const SEGMENT = `(?!\\.(?:[./]|$))(?:[A-Za-z0-9._~!$&'()+,=:@-]|${ESCAPE}|${ESCAPES})+`;
const PATH_PREFIX = `(?:/${SEGMENT})*/?`;

/** A target of each scheme of each backend mode. */
export const SHARE_TARGET = `(?:${Object.values(BACKEND_MODE_TABLE).flatMap(targetsOf).join('|')})`;

function targetsOf({ schemes, names, options = {}, speaks }: BackendModeRow): string[] {
  return Object.entries(schemes).map(([scheme, port]) => {
    const caseless = scheme.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
    if (names === 'folder') return `${caseless}://${FOLDER}${optionsOf(Object.keys(options))}`;
    return `${caseless}://${HOST}${port === undefined ? `:${PORT}` : `(?::${PORT})?`}${speaks === 'http' ? PATH_PREFIX : '/?'}`;
  });
}

/** Any of the options, in their order, each once. */
function optionsOf(options: readonly string[]): string {
  const chosen = options.reduce<string[][]>(
    (all, one) => [...all, ...all.map((some) => [...some, one])],
    [[]],
  );
  return `(?:\\?(?:${chosen
    .filter(({ length }) => length > 0)
    .map((some) => some.join('&'))
    .join('|')}))?`;
}

const ATOM = "[A-Za-z0-9!#$%&'+/=?^_`{|}~-]+";
/** A local part, or a star for every address of the domain; then `@` and the domain. */
export const EMAIL_PATTERN = `(?![^@]{65})(?:\\*|${ATOM}(?:\\.${ATOM})*)@(?!.{254})${DNS_NAME}`;
export const EVERYBODY_OF = `\\*@(?!.{254})${DNS_NAME}`;

export const NOT_CONTROL = '[^\\u0000-\\u001f\\u007f-\\u009f]';
/** Characters that are trimmed at both ends of a name. */
const SPACES = '\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';

/** Matches 1 to 255 characters between outer spaces, without control characters and the characters in `except`. */
export function nameWithout(except: string): string {
  const inner = `[^${except}\\u0000-\\u001f\\u007f-\\u009f]`;
  const outer = `[^${except}${SPACES}\\u0000-\\u001f\\u007f-\\u009f]`;
  return `[${SPACES}]*${outer}(?:${inner}{0,253}${outer})?[${SPACES}]*`;
}

/** `/.frontdoor`, with its letters escaped or not. Gateways answer requests for it themselves. */
const RESERVED = `\\.${[...'frontdoor']
  .map(
    (letter) =>
      `(?:${letter}|%${letter
        .charCodeAt(0)
        .toString(16)
        .replace(/[a-f]/, (hex) => `[${hex}${hex.toUpperCase()}]`)})`,
  )
  .join('')}(?:/|$)`;
export const PATH_PATTERN = `/(?!${RESERVED})(?:${SEGMENT}/)*(?:${SEGMENT}|\\*)?`;

const SECONDS = '(?:0|[1-9]|[1-5][0-9])(?:\\.[0-9]{1,9})?S';
const MINUTES = '(?:0|[1-9]|[1-5][0-9])M';
const HOURS = '(?:0|[1-9]|1[0-9]|2[0-3])H';
const TIME = `T(?:${HOURS}(?:${MINUTES})?(?:${SECONDS})?|${MINUTES}(?:${SECONDS})?|${SECONDS})`;
/** 1 second to 365 days: one unit of any size, or days to seconds that each stay below the next unit. */
export const SPAN =
  `P(?:${numberUpTo(52)}W|${numberUpTo(365)}D` +
  `|T(?:${numberUpTo(8_760)}H|${numberUpTo(525_600)}M|${numberUpTo(31_536_000)}S)` +
  `|(?=[^.]*[1-9])(?:(?:0|${numberUpTo(364)})D)?${TIME})`;

const PEM_BLOCK =
  '-----BEGIN CERTIFICATE-----\\r?\\n(?:[A-Za-z0-9+/]{1,76}={0,2}\\r?\\n){1,400}-----END CERTIFICATE-----';
export const PEM = `[ \\t\\r\\n]*${PEM_BLOCK}[ \\t\\r\\n]*`;
export const PEM_LIST = `[ \\t\\r\\n]*(?:${PEM_BLOCK}[ \\t\\r\\n]*){1,40}`;
/** A SHA-256 fingerprint. */
export const FINGERPRINT = '(?:[0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}';
export const CLIENT_CERTIFICATE_NAME = '[A-Za-z0-9][A-Za-z0-9_-]{0,62}';
export const SERVER_NAME = `(?:${HOST_LABEL}\\.)*${NO_NUMBER}${HOST_LABEL}`;
