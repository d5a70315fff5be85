/**
 * The manual page of a command, in the macros of man(7): what is below it with arguments and options, from the commands themselves,
 * then environment, files and exit statuses from tables. `manual-page.ts frontdoor-agent` prints that of the agent.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { buildWholeProgram, type CliIo, type ProgramRunners } from '#cli';
import { repositoryRoot } from '../pinned-process.ts';
import { ENVIRONMENT, EXIT_STATUSES, FILES } from './manual-table.ts';

const MAX_REPEATED = 100;

interface ManualPlace {
  /** The words above a command. */
  readonly name: string;
  /** Options, as text, that are listed once. */
  readonly common: ReadonlySet<string>;
}

export interface ManualFacts {
  /** What people type. */
  readonly name: string;
  readonly version: string;
  /** The day of the commit; empty outside a clone. */
  readonly day: string;
}

export async function manualPage({ name, version, day }: ManualFacts): Promise<string> {
  const io: CliIo = { out: () => {}, err: () => {}, env: {}, exitCode: 0 };
  // Only commands that run use them.
  const whole = await buildWholeProgram(version, io, {} as ProgramRunners);
  const program =
    name === 'frontdoor' ? whole : whole.commands.find((command) => command.name() === 'agent')!;
  const common = commonOptions(whole);
  const lines = [
    `.TH ${escaped(name.toUpperCase())} 1 "${day}" "Frontdoor ${version}" "Frontdoor"`,
    // Lines are not stretched, and words not divided; long words may exceed a line.
    '.ad l',
    '.nh',
    '.SH NAME',
    `${escaped(name)} \\- ${escaped(program.description())}`,
    '.SH SYNOPSIS',
    `.B ${escaped(name)}`,
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    ...paragraph(
      'Agents beside private services connect outbound to routers, and gateways serve the services to those who may reach them. ' +
        'The control plane knows all parts, and has the Management API, which most of the commands call.',
    ),
    ...paragraph(`"${name} COMMAND --help" shows examples of a command.`),
    '.SH COMMANDS',
    ...commandLines(program, { name, common }),
    ...(common.size === 0 ? [] : ['.SH OPTIONS OF THE MANAGEMENT API']),
    ...common,
    ...tableLines('ENVIRONMENT', ENVIRONMENT),
    ...tableLines('FILES', FILES),
    ...tableLines('EXIT STATUS', EXIT_STATUSES),
  ];
  return `${lines.join('\n')}\n`;
}

/** The commands in their groups, each with the commands below it. */
function commandLines(program: Command, place: ManualPlace): string[] {
  const groups = Map.groupBy(program.commands, (command) => command.helpGroup() ?? '');
  return [...groups].flatMap(([group, commands]) => [
    ...(group === '' ? [] : [`.SS ${escaped(group.replace(/:$/, ''))}`]),
    ...commands.flatMap((command) => nodeLines(command, place)),
  ]);
}

function nodeLines(command: Command, { name, common }: ManualPlace): string[] {
  const path = `${name} ${command.name()}`;
  const head = ['.TP', `.B ${escaped(path)} ${escaped(command.usage())}`, text(command.description())];
  const shown = shownOptions(command);
  const own = shown.filter((option) => !common.has(option));
  const more =
    own.length < shown.length ? ['.PP', 'It also has the options of the Management API below.'] : [];
  const inset = [...own, ...more];
  return [
    ...head,
    ...(inset.length === 0 ? [] : ['.RS', ...inset, '.RE']),
    ...command.commands.flatMap((below) => nodeLines(below, { name: path, common })),
  ];
}

/** Options that more commands have in the same words are listed once. */
function commonOptions(program: Command): Set<string> {
  const counts = new Map<string, number>();
  for (const option of leaves(program).flatMap(shownOptions))
    counts.set(option, (counts.get(option) ?? 0) + 1);
  return new Set([...counts].filter(([, count]) => count > MAX_REPEATED).map(([option]) => option));
}

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

function shownOptions(command: Command): string[] {
  return command.options.filter(({ hidden }) => !hidden).map(optionText);
}

function optionText({
  flags,
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
}: Option): string {
  const choices = argChoices === undefined ? '' : ` (choices: ${argChoices.join(', ')})`;
  const shown = defaultValueDescription ?? shownDefault(defaultValue);
  const byDefault = shown === undefined ? '' : ` (default: ${shown})`;
  return ['.TP', `.B ${escaped(flags)}`, text(`${description}${choices}${byDefault}`)].join('\n');
}

/** A default that says something: no flag, and no empty list or text. */
function shownDefault(value: unknown): string | undefined {
  const values = (Array.isArray(value) ? value : [value]).filter(
    (each) => typeof each === 'number' || (typeof each === 'string' && each !== ''),
  );
  return values.length === 0 ? undefined : values.join(', ');
}

function tableLines(title: string, rows: Readonly<Record<string, string>>): string[] {
  return [
    `.SH ${title}`,
    ...Object.entries(rows).flatMap(([name, about]) => ['.TP', `.B ${escaped(name)}`, text(about)]),
  ];
}

function paragraph(sentences: string): string[] {
  return ['.PP', text(sentences)];
}

/** A line of text, which troff takes for a request where it begins with a dot or a quote. */
function text(words: string): string {
  return escaped(words.replaceAll(/\s+/g, ' ').trim()).replace(/^(?=[.'])/, String.raw`\&`);
}

function escaped(words: string): string {
  return words.replaceAll('\\', String.raw`\e`).replaceAll('-', String.raw`\-`);
}

/** Returns '' where there is no clone, or no git. */
function commitDay(): string {
  try {
    const words = ['log', '-1', '--date=format-local:%Y-%m-%d', '--format=%cd'];
    const env = { ...process.env, TZ: 'UTC' };
    return execFileSync('git', words, { cwd: repositoryRoot, encoding: 'utf8', stdio: 'pipe', env }).trim();
  } catch {
    return '';
  }
}

if (import.meta.main) {
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  process.stdout.write(await manualPage({ name: process.argv[2] ?? 'frontdoor', version, day: commitDay() }));
}
