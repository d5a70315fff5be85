/** The reference page of the types of auth providers, in Markdown, made from their table. */
import {
  AUTH_PROVIDER_TYPES,
  hasKeys,
  PROVIDER_TYPES,
  type AuthProviderType,
  type ProviderSetup,
} from '#domain/provider-types';
import { markdownTable } from './markdown-table.ts';

type Property = Readonly<Record<string, unknown>>;

const REDIRECT_FORM = 'https://oauth.<zone>/<provider id>/auth/callback';

export function providerTypesPage(): string {
  return [
    '# Types of auth providers',
    'Generated from the table of types by `npm run docs`; do not edit. [Who may come in](../guide/who-may-come-in.md) shows how ' +
      'providers guard shares. `frontdoor auth-providers schema TYPE` prints the JSON Schema of a type.',
    ...AUTH_PROVIDER_TYPES.flatMap(sectionOf),
  ]
    .join('\n\n')
    .concat('\n');
}

function sectionOf(type: AuthProviderType): string[] {
  const { schema, texts, example } = PROVIDER_TYPES[type];
  const { displayName, description } = texts;
  const data = JSON.stringify(example);
  return [
    `## ${type}`,
    `${displayName.en}. ${description.en}.`,
    ...(hasKeys(type) ? [] : setupOf(PROVIDER_TYPES[type].texts.steps)),
    ['```sh', `frontdoor auth-providers create --name NAME --type ${type} --data '${data}'`, '```'].join(
      '\n',
    ),
    ...Object.values(texts.guides ?? {}).flatMap(({ displayName: name, steps }) => [
      `### ${name}`,
      ...setupOf(steps),
    ]),
    ...markdownTable(
      ['Field', 'Required', 'Meaning'],
      Object.entries(schema.properties).map(([name, property]) => [
        `\`${name}\``,
        schema.required.includes(name) ? 'yes' : '',
        meaningOf(property),
      ]),
    ),
  ];
}

function setupOf({ first, redirects, last }: ProviderSetup): string[] {
  const steps = [
    ...first.en,
    `${redirects.en} \`${REDIRECT_FORM}\`, one for each zone of your shares. \`frontdoor auth-providers reserve\` prints them.`,
    ...last.en.map((step) => step.replace('form below', 'command below')),
    'Create the provider in the console, which shows the redirect URLs and the form on one page, or with the command below and ' +
      '`--reservation`.',
  ];
  return [steps.map((step, at) => `${at + 1}. ${step}`).join('\n')];
}

function meaningOf(property: Property): string {
  const values = property['enum'] as readonly string[] | undefined;
  const listed = values === undefined ? '' : ` (${values.map((value) => `\`${value}\``).join(', ')})`;
  return `${String(property['description'])}${listed}`.replaceAll('<', '&lt;');
}
