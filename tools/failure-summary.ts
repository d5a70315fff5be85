/**
 * What failed in a run, short enough for the last lines of a log whose middle was cut: each test that failed, with the
 * first lines of its error. Reads the text of node's spec reporter; whole reports are printed elsewhere.
 */

const MAX_TESTS = 25;
const ERROR_LINES = 15;
/** Of a file that failed without a test that did: the end of what it printed. */
const LAST_LINES = 15;
const LINE_CHARS = 300;
const FAILURES = '✖ failing tests:';
/** Tests that another failure ended: told last. */
const CANCELLED = 'did not finish before its parent';

export interface FailedFile {
  readonly file: string;
  /** What went wrong outside of tests. */
  readonly problem?: string;
  readonly report: string;
}

/** Empty when nothing failed. */
export function failureSummary(failed: readonly FailedFile[]): string {
  const all = failed.flatMap(entriesOf);
  const isCause = ([, error]: Entry): boolean => !error.some((line) => line.includes(CANCELLED));
  const entries = [...all.filter(isCause), ...all.filter((entry) => !isCause(entry))];
  const shown = entries.slice(0, MAX_TESTS).map(([name, error]) => [name, ...shortened(error)].join('\n'));
  const rest = entries.slice(MAX_TESTS).map(([name]) => name);
  return [...shown, ...rest].map((entry) => `\n${entry}\n`).join('');
}

/** The reporter’s list of failures at its end; the end of the text when there is none. */
export function failuresOf(report: string, maxChars = 40_000): string {
  const start = report.lastIndexOf(FAILURES);
  return start < 0 ? report.slice(-maxChars / 2) : report.slice(start, start + maxChars);
}

type Entry = readonly [name: string, error: readonly string[]];

function entriesOf({ file, problem, report }: FailedFile): Entry[] {
  const start = report.lastIndexOf(FAILURES);
  const entries: [name: string, error: string[]][] = [];
  for (const line of start < 0 ? [] : report.slice(start + FAILURES.length).split('\n')) {
    const [, name] = /^✖ (.*?)(?: \([\d.]+ms\))?$/.exec(line) ?? [];
    if (name !== undefined) entries.push([`FAILED ${file} › ${name}`, []]);
    else if (line.startsWith('  ')) entries.at(-1)?.[1].push(line);
  }
  if (entries.length > 0 && problem === undefined) return entries;
  const last = report.trimEnd().split('\n').slice(-LAST_LINES);
  const own: Entry = [
    `FAILED ${file}: ${problem ?? 'its process ended with a failure'}`,
    last.map((line) => `  ${line}`),
  ];
  return [...entries, own];
}

/** Frames of Node itself tell nothing about what failed; where it failed is told though the message is long. */
function shortened(error: readonly string[]): string[] {
  const telling = error.filter(
    (line) => line.trim() !== '' && !/^\s+at .*(?:\bnode:|<anonymous>\))/.test(line),
  );
  const first = telling.slice(0, ERROR_LINES);
  const place = telling.find((line) => /^\s+at .*file:/.test(line));
  if (place !== undefined && !first.includes(place)) first.push(place);
  return first.map((line) => line.slice(0, LINE_CHARS));
}
