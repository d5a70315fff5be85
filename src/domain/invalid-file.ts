/** The error of a configuration file with problems, whose message has a line for each. */
import { FrontdoorError } from '#base';
import { fileProblemLine, type FileProblem } from '#base/shapes';

export function invalidFile(file: string, problems: readonly FileProblem[]): FrontdoorError {
  const lines = problems.map((problem) => `  ${fileProblemLine(file, problem)}`);
  return new FrontdoorError('invalid', 'config-invalid', `${file} has problems:\n${lines.join('\n')}`);
}
