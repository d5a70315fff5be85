/** `router check` and `router schema`: check a file, print the result as text or JSON, and return an exit status. */
import { stringify } from 'yaml';
import { FILE_EXIT_STATUS, fileExitStatus, FrontdoorError, messageOf } from '#base';
import { FILE_START, fileProblemLine, inFileOrder } from '#base/shapes';
import { effectiveView } from './effective-file.ts';
import { routerFileJsonSchema } from './file-json-schema.ts';
import { checkIdentityFiles } from './identity-check.ts';
import { loadBytes, readRouterFile, surroundingsOf } from './router-file.ts';
import type { ConfigProblem } from './router-config.ts';

export interface RouterCheckOptions {
  readonly json: boolean;
  /** Print the file with all defaults. */
  readonly effective: boolean;
  /** Also check the certificates and keys that the file names. */
  readonly files: boolean;
}

export interface CheckOutput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Exit status: 0 for a valid file, 1 for an invalid one, 2 if it cannot be read. */
export function checkRouterFile(file: string, options: RouterCheckOptions, io: CheckOutput): number {
  let bytes: Uint8Array;
  try {
    bytes = loadBytes(file);
  } catch (error) {
    return refuse(file, error, options, io);
  }
  const read = readRouterFile(bytes, file, surroundingsOf(io.env));
  const { config, effective } = read;
  const problems = inFileOrder([
    ...read.problems,
    ...(options.files && config !== undefined ? checkIdentityFiles(config, read.root) : []),
  ]);
  const isValid = problems.every(({ severity }) => severity !== 'error');
  if (options.effective && isValid && effective !== undefined) {
    const view = effectiveView(effective);
    io.err(problems.map((problem) => `${fileProblemLine(file, problem)}\n`).join(''));
    io.out(options.json ? json(view) : stringify(view));
  } else if (options.json) io.out(json({ valid: isValid, problems: problems.map(asJson) }));
  else io.out(report(file, problems));
  return isValid ? FILE_EXIT_STATUS.success : FILE_EXIT_STATUS.invalidFile;
}

export function routerSchemaText(): string {
  return json(routerFileJsonSchema());
}

function refuse(file: string, error: unknown, options: RouterCheckOptions, io: CheckOutput): number {
  const isUnreadable = error instanceof FrontdoorError && error.kind === 'notFound';
  const rule = isUnreadable ? 'unreadable' : 'syntax';
  const message = isUnreadable ? messageOf(error) : 'is too long to be a configuration';
  const problem: ConfigProblem = { severity: 'error', path: '', ...FILE_START, rule, message };
  if (options.json) io.out(json({ valid: false, problems: [asJson(problem)] }));
  else if (isUnreadable) io.err(`frontdoor: ${message}\n`);
  else io.out(report(file, [problem]));
  return fileExitStatus(error) ?? FILE_EXIT_STATUS.invalidFile;
}

function report(file: string, problems: readonly ConfigProblem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const counts = [
    ...(errors === 0 ? [] : [`${errors} ${errors === 1 ? 'error' : 'errors'}`]),
    ...(warnings === 0 ? [] : [`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`]),
  ];
  const verdict = `${errors === 0 ? 'valid' : 'not valid'}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`;
  return [...problems.map((problem) => fileProblemLine(file, problem)), `${file} is ${verdict}`, ''].join(
    '\n',
  );
}

/** Every key is always present: `value` is null when none was given. */
function asJson({ severity, path, line, rule, value, message }: ConfigProblem): unknown {
  return { severity, path, line, rule, value: value ?? null, message };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
