/** How an operation of the Management API is called on the command line: one row of the tables of commands. */
import type { OperationId } from '#contract';
import type { Noun } from './noun-table.ts';

export interface OperationCommand {
  readonly noun: Noun;
  /** One word, or two: a part of the noun (`PARTS`) and what is done with it. */
  readonly verb: string;
  /** The same command under another verb. */
  readonly alias?: string;
  /** How an answer is shown to people, when not as a table or as names and values. */
  readonly view?:
    'json' | 'metrics' | 'sparklines' | 'inspection' | 'explanation' | 'inspected' | 'provider-check';
  /** Fields of an entry that its table shows; a dot leads into an object. */
  readonly columns?: readonly string[];
  /** What it says when a list is empty: `no` and this; the noun when not given. */
  readonly entries?: string;
  /** What was done to what a DELETE names; `deleted` when not given. */
  readonly done?: string;
  /** Field of the answer that is shown this once. */
  readonly once?: string;
  /** What to do next; names of the answer's fields in braces, and {api}. */
  readonly next?: string;
  /** The operation that is called with the id of what was made, and shown beside it; `--no-check` leaves it out. */
  readonly checkedBy?: OperationId;
  /** Fields of the body that are no options, and why: they can be given by --body. */
  readonly bodyOnly?: Readonly<Record<string, string>>;
  /** Fields of the body that are arguments, in this order after those of the path. */
  readonly fieldArguments?: readonly string[];
  /** Options and arguments with another name than their field or parameter. */
  readonly called?: Readonly<Record<string, string>>;
  /** What stands after "frontdoor". */
  readonly examples: readonly string[];
}

/** An operation with a command of its own kind. */
export interface ElsewhereCommand {
  /** The words of that command; undefined: none, for the reason. */
  readonly elsewhere: readonly string[] | undefined;
  readonly reason: string;
}

export function isOperationCommand(row: OperationCommand | ElsewhereCommand): row is OperationCommand {
  return 'noun' in row;
}
