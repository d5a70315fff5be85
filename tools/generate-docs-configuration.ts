/** The reference page and the JSON Schema of the configuration file, from the options of the programs. */
import { formWords, type ConfigKey, type DescribedSection, type ConfigForm } from '#cli';
import { agentFileSchema, fileJsonSchema } from '#contract/schemas';
import { defaultTexts, programSections } from './program-sections.ts';
import { markdownTable } from './markdown-table.ts';

type Json = Readonly<Record<string, unknown>>;

export function configurationPage(): string {
  return `${[
    '# Configuration file',
    'Generated from the options of the programs by `npm run docs`; do not edit. Every program takes `--config FILE`, or the file ' +
      'that the variable `FRONTDOOR_CONFIG` names. [configuration.example.yml](configuration.example.yml) is a whole file with ' +
      'every key, [configuration.schema.json](configuration.schema.json) the JSON Schema for editors. ' +
      'The [guide](../guide/configuration.md) explains how the file is used.',
    [
      'The file is YAML 1.2. Each program reads its own section and ignores the others, but a name that is no section is refused.',
      'A key is the name of an option in camel case: `--data-dir` is `dataDir`. Unknown keys are refused with the nearest name.',
      'The command line has precedence over the environment, which has precedence over the file.',
      'Paths are relative to the file.',
      'A list with one entry can be written as a text. `on` and `off` can be written as `true` and `false`.',
      'A file that other users can write is refused. If it has a secret, such as a password in a URL, only its owner may be able to read it.',
      'A changed key takes effect when the program is restarted. SIGHUP reads again what the file names: certificates and keys (`tlsCert`, ' +
        '`tlsKey`, `tlsDir`, `apiCert`, `apiKey`), and the `shares` and `accesses` of an agent. It also opens the file of `accessLog` again.',
      'Routers are not configured here: `frontdoor router run FILE` reads [a file of its own](router-configuration.md).',
    ]
      .map((text) => `- ${text}`)
      .join('\n'),
    ...programSections().flatMap(sectionParts),
    '## shares, accesses',
    'The shares of an agent and the private shares of other machines that it opens: see [the agent’s file](../guide/agent-file.md).',
  ].join('\n\n')}\n`;
}

function sectionParts({ path, words, description, keys, required = [] }: DescribedSection): string[] {
  return [
    `## ${path.join('.')}`,
    `\`frontdoor ${words.join(' ')}\`: ${description}.`,
    ...markdownTable(
      ['Key', 'Value', 'Default', 'Environment', 'Meaning'],
      keys.map((key) => [
        `\`${key.name}\``,
        valueWords(key.form),
        defaultWords(key),
        key.variable === undefined ? '' : `\`${key.variable}\``,
        `${escaped(key.option.description)}${required.includes(key.name) ? '. Required' : ''}`,
      ]),
    ),
  ];
}

function valueWords(form: ConfigForm): string {
  if (form.kind === 'choice') return form.choices!.map((word) => `\`${word}\``).join(', ');
  if (form.isSecret) return 'secret';
  const words = formWords(form).replace(/^an? /, '');
  if (!form.isPath) return words;
  return form.kind === 'list' ? 'list of paths' : 'path';
}

function defaultWords(key: ConfigKey): string {
  const texts = key.form.kind === 'flag' ? ['false'] : defaultTexts(key);
  return texts.length === 0 ? '' : `\`${texts.join(', ')}\``;
}

function escaped(text: string): string {
  return text.replaceAll(/<([^>]+)>/g, '`<$1>`');
}

export function configurationSchemaText(): string {
  const { properties = {} } = fileJsonSchema(agentFileSchema, '') as { properties?: Json };
  const { shares, accesses } = properties;
  const sections: Record<string, Record<string, unknown>> = {};
  for (const { path, keys, description } of programSections()) {
    const section = { ...objectOf(keys), description };
    const [name, below] = path;
    if (below === undefined) sections[name] = section;
    else {
      const above = (sections[name] ??= {
        type: ['object', 'null'],
        properties: {},
        additionalProperties: false,
      });
      Object.assign(above['properties'] as object, { [below]: section });
    }
  }
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration file of the programs of Frontdoor',
    type: ['object', 'null'],
    properties: { ...sections, shares, accesses },
    additionalProperties: false,
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

/** A section whose lines are all comments has no value. */
function objectOf(keys: readonly ConfigKey[]): Json {
  const properties = Object.fromEntries(
    keys.map(({ name, option, form }) => [name, { description: option.description, ...schemaOf(form) }]),
  );
  return { type: ['object', 'null'], properties, additionalProperties: false };
}

const SOME_TEXT: Json = { type: 'string', minLength: 1 };

function schemaOf({ kind, choices, bounds }: ConfigForm): Json {
  switch (kind) {
    case 'flag':
      return { type: 'boolean' };
    case 'switch':
      return { enum: [true, false, 'on', 'off'] };
    case 'choice':
      return { enum: choices };
    case 'number':
      return { type: 'integer', minimum: bounds![0], maximum: bounds![1] };
    case 'list':
      return { anyOf: [SOME_TEXT, { type: 'array', minItems: 1, items: SOME_TEXT }] };
    case 'settings':
      return { type: 'object', minProperties: 1, additionalProperties: { type: ['string', 'number'] } };
    case 'text':
      return SOME_TEXT;
  }
}
