/** The reference page of the command line, in Markdown, made from the commands themselves: every command with its options and examples. */
import type { Command, Option } from 'commander';
import { buildWholeProgram, type CliIo, type ProgramRunners } from '#cli';
import { markdownTable } from './markdown-table.ts';

/** The version is no part of the page, which changes only with the commands. */
const VERSION = '';
/** Options that more commands have in the same words are listed once. */
const MAX_REPEATED = 100;
const COMMON = 'Options of every command of the Management API';
const COMMON_LINK = `[options of every command of the Management API](#${COMMON.toLowerCase().replaceAll(' ', '-')})`;

export async function commandLinePage(): Promise<string> {
  const io: CliIo = { out: () => {}, err: () => {}, env: {}, exitCode: 0 };
  // Only commands that run use them.
  const program = await buildWholeProgram(VERSION, io, {} as ProgramRunners);
  const rows = leaves(program).flatMap(shownOptions);
  const common = Object.values(Object.groupBy(rows, (row) => row.join('\n'))).flatMap((same = []) =>
    same.length > MAX_REPEATED ? same.slice(0, 1) : [],
  );
  const groups = Object.entries(Object.groupBy(program.commands, (command) => command.helpGroup() ?? ''));
  const sections = groups.flatMap(([group, commands = []]) => [
    `## ${group.replace(/:$/, '')}`,
    ...commands.flatMap((command) => commandSections(command, ['frontdoor'], common)),
  ]);
  return [
    '# Command line',
    'Generated from the commands by `npm run docs`; do not edit. `frontdoor COMMAND --help` prints the same, and ' +
      '`frontdoor completion bash` (`zsh`, `fish`) a script that completes them. `frontdoor-agent` is `frontdoor agent`.',
    'Exit statuses are those of [errors](errors.md#commands-and-programs). Every option may be written `--option VALUE` or ' +
      '`--option=VALUE`.',
    `## ${COMMON}`,
    ...markdownTable(['Option', 'Meaning'], common),
    ...sections,
  ]
    .join('\n\n')
    .concat('\n');
}

/** A command that has others below it is a sentence before these; it cannot be run. */
function commandSections(
  command: Command,
  above: readonly string[],
  common: readonly (readonly string[])[],
): string[] {
  const path = [...above, command.name()];
  const below = command.commands.flatMap((each) => commandSections(each, path, common));
  const head = [`### ${path.join(' ')}`, `${capitalized(cell(command.description()))}.`];
  if (below.length > 0) return [...head, ...below];
  const all = shownOptions(command);
  const own = all.filter((row) => !isCommon(row, common));
  const table = (title: string, rows: readonly (readonly string[])[]): string[] =>
    rows.length === 0 ? [] : markdownTable([title, 'Meaning'], rows);
  return [
    ...head,
    `\`\`\`text\n${command.createHelp().commandUsage(command)}\n\`\`\``,
    ...table(
      'Argument',
      command.registeredArguments.map((argument) => [`\`${argument.name()}\``, cell(argument.description)]),
    ),
    ...table('Option', own),
    ...(own.length < all.length ? [`It also has the ${COMMON_LINK}.`] : []),
    ...examplesOf(command),
  ];
}

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

function isCommon(row: readonly string[], common: readonly (readonly string[])[]): boolean {
  return common.some((each) => each.join('\n') === row.join('\n'));
}

function shownOptions(command: Command): string[][] {
  return command.options.filter(({ hidden }) => !hidden).map(optionRow);
}

function optionRow(option: Option): string[] {
  const { flags, description, argChoices, defaultValue, defaultValueDescription } = option;
  const choices = argChoices === undefined ? '' : ` (${argChoices.map((each) => `\`${each}\``).join(', ')})`;
  const isShown = defaultValue !== undefined && defaultValue !== false && String(defaultValue) !== '';
  const shown = defaultValueDescription ?? (isShown ? String(defaultValue) : undefined);
  return [
    `\`${flags}\``,
    `${cell(description)}${choices}${shown === undefined ? '' : `; default: ${shown}`}`,
  ];
}

/** What a command prints below its options: sentences, then examples. */
function examplesOf(command: Command): string[] {
  let printed = '';
  command.configureOutput({ writeOut: (text) => void (printed += text), getOutHelpWidth: () => 1_000 });
  command.outputHelp();
  const [, after = ''] = printed.split(command.helpInformation());
  const [sentences = '', examples] = after.split(/^Examples?:\n/m);
  const lines =
    examples
      ?.trimEnd()
      .split('\n')
      .map((line) => line.replace(/^ {2}/, '')) ?? [];
  return [
    ...(sentences.trim() === '' ? [] : [cell(sentences.trim())]),
    ...(lines.length === 0 ? [] : [`\`\`\`sh\n${lines.join('\n')}\n\`\`\``]),
  ];
}

function cell(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('\n', ' ');
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
