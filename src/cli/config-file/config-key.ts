/** The keys of a section of the configuration file: one for each option of its command, with the form of its value. */
import type { Command, Option } from 'commander';
import { traitsOf } from '../value-parser.ts';
import { CONFIG_SECTIONS, type ConfigSection } from './config-section-table.ts';

export interface ConfigForm {
  readonly kind: 'flag' | 'switch' | 'choice' | 'number' | 'text' | 'list' | 'settings';
  /** The bounds of a number. */
  readonly bounds?: readonly [least: number, most: number] | undefined;
  /** The words of a choice. */
  readonly choices?: readonly string[] | undefined;
  /** Stands between the entries of a list on the command line, where they are one text. */
  readonly separator?: string | undefined;
  readonly isPath: boolean;
  readonly isSecret: boolean;
}

export interface ConfigKey {
  /** The name of the option in camel case. */
  readonly name: string;
  readonly option: Option;
  readonly form: ConfigForm;
  /** A variable of the environment that has precedence. */
  readonly variable: string | undefined;
  /** The key for the file with the value, or for the value in the file. Only one of them can be given. */
  readonly twin: string | undefined;
}

export interface DescribedSection extends ConfigSection {
  readonly description: string;
  readonly keys: readonly ConfigKey[];
}

/** The option that names the file. */
const CONFIG = 'config';
/** `<file>`, and `<[name=]file>`. */
const PATH = /[<\]](?:file|dir|path|program)>/;
const SETTINGS = /<name=value/;

export function configKeysOf(command: Command, variables: ConfigSection['variables'] = {}): ConfigKey[] {
  const options = command.options.filter((option) => option.attributeName() !== CONFIG);
  const names = new Set(options.map((option) => option.attributeName()));
  return options.map((option) => {
    const name = option.attributeName();
    const twin = name.endsWith('File') ? name.slice(0, -'File'.length) : `${name}File`;
    return {
      name,
      option,
      form: formOf(option),
      variable: option.envVar ?? variables[name],
      twin: names.has(twin) ? twin : undefined,
    };
  });
}

/** `program`: the whole command line. */
export function describedSections(program: Command): DescribedSection[] {
  return Object.values<ConfigSection>(CONFIG_SECTIONS).map((section) => {
    const command = section.words.reduce<Command>(
      (above, word) => above.commands.find((each) => each.name() === word)!,
      program,
    );
    const { path, words, variables, required } = section;
    return {
      path,
      words,
      required,
      description: command.description(),
      keys: configKeysOf(command, variables),
    };
  });
}

function formOf(option: Option): ConfigForm {
  const { flags, argChoices: choices, variadic, parseArg } = option;
  const { bounds, isRepeated = false, separator, isSecret = false } = traitsOf(parseArg);
  const about = { isPath: PATH.test(flags), isSecret };
  if (!option.required && !option.optional) return { kind: 'flag', ...about };
  if (choices?.join() === 'on,off') return { kind: 'switch', ...about };
  if (choices !== undefined) return { kind: 'choice', choices, ...about };
  if (bounds !== undefined) return { kind: 'number', bounds, ...about };
  if (SETTINGS.test(flags)) return { kind: 'settings', ...about };
  if (variadic || isRepeated || separator !== undefined) return { kind: 'list', separator, ...about };
  return { kind: 'text', ...about };
}
