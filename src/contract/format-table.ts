/**
 * The string formats of the contract's schemas. Each has JSON Schema keywords, the rule for refusals, a
 * description and an example. The server validates with the pattern that the API description shows, and the
 * parsers in `domain` accept the same texts (`format-table.test.ts`).
 */
import { isUuid, MAX_TARGET_LENGTH, shareNameRule, targetForms } from '#domain';
import {
  HOST_HEADER_RULE,
  MAX_TLS_CA_CHARS,
  TLS_CA_RULE,
  TLS_PIN_RULE,
  TLS_CLIENT_RULE,
  TLS_SERVER_NAME_RULE,
} from '#domain/upstream';
import * as patterns from './format-pattern.ts';

export interface StringFormat {
  /** Keywords for the API description. The pattern has its anchors. */
  readonly words: FormatWords;
  /** Whether the keywords accept a text. */
  readonly check: (text: string) => boolean;
  /** The rule that a text breaks, for the message "Value for … must be of <rule>". */
  readonly rule: string | ((text: string) => string);
  /** The word in that message if the value is missing. */
  readonly saidAs: string;
  /** Name of the format in documents for people. */
  readonly name: string;
  readonly example: string;
}

interface FormatWords {
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly description?: string;
}

type Row = Omit<StringFormat, 'check' | 'words' | 'saidAs' | 'name'> &
  Partial<Pick<StringFormat, 'saidAs' | 'name'>>;

/**
 * Returns a format that a pattern defines. Texts longer than `maxLength` are refused without matching, which
 * bounds the time.
 */
function patterned(pattern: string, words: Omit<FormatWords, 'pattern'>, row: Row): StringFormat {
  const { minLength = 0, maxLength = Infinity } = words;
  const whole = `^${pattern}$`;
  const form = new RegExp(whole, 'u');
  return {
    saidAs: 'string',
    name: 'string',
    ...row,
    words: { ...words, pattern: whole },
    check: (text) => hasLength(text, minLength, maxLength) && text.isWellFormed() && form.test(text),
  };
}

/** Returns a format that JSON Schema itself defines. */
function standard(
  format: string,
  check: StringFormat['check'],
  row: Row & Pick<StringFormat, 'saidAs'>,
): StringFormat {
  return { name: 'string', ...row, words: { format }, check };
}

/** Length is counted in code points, as in JSON Schema. */
function hasLength(text: string, least: number, most: number): boolean {
  if (text.length < least || text.length > 2 * most) return false;
  const length = text.length <= most && least <= 1 ? text.length : [...text].length;
  return length >= least && length <= most;
}

const SHARE_NAME = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const KEPT_SHARE_NAMES = ['oauth', 'api', 'www'];
const NAME_RULE = 'name (1 to 255 characters, no control characters)';

export const stringFormats = {
  uuid: standard('uuid', isUuid, {
    saidAs: 'UUID',
    rule: 'UUID',
    name: 'UUID',
    example: '5b0c2a3e-6f0f-4a5e-9d53-0f2f6d1c7a10',
  }),
  name: patterned(
    patterns.nameWithout(''),
    {
      minLength: 1,
      maxLength: 1_000,
      description: 'A name of 1 to 255 characters without control characters. Outer spaces are removed.',
    },
    { rule: NAME_RULE, name: 'name', example: 'Example' },
  ),
  'share-name': patterned(
    `(?!(?:${KEPT_SHARE_NAMES.join('|')})$)(?!..--)${SHARE_NAME}`,
    {
      description:
        'A DNS label: 1 to 63 of a-z, 0-9 and -, with no - at either end. Its third and fourth characters are not both -, and `oauth`, `api` and `www` are reserved.',
    },
    { rule: shareNameRule, name: 'share name', example: 'example' },
  ),
  'share-target': patterned(
    patterns.SHARE_TARGET,
    {
      maxLength: MAX_TARGET_LENGTH,
      description: `${targetForms()}. HTTP has a default port.`,
    },
    {
      saidAs: 'uri',
      rule: targetRule,
      name: 'URL',
      example: 'http://localhost:3000',
    },
  ),
  'service-name': patterned(
    patterns.nameWithout('@'),
    {
      minLength: 1,
      maxLength: 1_000,
      description:
        'A name of 1 to 255 characters without control characters and without `@`, which separates instance and service.',
    },
    {
      rule: 'service name (1 to 255 characters without @, no control characters)',
      name: 'name',
      example: 'database',
    },
  ),
  'terminator-address': patterned(
    `(?:tcp|tls|udp):${patterns.HOST}:${patterns.PORT}`,
    {
      maxLength: 300,
      description: 'The address that the router dials: `tcp:host:port`, `tls:host:port` or `udp:host:port`.',
    },
    {
      saidAs: 'tcp:host:port, tls:host:port or udp:host:port',
      rule: 'tcp:host:port, tls:host:port or udp:host:port',
      name: 'address',
      example: 'tcp:127.0.0.1:5432',
    },
  ),
  uri: standard('uri', isUri, {
    saidAs: 'uri',
    rule: 'uri',
    name: 'URI',
    example: 'https://idp.example.com',
  }),
  'date-time': standard('date-time', isDateTime, {
    saidAs: 'date-time',
    rule: 'date-time (ISO 8601 with a time zone, as 2030-01-01T00:00:00Z)',
    name: 'timestamp',
    example: '2030-01-01T00:00:00Z',
  }),
  span: patterned(
    patterns.SPAN,
    {
      maxLength: 40,
      description:
        'An ISO 8601 duration from PT1S to P365D: one unit as `PT90M`, or days to seconds as `P1DT12H30M`.',
    },
    {
      saidAs: 'duration',
      rule: 'duration from PT1S to P365D (one unit as PT90M, or several as P1DT12H)',
      name: 'duration',
      example: 'PT1H',
    },
  ),
  'email-pattern': patterned(
    patterns.EMAIL_PATTERN,
    { maxLength: 318, description: 'An email address, or `*@` and a domain for everyone there.' },
    { rule: 'name@domain or *@domain', name: 'email pattern', example: '*@example.com' },
  ),
  'ip-network': patterned(
    patterns.IP_NETWORK,
    { maxLength: 60, description: 'An IP address, or a network such as `10.0.0.0/8`.' },
    { rule: 'address or CIDR', name: 'address or CIDR', example: '192.0.2.0/24' },
  ),
  'ip-address': patterned(
    `(?:${patterns.IPV4}|${patterns.IPV6})`,
    { maxLength: 60, description: 'An IPv4 or IPv6 address.' },
    { rule: 'IP address', name: 'address', example: '192.0.2.7' },
  ),
  'path-pattern': patterned(
    patterns.PATH_PATTERN,
    {
      maxLength: 1_024,
      description:
        'A path, or a path that ends in `/*` for everything below it. It has no query, no `..` and no `;`, and is not below `/.frontdoor`.',
    },
    { rule: '/path or /path/*, without .., ;, ? and double escapes', name: 'path', example: '/health' },
  ),
  'basic-user': patterned(
    '[^:\\u0000-\\u001f\\u007f-\\u009f]+',
    { minLength: 1, maxLength: 255, description: 'A user name without a colon or control characters.' },
    { rule: 'user name (1 to 255 characters without : or control characters)', name: 'name', example: 'ann' },
  ),
  'certificate-name': patterned(
    `(?:${patterns.EVERYBODY_OF}|[^*\\u0000-\\u001f\\u007f-\\u009f]+)`,
    { minLength: 1, maxLength: 255, description: 'A whole name, or `*@` and a domain.' },
    { rule: 'name or *@domain', name: 'name', example: '*@example.com' },
  ),
  'certificate-pem': patterned(
    patterns.PEM,
    { maxLength: 16_384, description: 'One certificate in PEM.' },
    {
      rule: 'PEM certificate',
      name: 'PEM',
      example: `-----BEGIN CERTIFICATE-----\n${'MIIBszCCAVmgAwIBAgIUExampleExampleExample'}\n-----END CERTIFICATE-----\n`,
    },
  ),
  'web-origin': patterned(
    `[Hh][Tt][Tt][Pp][Ss]?://${patterns.HOST}(?::${patterns.PORT})?`,
    {
      maxLength: 300,
      description:
        'A web origin as browsers send it: `https://`, a host, and optionally a port; no slash at the end.',
    },
    {
      saidAs: 'https://host origin',
      rule: 'https://host origin',
      name: 'origin',
      example: 'https://app.example.com',
    },
  ),
  'cors-origin': patterned(
    `(?:\\*|[Hh][Tt][Tt][Pp][Ss]?://${patterns.HOST}(?::${patterns.PORT})?)`,
    { maxLength: 300, description: 'A web origin as browsers send it, or `*` for every one.' },
    { rule: 'https://host origin or *', name: 'origin', example: 'https://app.example.com' },
  ),
  'http-token': patterned(
    "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}",
    { maxLength: 100, description: 'The name of a method or header of HTTP.' },
    { rule: 'name of a method or header', name: 'name', example: 'X-Requested-With' },
  ),
  contact: patterned(
    `(?:[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,189}|https?://[A-Za-z0-9._~:/?#@!$()*+,;=%[\\]-]{1,246})`,
    { maxLength: 254, description: 'An email address, or the address of a web page.' },
    {
      rule: 'email address or web address',
      name: 'email or web address',
      example: 'owner@example.com',
    },
  ),
  'upstream-host': patterned(
    patterns.UPSTREAM_HOST,
    {
      maxLength: 300,
      description: '`preserve`, `target`, or a host name or address, with or without a port.',
    },
    { rule: HOST_HEADER_RULE, name: 'host', example: 'localhost' },
  ),
  'certificate-pin': patterned(
    patterns.FINGERPRINT,
    { maxLength: 95, description: 'A SHA-256 fingerprint: 64 hexadecimal digits, with or without colons.' },
    { rule: TLS_PIN_RULE, name: 'fingerprint', example: 'c3'.repeat(32) },
  ),
  'certificate-list': patterned(
    patterns.PEM_LIST,
    { maxLength: MAX_TLS_CA_CHARS, description: 'One or more certificates in PEM.' },
    {
      rule: TLS_CA_RULE,
      name: 'PEM',
      example: `-----BEGIN CERTIFICATE-----\n${'MIIBszCCAVmgAwIBAgIUExampleExampleExample'}\n-----END CERTIFICATE-----\n`,
    },
  ),
  'server-name': patterned(
    patterns.SERVER_NAME,
    { maxLength: 253, description: 'A host name, not an address.' },
    { rule: TLS_SERVER_NAME_RULE, name: 'host name', example: 'pve.example.com' },
  ),
  'client-certificate-name': patterned(
    patterns.CLIENT_CERTIFICATE_NAME,
    { maxLength: 63, description: 'A name of letters, digits, `-` and `_`.' },
    { rule: TLS_CLIENT_RULE, name: 'name', example: 'plc' },
  ),
  'zone-name': patterned(
    patterns.ZONE_NAME,
    { maxLength: 189, description: 'A DNS name of two labels or more.' },
    {
      saidAs: 'hostname',
      rule: 'hostname (a DNS name of two labels or more)',
      name: 'DNS name',
      example: 'apps.example.com',
    },
  ),
} as const satisfies Readonly<Record<string, StringFormat>>;

export type FormatName = keyof typeof stringFormats;

/** Returns a description of the format in words, or undefined if its name is enough. */
export function formatDescription(format: string | undefined): string | undefined {
  return (stringFormats[format as FormatName] as StringFormat | undefined)?.words.description;
}

/** Returns the rule of the format that a text breaks. */
export function brokenRule(format: FormatName, text: string): string {
  const { rule } = stringFormats[format];
  return typeof rule === 'string' ? rule : rule(text);
}

function isUri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\S+$/i.test(text);
}

/** A text that is no URI breaks a different rule than a URI that shares cannot have as their target. */
function targetRule(text: string): string {
  return isUri(text) ? `uri (${targetForms()})` : 'uri';
}

const DATE_TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** A date-time of RFC 3339, as JSON Schema defines the format. */
function isDateTime(text: string): boolean {
  const date = text.length > 100 ? undefined : DATE_TIME.exec(text)?.[1];
  if (date === undefined || Number.isNaN(Date.parse(text))) return false;
  // The Date parser accepts 30 February as a day in March.
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}
