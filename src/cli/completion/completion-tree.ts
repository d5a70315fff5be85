/**
 * The words that can follow each command: subcommands, options and values of options, as data taken from the
 * commands.
 */
import type { Command, Option } from 'commander';

export interface CompletionNode {
  /** The words after `frontdoor`, joined by spaces. Empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletionOption[];
}

export interface CompletionOption {
  /** `--name`. */
  readonly flag: string;
  readonly description: string;
  /** The kind of value that follows the option. */
  readonly value: 'none' | 'choice' | 'file' | 'text';
  readonly choices: readonly string[];
}

const HELP: CompletionOption = {
  flag: '--help',
  description: 'display help for command',
  value: 'none',
  choices: [],
};

export function completionTree(program: Command, above: readonly string[] = []): CompletionNode[] {
  const node: CompletionNode = {
    path: above.join(' '),
    commands: program.commands.map((command) => ({
      name: command.name(),
      description: command.description(),
    })),
    options: [...program.options.map(optionOf), HELP],
  };
  return [
    node,
    ...program.commands.flatMap((command) => completionTree(command, [...above, command.name()])),
  ];
}

function optionOf({
  long,
  short,
  description,
  required,
  optional,
  argChoices,
  flags,
}: Option): CompletionOption {
  const takesValue = required || optional;
  const choices = argChoices ?? [];
  const isFile = /[<[](?:[\w-]*(?:file|dir|path))/.test(flags) || flags.includes('<json|');
  return {
    flag: long ?? short ?? '',
    description,
    value: !takesValue ? 'none' : choices.length > 0 ? 'choice' : isFile ? 'file' : 'text',
    choices,
  };
}
