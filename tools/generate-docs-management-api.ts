/**
 * The reference page of the Management API, in Markdown: the same sheets that the served page at /docs shows, and the
 * commands that call the operations.
 */
import { isOperationCommand, OPERATION_COMMANDS } from '#cli';
import { conventions, sheetsByGroup, type OperationId, type OperationSheet } from '#contract';
import { markdownTable } from './markdown-table.ts';

export function managementApiPage(): string {
  const groups = [...sheetsByGroup()];
  const parts = [
    '# Management API',
    'Generated from the operation table by `npm run docs`; do not edit. A running control plane serves the same as a page ' +
      'at `{base_url}/docs` and as OpenAPI 3.1 at `{base_url}/openapi.json` ([a copy](openapi.json)).',
    '## For every operation',
    'The Authorization header has one of two forms: `Bearer <ACCESS_TOKEN>`, with a token of `{auth_url}/oauth/token`, or ' +
      "`Basic <ACCOUNT_ID>:<API_TOKEN>`, with an API account's. In the examples, `$BASE_URL` and `$AUTH_URL` are the " +
      'addresses, `$ACCESS_TOKEN` is a bearer token, and ids are shell variables.',
    ...conventions.map((text) => `- ${text}`),
    '## Contents',
    ...groups.map(([group, sheets]) => `- **${group}**: ${sheets.map(linkTo).join(' · ')}`),
    ...groups.flatMap(([group, sheets]) => [`## ${group}`, ...sheets.flatMap(operation)]),
  ];
  return `${joined(parts)}\n`;
}

/** Blank lines between parts, but none inside of a list. */
function joined(parts: readonly string[]): string {
  return parts.reduce((text, part) => {
    const isListGoingOn = part.startsWith('- ') && /(?:^|\n)- [^\n]*$/.test(text);
    return `${text}${isListGoingOn ? '\n' : '\n\n'}${part}`;
  });
}

function linkTo({ id, summary }: OperationSheet): string {
  return `[${summary}](#${id.toLowerCase()})`;
}

function operation(sheet: OperationSheet): string[] {
  const { id, method, url, summary, scope, parameters, body, example } = sheet;
  return [
    `### ${id}`,
    `${summary}. ${scope === undefined ? 'Requires no credentials.' : `Requires the scope \`${scope}\`.`}`,
    `\`${method} ${url}\``,
    ...(parameters.length === 0
      ? []
      : markdownTable(
          ['Parameter', 'Type', 'In', ''],
          parameters.map(({ name, type, in: where, isRequired, note }) => [
            `\`${name}\``,
            type,
            `${where}${isRequired ? '' : ', optional'}`,
            note,
          ]),
        )),
    ...(body === undefined
      ? []
      : [
          `Body: ${body.mediaTypes.map((type) => `\`${type}\``).join(' or ')}`,
          ...markdownTable(
            ['Field', 'Type', 'Given', ''],
            body.fields.map(({ path, type, isRequired, note }) => [
              `\`${path}\``,
              type,
              isRequired ? 'required' : 'optional',
              note,
            ]),
          ),
          ...(body.ignored.length === 0
            ? []
            : [`Read-only, accepted and ignored: ${body.ignored.map((name) => `\`${name}\``).join(', ')}`]),
        ]),
    ...answer(sheet),
    `\`\`\`sh\n${[example, ...examplesFor(id as OperationId)].join('\n\n')}\n\`\`\``,
    ...commandElsewhere(id as OperationId),
  ];
}

/** Commands that call the operation; none for an operation that only programs and browsers call. */
function examplesFor(id: OperationId): string[] {
  const row = OPERATION_COMMANDS[id];
  return isOperationCommand(row) ? [row.examples.map((words) => `frontdoor ${words}`).join('\n')] : [];
}

/** A command that calls the operation among other things. */
function commandElsewhere(id: OperationId): string[] {
  const row = OPERATION_COMMANDS[id];
  if (isOperationCommand(row) || row.elsewhere === undefined) return [];
  const words = ['frontdoor', ...row.elsewhere];
  return [`[\`${words.join(' ')}\`](command-line.md#${words.join('-')}) calls it.`];
}

function answer({ answer: { status, type, fields, otherForms }, refusals }: OperationSheet): string[] {
  const whole = type === undefined ? (otherForms.length === 0 ? 'no body' : '') : `JSON, ${type}`;
  const refused = refusals.map(({ status: code, errors }) => `${code} \`${errors.join('`, `')}\``);
  return [
    `Answer: ${[String(status), whole].filter((part) => part !== '').join(', ')}`,
    ...(fields.length === 0
      ? []
      : markdownTable(
          ['Field', 'Type', ''],
          fields.map(({ path, type: of, isRequired, note }) => [
            `\`${path}\``,
            of,
            [...(isRequired ? [] : ['may be absent']), ...(note === '' ? [] : [note])].join('; '),
          ]),
        )),
    ...otherForms.map(([mediaType, text]) => `- \`${mediaType}\`: ${text}`),
    `Refusals: ${refused.join(' · ')}`,
  ];
}
