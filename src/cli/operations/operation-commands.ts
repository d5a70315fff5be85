/**
 * Builds the commands of one noun from the operation table: arguments and options from parameters and schemas,
 * help from the summary, and the call itself. Loaded when such a command, its help or its completion is needed.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { FrontdoorError, messageOf } from '#base';
import { printable } from '#base/terminal';
import { operations, type Operation, type OperationId } from '#contract';
import type { ProviderCheckAnswer } from '#contract/schemas';
import { addApiOptions, frontdoorOption, organizationOption } from '../access/api-options.ts';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';
import type { ManagementClient } from '../management-client.ts';
import { providerCheckText } from '../output/provider-check-text.ts';
import { auditFollowCommand } from './audit-follow-command.ts';
import { fieldHelp, isoDurationOf, optionsOf, type BodyField } from './body-fields.ts';
import { changesFollowCommand } from './changes-follow-command.ts';
import { addCodeFileOptions, enrollIntoFile } from './code-file.ts';
import { conditionOptions } from './condition-options.ts';
import { entriesOf, pagesOf, type Entry } from './list-pages.ts';
import { inspectFollowCommand } from './inspect-follow-command.ts';
import { inspectSwitches, replayCommand } from './inspect-commands.ts';
import { inspectCurlCommand } from './inspect-curl-command.ts';
import { shareAccessCommand } from './share-access-command.ts';
import { requestLogCommands } from './request-log-commands.ts';
import { sessionEndCommand } from './session-end-command.ts';
import { nodeCreationCommand } from './node-creation-command.ts';
import { isPart, PARTS, type Noun } from './noun-table.ts';
import { showAnswer, showList } from './operation-answer.ts';
import { isOperationCommand, type OperationCommand } from './operation-command.ts';
import { OPERATION_COMMANDS } from './operation-command-table.ts';
import {
  commandParameters,
  type CommandArgument,
  type CommandParameters,
  type QueryOption,
} from './operation-parameters.ts';
import { decapital, optionHelp } from './option-help.ts';
import { policyChangeCommand, sharedPolicyChangeCommand } from './policy-change-command.ts';
import { OPTION_TEXTS } from './option-text-table.ts';
import {
  operationRequest,
  withQuery,
  type GivenOptions,
  type OperationRequest,
} from './operation-request.ts';

interface PageOptions extends GivenOptions {
  readonly jsonLines?: boolean;
  readonly limit?: number;
  readonly page?: number;
  readonly size?: number;
}

interface Run {
  readonly io: CliIo;
  readonly operation: Operation;
  readonly row: OperationCommand;
  readonly parameters: CommandParameters;
}

export function addOperationCommands(command: Command, noun: Noun, io: CliIo): void {
  for (const operation of operations as readonly Operation[]) {
    const row = OPERATION_COMMANDS[operation.id as keyof typeof OPERATION_COMMANDS];
    if (!isOperationCommand(row) || row.noun !== noun) continue;
    for (const verb of row.alias === undefined ? [row.verb] : [row.verb, row.alias]) {
      const [word = '', below] = verb.split(' ');
      const parent = below === undefined ? command : partOf(command, word);
      parent.addCommand(operationCommand(operation, row, below ?? word, io));
    }
  }
  if (noun === 'fabric')
    for (const kind of ['router', 'gateway'] as const)
      partOf(command, kind).addCommand(nodeCreationCommand(io, kind));
  if (noun === 'shares') {
    for (const each of [...inspectSwitches(io), inspectCurlCommand(io), inspectFollowCommand(io)])
      partOf(command, 'inspect').addCommand(each);
    partOf(command, 'policy').addCommand(policyChangeCommand(io));
    command.addCommand(replayCommand(io)).addCommand(shareAccessCommand(io));
  }
  if (noun === 'requests') for (const each of requestLogCommands(io)) command.addCommand(each);
  if (noun === 'policies') command.addCommand(sharedPolicyChangeCommand(io));
  if (noun === 'auth-providers') partOf(command, 'sessions').addCommand(sessionEndCommand(io));
  if (noun === 'changes') command.addCommand(changesFollowCommand(io, { isOfMesh: false }));
  if (noun === 'fabric') command.addCommand(changesFollowCommand(io, { isOfMesh: true }));
  if (noun === 'audit') command.addCommand(auditFollowCommand(io));
}

/** Returns the command that holds the verbs of this part. */
function partOf(command: Command, word: string): Command {
  const known = command.commands.find((each) => each.name() === word);
  if (known !== undefined) return known;
  if (!isPart(word)) throw new Error(`no description for ${command.name()} ${word}`);
  const made = new Command(word).description(PARTS[word]);
  command.addCommand(made);
  return made;
}

function operationCommand(operation: Operation, row: OperationCommand, verb: string, io: CliIo): Command {
  const parameters = commandParameters(operation, row);
  const command = new Command(verb).description(decapital(operation.summary));
  for (const argument of parameters.arguments) command.argument(...pathArgument(argument));
  for (const field of parameters.fieldArguments) command.argument(...fieldArgument(field));
  for (const field of parameters.fields) for (const option of optionsOf(field)) command.addOption(option);
  if (typeof operation.body === 'object')
    command.option(
      '--body <json|@file|->',
      'whole body as JSON, which single options override; for example @body.json',
    );
  for (const parameter of parameters.query) command.addOption(queryOption(parameter));
  if (parameters.usesOrganization) command.addOption(organizationOption());
  if (row.checkedBy !== undefined)
    command.option('--no-check', 'do not check whether it works, and do not print what to register');
  if (row.isCodeOfAgent === true) addCodeFileOptions(command);
  if (parameters.isPaged) addPageOptions(command);
  else if (isList(operation, row)) command.addOption(jsonLinesOption());
  if (parameters.usesFrontdoor) command.addOption(frontdoorOption());
  for (const option of conditionOptions(operation)) command.addOption(option);
  addApiOptions(command).addHelpText('after', helpAfter(operation, row));
  return command.action(async (...given: unknown[]) => {
    const options = command.opts<PageOptions>();
    const count = parameters.arguments.length + parameters.fieldArguments.length;
    const args = given.slice(0, count) as Arguments;
    const isJson = options.json === true || options.jsonLines === true;
    await runCommand(io, isJson, () => run({ io, operation, row, parameters }, args, options));
  });
}

type Arguments = readonly (string | readonly string[] | undefined)[];

async function run(parts: Run, args: Arguments, options: PageOptions): Promise<void> {
  const { io, operation, row, parameters } = parts;
  // Imported late, because the network code is most of what a command loads.
  const { withManagement } = await import('../access/access.ts');
  await withManagement(options, io, async (client, access) => {
    const request = await operationRequest({ operation, parameters, args, options, access, client, io });
    const call = (asked: OperationRequest): Promise<unknown> =>
      client.call({ ...asked, path: withQuery(asked.path, asked.query) });
    if (isList(operation, row)) return runList(parts, options, request, call);
    if (row.isCodeOfAgent === true && (await enrollIntoFile(options, { client, request, io }))) return;
    if (options.etag === true) return io.out(`${await entityTag(client, request)}\n`);
    const answer = await call(request);
    if (options.json !== true) {
      if (answer === undefined) io.out(`${row.done ?? 'deleted'} ${request.path.split('/').at(-1)}\n`);
      else {
        // A field of the body is new if it was given. A secret that the server generates is always new.
        const isOfBody = parameters.fields.some(({ name }) => name === row.once);
        const isSecretNew = !isOfBody || Object.hasOwn(request.body as object, row.once!);
        showAnswer(io, row, answer, {
          apiUrl: access.apiUrl,
          isSecretNew,
          name: typeof args[0] === 'string' ? args[0] : undefined,
        });
        if (row.checkedBy !== undefined && options['check'] !== false)
          await showCheck(parts, row.checkedBy, request, answer, client);
      }
    } else if (answer !== undefined) writeJson(io, answer);
  });
}

async function entityTag(
  client: ManagementClient,
  { path, query, ...rest }: OperationRequest,
): Promise<string> {
  const answer = await client.exchange({ ...rest, path: withQuery(path, query) });
  if (answer.entityTag !== undefined) return printable(answer.entityTag);
  throw new FrontdoorError('badGateway', 'answer', 'the Management API sent no ETag');
}

/** The resource exists whatever the result of the check, which is therefore printed separately. */
async function showCheck(
  { io }: Run,
  id: OperationId,
  made: OperationRequest,
  answer: unknown,
  client: ManagementClient,
): Promise<void> {
  const check = operations.find((each) => each.id === id)!;
  const { id: madeId, name } = answer as { readonly id: string; readonly name: string };
  const path = `${made.path}/${encodeURIComponent(madeId)}${check.path.slice(check.path.lastIndexOf('/'))}`;
  try {
    const found = (await client.call({ method: check.method, path })) as ProviderCheckAnswer;
    io.err(providerCheckText(found, name));
  } catch (error) {
    io.err(`The resource was created, but could not be checked: ${messageOf(error)}\n`);
  }
}

async function runList(
  { io, row, parameters }: Run,
  options: PageOptions,
  request: OperationRequest,
  call: (request: OperationRequest) => Promise<unknown>,
): Promise<void> {
  const form = {
    columns: row.columns!,
    isJson: options.json === true,
    isJsonLines: options.jsonLines === true,
    emptyNote: `no ${row.entries ?? row.noun}`,
  };
  const ask = async (page: number | undefined, size: number | undefined): Promise<unknown> => {
    const query = new URLSearchParams(request.query);
    if (page !== undefined) query.set('page', String(page));
    if (size !== undefined) query.set('size', String(size));
    return call({ ...request, query });
  };
  const { page, size, limit = Number.POSITIVE_INFINITY } = options;
  if (parameters.isPaged && page === undefined && size === undefined) {
    return showList(
      io,
      pagesOf(async (at, of) => entriesOf(await ask(at, of)), limit),
      form,
    );
  }
  const answer = await ask(page, size);
  if (form.isJson && !form.isJsonLines) return writeJson(io, answer);
  return showList(io, oneOf(entriesOf(answer).slice(0, limit)), form);
}

async function* oneOf(entries: readonly Entry[]): AsyncGenerator<readonly Entry[]> {
  if (entries.length > 0) yield entries;
}

function isList({ method }: Operation, { columns }: OperationCommand): boolean {
  return method === 'GET' && columns !== undefined;
}

/** Returns the argument's placeholder and its description in help. */
function pathArgument({ name, isRequired, named }: CommandArgument): [string, string?] {
  const placeholder = isRequired ? `<${name}>` : `[${name}]`;
  if (named === undefined) return [placeholder];
  const otherwise = isRequired ? '' : "; default: the caller's own";
  return [placeholder, `the ID or name of the ${named.what}${otherwise}`];
}

function fieldArgument(field: BodyField): [string, string] {
  return [`<${field.option}${field.kind === 'list' ? '...' : ''}>`, fieldHelp(field)];
}

const QUERY_PLACEHOLDERS: Readonly<Record<string, string>> = {
  integer: 'n',
  UUID: 'id',
  'date-time': 'date-time',
  duration: 'time',
  sort: 'field,direction',
  list: 'text,…',
};

function queryOption({ name, option: word, type, summary, values, named }: QueryOption): Option {
  const value =
    named === undefined
      ? (QUERY_PLACEHOLDERS[type] ?? (name === 'sort' ? 'field,direction' : 'text'))
      : 'id|name';
  const example = values === undefined ? queryExample(name, summary) : undefined;
  const help = optionHelp({
    description: summary,
    named: named?.what,
    example,
  });
  const option = new Option(`--${word} <${values === undefined ? value : 'choice'}>`, help);
  if (type === 'duration') option.argParser(isoDurationOf);
  return values === undefined ? option : option.choices(values);
}

/** Example for a query option; for `sort` it is the first field that can be sorted by. */
function queryExample(name: string, summary: string): string | undefined {
  if (name !== 'sort') return OPTION_TEXTS[name]?.example;
  return `${/: (\w+)/.exec(summary)?.[1] ?? 'id'},desc`;
}

function addPageOptions(command: Command): void {
  command
    .option('--limit <n>', 'maximum number of entries to print; default: all; for example 50', number(1))
    .option('--page <n>', 'print only this page, counted from 0; for example 2', number(0))
    .option(
      '--size <n>',
      'number of entries on that page, 1 to 1000; default: 20; for example 100',
      number(1),
    )
    .addOption(jsonLinesOption());
}

function jsonLinesOption(): Option {
  return new Option('--json-lines', 'print one JSON object per line');
}

function number(min: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= min) return value;
    throw new InvalidArgumentError(`must be a whole number of at least ${min}.`);
  };
}

function helpAfter({ method, path, at, scope }: Operation, { examples }: OperationCommand): string {
  const needs = scope === undefined ? 'requires no credentials' : `requires the scope ${scope}`;
  const lines = examples.map((example) => `  frontdoor ${example}`).join('\n');
  return `\n${method} {${at === 'api' ? 'base' : 'auth'}_url}${path}, ${needs}\n\nExamples:\n${lines}\n`;
}
