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
  readonly not?: { readonly enum: readonly string[] };
  readonly description?: string;
}

const NOT_CONTROL = '[^\\u0000-\\u001f\\u007f-\\u009f]';
const NOT_CONTROL_NOR_AT = '[^@\\u0000-\\u001f\\u007f-\\u009f]';
const PORT = '(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})';

export const formatWords: Readonly<Record<keyof typeof stringFormats, FormatWords>> = {
  uuid: { format: 'uuid' },
  uri: { format: 'uri' },
  'date-time': { format: 'date-time' },
  name: {
    minLength: 1,
    maxLength: 255,
    pattern: `^${NOT_CONTROL}*[^\\s\\u0000-\\u001f\\u007f-\\u009f\\ufeff]${NOT_CONTROL}*$`,
    description: 'Outer spaces are cut; no control characters',
  },
  'share-name': {
    pattern: '^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$',
    not: { enum: ['oauth', 'api', 'www'] },
    description: 'A DNS label: 3 to 63 of a-z, 0-9 and inner hyphens',
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

function hostPattern(): string {
  const label = '[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
  // What ends in a number is read as an IPv4 address: a name's last label has a letter that no number has.
  const lastLabel =
    '([A-Za-z_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?|[0-9]{1,20}[A-WYZa-wyz_-][A-Za-z0-9_-]{0,40}[A-Za-z0-9_])';
  const octet = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
  return `(${label}\\.){0,8}${lastLabel}|(${octet}\\.){3}${octet}|\\[(${ipv6Pattern()})\\]`;
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
