/** The reference page of the router's configuration file, in Markdown, from its schema. */
import { FILE_EXIT_STATUS } from '#base';
import { notesOf, rangeOf, routerFileField, type Field, type TextKind } from '#router/config';
import { markdownTable } from './markdown-table.ts';

const KIND_WORDS: Readonly<Partial<Record<TextKind, string>>> = {
  duration: 'duration',
  address: 'address',
  'host-port': 'host:port',
  advertised: 'host:port or address',
  interface: 'interface',
  path: 'path',
  certificate: 'certificate',
  key: 'private key',
  cidr: 'network',
  ip: 'IP address',
  uri: 'URI',
};

interface Row {
  readonly key: string;
  readonly field: Field;
  readonly isRequired: boolean;
}

export function routerConfigurationPage(): string {
  const sections = Object.entries(routerFileField.properties ?? {}).filter(
    ([, field]) => notesOf(field).isLegacy !== true,
  );
  const values = sections.filter(([, field]) => rowsOf('', field).length === 0);
  const parts = [
    '# Router configuration file',
    'Generated from the schema of the file by `npm run docs`; do not edit. [router.example.yml](router.example.yml) is a whole ' +
      'file with every key, [router.schema.json](router.schema.json) the JSON Schema for editors, which ' +
      '`frontdoor router schema` prints too. `frontdoor router check FILE` reports every problem of a file, ' +
      '`--effective` shows it with every default filled in, and `--files` looks at its certificates and keys as well.',
    'The commands `check`, `run` and `enroll` end with the same statuses:',
    ...markdownTable(
      ['Exit status', 'Meaning'],
      [
        [
          `${FILE_EXIT_STATUS.success}`,
          'The file is valid; the router was stopped by a signal, or is enrolled.',
        ],
        [
          `${FILE_EXIT_STATUS.invalidFile}`,
          'The file has errors, which are printed with its warnings; or no controller was reached within `ctrl.startupTimeout`.',
        ],
        [`${FILE_EXIT_STATUS.unreadableFile}`, 'The file cannot be read.'],
        ['others', 'Those of every command, such as 6 for a port that is taken.'],
      ],
    ),
    '## Values',
    ...[
      'The file is one document of YAML 1.1: `yes` and `on` are booleans too, of equal keys the last one holds, anchors and merge keys work.',
      'Texts may hold variables of the environment, `$NAME` or `${NAME}`; one that is not set becomes nothing. Numbers cannot come of them.',
      'A duration is a text of numbers and units: `250ms`, `5s`, `1h30m`. It is rounded to whole milliseconds.',
      'An address is `<protocol>:<host>:<port>` with the protocols tls, tcp, udp, dtls, ws and wss, of which this version runs tls, ' +
        'tcp and udp where circuits begin and end, and wss and ws for edge listeners. IPv6 hosts stand in brackets; an empty host is every interface.',
      'An interface is the name of a network interface, or an address that one of them has.',
      'Certificates and keys are paths, `file:` URLs, `pem:` with the text after it, or PEM itself. Relative paths start at the working directory.',
      'An unknown key is a warning that names the nearest known one. At the top level it is an error if it is a misspelled section, which is missing then.',
      '† marks keys that OpenZiti has beside those of the product’s own requirement.',
    ].map((text) => `- ${text}`),
    '## Top level',
    ...table([
      ...values.map(([key, field]) => ({ key, field, isRequired: isRequired(routerFileField, key, field) })),
      ...sections
        .filter((one) => !values.includes(one))
        .map(([key, field]) => ({
          key,
          field,
          isRequired: isRequired(routerFileField, key, field),
        })),
    ]),
    ...sections
      .filter((one) => !values.includes(one))
      .flatMap(([key, field]) => [`## ${key}`, `${field.description ?? ''}`, ...table(rowsOf('', field))]),
  ];
  return `${parts.reduce(joined)}\n`;
}

/** Blank lines between parts, but none inside of a list. */
function joined(text: string, part: string): string {
  const isListGoingOn = part.startsWith('- ') && /(?:^|\n)- [^\n]*$/.test(text);
  return `${text}${isListGoingOn ? '\n' : '\n\n'}${part}`;
}

/** Every key below a section, by its dotted path. */
function rowsOf(prefix: string, field: Field): Row[] {
  const { items } = field;
  if (items !== undefined) return items.type === 'object' ? rowsOf(`${prefix}[]`, items) : [];
  return Object.entries(field.properties ?? {}).flatMap(([name, child]) => {
    if (notesOf(child).isLegacy === true) return [];
    const key = prefix === '' ? name : `${prefix}.${name}`;
    return [{ key, field: child, isRequired: isRequired(field, name, child) }, ...rowsOf(key, child)];
  });
}

function isRequired(parent: Field, key: string, field: Field): boolean {
  return (
    parent.required?.includes(key) === true && field.default === undefined && notesOf(field).isFilled !== true
  );
}

function table(rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const lines = rows.map(({ key, field, isRequired: needed }) => {
    const { isExtra, isUnsupported, bindings } = notesOf(field);
    const about = [
      field.description ?? '',
      ...(needed ? ['Required.'] : []),
      ...(bindings === undefined ? [] : [`With the binding ${bindings.join(' or ')}.`]),
      ...(isUnsupported === true ? ['Has no effect in this version.'] : []),
    ].join(' ');
    const cells = [
      `\`${key}\`${isExtra === true ? ' †' : ''}`,
      typeWords(field),
      defaultWords(field),
      rangeOf(field).join(' ').replace(/\.$/, ''),
      about,
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/<(\w+)>/g, '`<$1>`')).join(' | ')} |`;
  });
  return [['| Key | Type | Default | Bounds | Meaning |', '|---|---|---|---|---|', ...lines].join('\n')];
}

function typeWords(field: Field): string {
  const { kind, isSingleAllowed, integerUnitMs } = notesOf(field);
  if (field.const !== undefined) return JSON.stringify(field.const);
  if (field.items !== undefined) {
    const list = `list of ${field.items.type === 'object' ? 'maps' : typeWords(field.items)}`;
    return isSingleAllowed === true ? `${list}, or one` : list;
  }
  if (field.enum !== undefined) return field.enum.map((word) => `\`${word}\``).join(', ');
  switch (field.type) {
    case 'object':
      return 'map';
    case 'boolean':
      return 'true or false';
    case 'string':
      return `${(kind === undefined ? undefined : KIND_WORDS[kind]) ?? 'text'}${integerUnitMs === undefined ? '' : ', or integer'}`;
    default:
      return field.type ?? '';
  }
}

function defaultWords(field: Field): string {
  if (field.default === undefined || field.type === 'object') return '';
  return `\`${JSON.stringify(field.default).replaceAll('"', '').replaceAll(',', ', ')}\``;
}
