/** Which methods a path has: for `Allow`, and to tell a wrong method from a path that is not there. */
import { entityTagKindOf, operations, type Operation } from '#contract';

const templates = operations.map((operation: Operation) => ({
  method: operation.method,
  hasHead: hasHead(operation),
  parameters: operation.path.split('{').length - 1,
  pattern: new RegExp(`^${operation.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The methods that a path has, for `Allow`; none for a path that is not there. */
export function allowedMethods(url: string, prefix: string): string[] {
  const [path = ''] = url.split('?');
  if (!path.startsWith(prefix)) return [];
  const matching = templates.filter(({ pattern }) => pattern.test(path.slice(prefix.length)));
  // What is named outright is that, and not a parameter's value too: `enrollments` is no agent's id.
  const fewest = Math.min(...matching.map(({ parameters }) => parameters));
  const literal = matching.filter(({ parameters }) => parameters === fewest);
  const methods = new Set<string>(literal.map(({ method }) => method));
  if (literal.some((template) => template.hasHead)) methods.add('HEAD');
  if (methods.size > 0) methods.add('OPTIONS');
  return [...methods].sort();
}

/** HEAD does all that GET does, and throws the answer away: not for one that is a stream of its own. */
export function hasHead(operation: Operation): boolean {
  const { method, answer } = operation;
  return method === 'GET' && (answer.schema !== undefined || entityTagKindOf(operation) !== undefined);
}
