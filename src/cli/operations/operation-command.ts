/** The shape of a row of the command tables: how an operation of the Management API is called on the command line. */
import type { OperationId } from '#contract';
import type { Noun } from './noun-table.ts';

export interface OperationCommand {
  readonly noun: Noun;
  /** One word, or a second noun of `PARTS` and a verb. */
  readonly verb: string;
  /** Another verb for the same command. */
  readonly alias?: string;
  /** How the response is shown to people, unless as a table or as names and values. */
  readonly view?:
    | 'json'
    | 'metrics'
    | 'sparklines'
    | 'busiest'
    | 'inspection'
    | 'explanation'
    | 'inspected'
    | 'provider-check';
  /** The fields of an entry that its table shows. A dot selects a nested field. */
  readonly columns?: readonly string[];
  /** The words after `no` for an empty list; the noun by default. */
  readonly entries?: string;
  /** The participle for a DELETE; `deleted` by default. */
  readonly done?: string;
  /** The field with a secret that the response shows only once. */
  readonly once?: string;
  /** Whether the secret is the code of an agent, which may be written into a file. */
  readonly isCodeOfAgent?: boolean;
  /** A hint about the next step, with names of response fields, {api} and {argument} (the first one) in braces. */
  readonly next?: string;
  /** An operation to call with the id of the created resource, shown beside it. `--no-check` skips it. */
  readonly checkedBy?: OperationId;
  /** Body fields without an option, with the reason. They can be given with --body. */
  readonly bodyOnly?: Readonly<Record<string, string>>;
  /** Body fields that are arguments, in this order after those of the path. */
  readonly fieldArguments?: readonly string[];
  /** Names of options and arguments that differ from their field or parameter. */
  readonly called?: Readonly<Record<string, string>>;
  /** The words after "frontdoor". */
  readonly examples: readonly string[];
}

/** An operation that a command of another form calls. */
export interface ElsewhereCommand {
  /** The words of that command; undefined if there is none, for the given reason. */
  readonly elsewhere: readonly string[] | undefined;
  readonly reason: string;
}

export function isOperationCommand(row: OperationCommand | ElsewhereCommand): row is OperationCommand {
  return 'noun' in row;
}
