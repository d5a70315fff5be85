/**
 * Our string formats in JSON Schema's own words, for the API's description: generators and clients know nothing of
 * `share-name`. The server checks by `format-table.ts` and takes all that these words allow (a test holds it to
 * that), and rare spellings besides.
 */
import type { stringFormats } from './format-table.ts';

interface FormatWords {
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly not?: { readonly enum?: readonly string[]; readonly pattern?: string };
  readonly description?: string;
}

const NOT_CONTROL = '[^\\u0000-\\u001f\\u007f-\\u009f]';
const NOT_CONTROL_NOR_AT = '[^@\\u0000-\\u001f\\u007f-\\u009f]';
/** An IPv4 address in IPv6 clothes has its prefix counted otherwise. */
const MAPPED = '^(0*:){2,5}[fF]{4}:';
/** Three characters, four, or more of which the third and fourth are not both hyphens. */
const SHARE_NAME =
  '[a-z0-9][a-z0-9-]([a-z0-9]|[a-z0-9-][a-z0-9]|([a-z0-9][a-z0-9-]|-[a-z0-9])[a-z0-9-]{0,58}[a-z0-9])';
const PORT = '(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})';

export const formatWords: Readonly<Record<keyof typeof stringFormats, FormatWords>> = {
  uuid: { format: 'uuid' },
  uri: { format: 'uri' },
  'date-time': { format: 'date-time' },
  span: {
    pattern: '^P([1-9][0-9]?D|T[1-9][0-9]{0,2}H|T[1-9][0-9]{0,3}[MS])$',
    description: 'An ISO 8601 duration from PT1S to P365D',
  },
  'email-pattern': {
    maxLength: 254,
    pattern: `^([a-z0-9]([a-z0-9+_-]{0,30}\\.[a-z0-9]){0,1}|\\*)@${dnsName()}$`,
    description: 'An e-mail address, or `*@` and a domain',
  },
  'ip-network': {
    pattern: `^(${ipv4Pattern()}(/(3[0-2]|[12]?[0-9]))?|(${ipv6Pattern()})(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?)$`,
    not: { pattern: MAPPED },
    description: 'An IP address, or a network as `10.0.0.0/8`',
  },
  'ip-address': { pattern: `^(${ipv4Pattern()}|${ipv6Pattern()})$`, description: 'An IP address' },
  'path-pattern': {
    maxLength: 300,
    pattern: `^/(${segmentPattern()}/){0,20}(${segmentPattern()}|\\*)?$`,
    description: 'A path, or `/*` at the end for all below it; neither `..` nor `;`',
  },
  'basic-user': {
    minLength: 1,
    maxLength: 255,
    pattern: '^[^:\\u0000-\\u001f\\u007f-\\u009f]+$',
    description: 'Without a colon',
  },
  'certificate-name': {
    minLength: 1,
    maxLength: 255,
    pattern: '^[^*\\u0000-\\u001f\\u007f-\\u009f]+$',
    description: 'A whole name, or `*@` and a domain',
  },
  'certificate-pem': {
    maxLength: 16_384,
    pattern:
      '^-----BEGIN CERTIFICATE-----\\n([A-Za-z0-9+/]{64}\\n){1,200}([A-Za-z0-9+/]{1,62}={0,2}\\n)?-----END CERTIFICATE-----\\n?$',
    description: 'One certificate in PEM',
  },
  'web-origin': {
    maxLength: 260,
    pattern: `^https?://(${hostPattern()})(:${PORT})?$`,
    description: 'A web origin as browsers name it: `https`, a host, perhaps a port; no slash at the end',
  },
  contact: {
    maxLength: 254,
    pattern:
      '^([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,189}|https?://[A-Za-z0-9._~:/?#@!$()*+,;=%\\[\\]-]{1,246})$',
    description: 'An e-mail address, or the address of a web page',
  },
  'zone-name': {
    maxLength: 190,
    pattern: `^${dnsLabel()}(\\.${dnsLabel()}){0,4}\\.[a-z]{2,20}$`,
    description: 'A DNS name of two labels or more',
  },
  name: {
    minLength: 1,
    maxLength: 255,
    pattern: `^${NOT_CONTROL}*[^\\s\\u0000-\\u001f\\u007f-\\u009f\\ufeff]${NOT_CONTROL}*$`,
    description: 'Outer spaces are cut; no control characters',
  },
  'share-name': {
    pattern: `^${SHARE_NAME}$`,
    not: { enum: ['oauth', 'api', 'www'] },
    description:
      'A DNS label: 3 to 63 of a-z, 0-9 and inner hyphens, not two hyphens in the third and fourth place',
  },
  'share-target': {
    // So that no host is longer than a DNS name may be.
    maxLength: 260,
    pattern: `^https?://(${hostPattern()})(:${PORT})?/?$`,
    description: '`http` or `https`, a host name or address, perhaps a port; no path',
  },
  'service-name': {
    minLength: 1,
    maxLength: 255,
    pattern: `^${NOT_CONTROL_NOR_AT}*[^@\\s\\u0000-\\u001f\\u007f-\\u009f\\ufeff]${NOT_CONTROL_NOR_AT}*$`,
    description: 'A name without `@`: that stands between instance and service',
  },
  'terminator-address': {
    maxLength: 260,
    pattern: `^(tcp|tls):(${hostPattern()}):${PORT}$`,
    description: '`tcp:host:port` or `tls:host:port`, as the router dials it',
  },
};

/** What a text of this format is, in words; undefined for a format that says it all by its name. */
export function formatDescription(format: string | undefined): string | undefined {
  return formatWords[format as keyof typeof stringFormats]?.description;
}

/** Of a path: no dot at its beginning. */
function segmentPattern(): string {
  return "[A-Za-z0-9_~!$&'()+,=:@-][A-Za-z0-9._~!$&'()+,=:@-]{0,40}";
}

function dnsLabel(): string {
  return '[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?';
}

function dnsName(): string {
  return `(${dnsLabel()}\\.){1,3}[a-z]{2,20}`;
}

function ipv4Pattern(): string {
  const octet = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
  return `(${octet}\\.){3}${octet}`;
}

function hostPattern(): string {
  const label = '[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
  // What ends in a number is read as an IPv4 address: a name's last label has a letter that no number has.
  const lastLabel =
    '([A-Za-z_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?|[0-9]{1,20}[A-WYZa-wyz_-][A-Za-z0-9_-]{0,40}[A-Za-z0-9_])';
  return `(${label}\\.){0,8}${lastLabel}|${ipv4Pattern()}|\\[(${ipv6Pattern()})\\]`;
}

/** Eight groups, or fewer around one `::`. */
function ipv6Pattern(): string {
  const group = '[0-9A-Fa-f]{1,4}';
  const forms = [`(${group}:){7}${group}`];
  for (let before = 0; before <= 7; before += 1) {
    const left = before === 0 ? '' : `${group}(:${group}){${before - 1}}`;
    const right = before === 7 ? '' : `(${group}(:${group}){0,${6 - before}})?`;
    forms.push(`${left}::${right}`);
  }
  return forms.join('|');
}
