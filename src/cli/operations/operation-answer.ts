/** Prints the response of an operation as tables, as names and values, or as JSON. */
import { ERROR_KINDS } from '#base';
import { printable } from '#base/terminal';
import type {
  AccessExplanationAnswer,
  BusiestSharesAnswer,
  FrontdoorMetricsAnswer,
  InspectedRequestAnswer,
  InspectionAnswer,
  ProviderCheckAnswer,
  ProviderDraftCheckAnswer,
  SparklinesAnswer,
} from '#contract/schemas';
import { writeJson, type CliIo } from '../cli-io.ts';
import { cellText, fieldOf } from '../output/cell-text.ts';
import { explanationText } from '../output/explanation-text.ts';
import { inspectedText } from '../output/inspected-text.ts';
import { inspectionText } from '../output/inspection-text.ts';
import { busiestText, metricsText, sparklinesText } from '../output/metric-text.ts';
import { providerCheckText } from '../output/provider-check-text.ts';
import { recordText } from '../output/record-text.ts';
import { TableText } from '../output/table-text.ts';
import type { Entry } from './list-pages.ts';
import type { OperationCommand } from './operation-command.ts';

export interface ListForm {
  readonly columns: readonly string[];
  readonly isJson: boolean;
  readonly isJsonLines: boolean;
  /** Printed on standard error if there is no entry. */
  readonly emptyNote: string;
}

export interface ShownAnswer {
  readonly apiUrl: string;
  /** Whether this call created the secret in the row's `once` field. */
  readonly isSecretNew: boolean;
  /** The first argument of the command. */
  readonly name?: string | undefined;
}

/** Prints a single object. */
export function showAnswer(
  io: CliIo,
  row: OperationCommand,
  answer: unknown,
  { apiUrl, isSecretNew, name: firstArgument = '' }: ShownAnswer,
): void {
  if (typeof answer === 'string') return io.out(answer);
  if (row.view === 'metrics') return io.out(metricsText(answer as FrontdoorMetricsAnswer));
  if (row.view === 'sparklines') return io.out(sparklinesText(answer as SparklinesAnswer));
  if (row.view === 'busiest') return io.out(busiestText(answer as BusiestSharesAnswer));
  if (row.view === 'explanation') return io.out(explanationText(answer as AccessExplanationAnswer));
  if (row.view === 'inspected') return io.out(inspectedText(answer as InspectedRequestAnswer));
  if (row.view === 'provider-check') return showProviderCheck(io, answer as AnyProviderCheck, firstArgument);
  if (row.view === 'inspection') return showInspection(io, answer as InspectionAnswer);
  if (row.view === 'json') {
    showWarnings(io, answer);
    return writeJson(io, answer);
  }
  io.out(recordText(answer as object));
  const { once, next } = row;
  if (once !== undefined && isSecretNew && fieldOf(answer, once) !== undefined)
    io.err(`${once} is a secret that is not shown again: store it now.\n`);
  if (next !== undefined) {
    const hint = next.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      name === 'api' ? apiUrl : name === 'argument' ? firstArgument : cellText(fieldOf(answer, name)),
    );
    io.err(`Next: ${hint}\n`);
  }
}

/** Prints warnings about a policy. They are part of its JSON, too. */
export function showWarnings(io: CliIo, answer: unknown): void {
  const { warnings } = (answer ?? {}) as { readonly warnings?: unknown };
  if (!Array.isArray(warnings)) return;
  for (const { message } of warnings as { readonly message?: unknown }[])
    if (typeof message === 'string') io.err(`Warning: ${printable(message)}\n`);
}

/** Prints the check. The exit status shows whether people can log in. */
type AnyProviderCheck = ProviderCheckAnswer | ProviderDraftCheckAnswer;

function showProviderCheck(io: CliIo, answer: AnyProviderCheck, name: string | undefined): void {
  io.out(providerCheckText(answer, name));
  if (answer.discovery === 'failed') io.exitCode = ERROR_KINDS.unavailable.exitCode;
}

function showInspection(io: CliIo, answer: InspectionAnswer): void {
  if (answer.values.length === 0) io.err('no router returned a value for these names\n');
  else io.out(inspectionText(answer));
}

/** Prints entries as they arrive, so that the first ones appear before the last ones are requested. */
export async function showList(
  io: CliIo,
  pages: AsyncIterable<readonly Entry[]>,
  { columns, isJson, isJsonLines, emptyNote }: ListForm,
): Promise<void> {
  const isBold = io.columns !== undefined && (io.env.NO_COLOR ?? '') === '' && io.env.TERM !== 'dumb';
  const table = new TableText({ columns, terminalColumns: io.columns, isBold });
  let count = 0;
  for await (const entries of pages) {
    if (isJsonLines) for (const entry of entries) io.out(`${JSON.stringify(entry)}\n`);
    else if (isJson) {
      for (const [index, entry] of entries.entries())
        io.out(
          `${count + index === 0 ? '[' : ','}\n  ${JSON.stringify(entry, null, 2).replaceAll('\n', '\n  ')}`,
        );
    } else io.out(await table.portion(entries));
    count += entries.length;
  }
  if (isJson && !isJsonLines) io.out(count === 0 ? '[]\n' : '\n]\n');
  else if (count === 0) io.err(`${emptyNote}\n`);
}
