/** Problems of a configuration file, as its owner sees them: one line each, with the place, the remedy and the value. */

export interface FilePosition {
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
}

export interface FileProblem extends FilePosition {
  readonly severity: 'error' | 'warning';
  /** Such as `listeners[0].options.advertise`; empty for the whole file. */
  readonly path: string;
  /** What the value must be, or why it has no effect. */
  readonly message: string;
  /** A stable name of the rule, for programs. */
  readonly rule?: string;
  /** As written; undefined when nothing was. */
  readonly value?: unknown;
}

export const FILE_START: FilePosition = { line: 1, column: 1 };

const MAX_SHOWN = 120;

/** `router.yml:12:3 error forwarder.linkDialWorkerCount: must be from 1 to 10000 (minimum, given 0)`. */
export function fileProblemLine(file: string, problem: FileProblem): string {
  const { line, column, severity, path, message, rule, value } = problem;
  // A section is not shown whole: it would hide the problem.
  const isShown = value !== undefined && (value === null || typeof value !== 'object');
  const notes = [...(rule === undefined ? [] : [rule]), ...(isShown ? [`given ${shortened(value)}`] : [])];
  const place = `${file}:${line}:${column} ${severity}${path === '' ? '' : ` ${path}`}`;
  return `${place}: ${message}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

/** In the order of the file. */
export function inFileOrder<P extends FilePosition>(problems: readonly P[]): readonly P[] {
  return [...problems].sort((a, b) => a.line - b.line);
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
