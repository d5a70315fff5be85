/**
 * A short summary of a run's failures: each failed test with the first lines of its error. It fits into the
 * last lines of a log whose middle was cut. The report prints the errors in full.
 */
import type { TestFileResult } from './test-process.ts';

const MAX_TESTS = 25;
const ERROR_LINES = 15;
/** How many of the last printed lines are shown for a file that failed although none of its tests did. */
const LAST_LINES = 15;
const LINE_CHARS = 300;

export type FailedFile = Pick<TestFileResult, 'file' | 'problem' | 'failures' | 'output'>;

interface Entry {
  readonly title: string;
  readonly lines: readonly string[];
  readonly isCancelled: boolean;
}

/** Empty when nothing failed. Tests that another failure ended come last. */
export function failureSummary(failed: readonly FailedFile[]): string {
  const all = failed.flatMap(entriesOf);
  const entries = [...all.filter((entry) => !entry.isCancelled), ...all.filter((entry) => entry.isCancelled)];
  const shown = entries.slice(0, MAX_TESTS).map(({ title, lines }) => [title, ...lines].join('\n'));
  const rest = entries.slice(MAX_TESTS).map(({ title }) => title);
  return [...shown, ...rest].map((entry) => `\n${entry}\n`).join('');
}

/** All errors of a file, each with the name of its test; of a file without one, what its process printed last. */
export function failuresInFull({ failures, output, problem }: FailedFile, maxChars = 40_000): string {
  const errors = failures.map(({ name, error }) => `✖ ${name}\n${indented(error).join('\n')}\n`);
  const printed = failures.length === 0 || problem !== undefined ? [output.slice(-maxChars / 2)] : [];
  return [...errors, ...printed].join('\n').slice(0, maxChars);
}

function entriesOf({ file, problem, failures, output }: FailedFile): Entry[] {
  const entries = failures.map(({ name, error, isCancelled }) => ({
    title: `FAILED ${file} › ${name}`,
    lines: shortened(indented(error)),
    isCancelled,
  }));
  if (entries.length > 0 && problem === undefined) return entries;
  const own: Entry = {
    title: `FAILED ${file}: ${problem ?? 'its process ended with a failure'}`,
    lines: indented(output.trimEnd()).slice(-LAST_LINES),
    isCancelled: false,
  };
  return [...entries, own];
}

function indented(text: string): string[] {
  return text.split('\n').map((line) => `  ${line}`);
}

/** Leaves out frames of Node itself, and keeps the place of the failure, though the message is long. */
function shortened(error: readonly string[]): string[] {
  const useful = error.filter(
    (line) => line.trim() !== '' && !/^\s+at .*(?:\bnode:|<anonymous>\))/.test(line),
  );
  const first = useful.slice(0, ERROR_LINES);
  const place = useful.find((line) => /^\s+at .*file:/.test(line));
  if (place !== undefined && !first.includes(place)) first.push(place);
  return first.map((line) => line.slice(0, LINE_CHARS));
}
