/** Collects the problems of a router file, each with its position and value. */
import { HIDDEN } from '#base';
import { FILE_START, inFileOrder } from '#base/shapes';
import { placeAt, plainValue, type FileEntry, type FileNode } from './file-tree.ts';
import type { ConfigProblem } from './router-config.ts';

type Severity = ConfigProblem['severity'];

/** Unknown keys beyond this number are only counted, because each one costs a search for similar keys. */
const MAX_UNKNOWN_KEYS = 1_000;

/** An unknown key with such a name may be a misspelt password, as one beside secrets may be, so its value is hidden. */
const SECRET_NAME = /pass|secret|token|pin|key/i;

interface UnknownKeyNotes {
  readonly severity?: Severity;
  /** Whether the section has keys with secrets. */
  readonly isBesideSecrets: boolean;
}

export class ProblemList {
  readonly #root: FileNode;
  readonly #problems: ConfigProblem[] = [];
  #unknownKeys = 0;

  constructor(root: FileNode) {
    this.#root = root;
  }

  /** Reports a problem of the node at `path`, or at the position where that node is missing. */
  report(severity: Severity, path: string, rule: string, message: string, isSecret = false): void {
    const { line, column, node } = placeAt(this.#root, path);
    this.reportAbout(node, { severity, path, line, column, rule, message }, isSecret);
  }

  /** Adds the value as written and, if it names variables, the value after substitution. */
  reportAbout(node: FileNode | undefined, problem: Omit<ConfigProblem, 'value'>, isSecret: boolean): void {
    const isReplaced = node?.kind === 'text' && node.written !== undefined && !isSecret;
    const became = isReplaced ? `; with its variables it is "${String(node.value)}"` : '';
    this.reportAt({ ...problem, value: given(node, isSecret), message: `${problem.message}${became}` });
  }

  error(path: string, rule: string, message: string): void {
    this.report('error', path, rule, message);
  }

  warning(path: string, rule: string, message: string): void {
    this.report('warning', path, rule, message);
  }

  reportAt(problem: ConfigProblem): void {
    this.#problems.push(problem);
  }

  unknownKey(
    path: string,
    { line, column, node }: FileEntry,
    message: () => string,
    { severity = 'warning', isBesideSecrets }: UnknownKeyNotes,
  ): void {
    this.#unknownKeys += 1;
    if (this.#unknownKeys > MAX_UNKNOWN_KEYS) return;
    const value = given(node, isBesideSecrets || SECRET_NAME.test(path));
    this.reportAt({
      severity,
      path,
      line,
      column,
      rule: 'unknown-key',
      value,
      message: message(),
    });
  }

  get hasErrors(): boolean {
    return this.#problems.some(({ severity }) => severity === 'error');
  }

  hasErrorWithin(section: string): boolean {
    return this.#problems.some(({ severity, path }) => severity === 'error' && path.startsWith(section));
  }

  /** Returns all problems in the order of the file. */
  all(): readonly ConfigProblem[] {
    const more = this.#unknownKeys - MAX_UNKNOWN_KEYS;
    const message = `${more} more keys are unknown and have no effect`;
    const rest: ConfigProblem[] =
      more > 0 ? [{ severity: 'warning', path: '', ...FILE_START, rule: 'unknown-key', message }] : [];
    return inFileOrder([...this.#problems, ...rest]);
  }
}

/** Returns undefined when no value was given. */
function given(node: FileNode | undefined, isSecret: boolean): unknown {
  if (node === undefined) return undefined;
  return isSecret && node.kind !== 'null' ? HIDDEN : plainValue(node);
}
