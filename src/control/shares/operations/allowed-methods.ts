/** The methods of a path, for `Allow`, and to distinguish a wrong method from an unknown path. */
import { entityTagKindOf, operations, type Operation } from '#contract';

const templates = operations.map((operation: Operation) => ({
  method: operation.method,
  hasHead: hasHead(operation),
  parameters: operation.path.split('{').length - 1,
  pattern: new RegExp(`^${operation.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** Returns the methods of a path for `Allow`; none for an unknown path. */
export function allowedMethods(url: string, prefix: string): string[] {
  const [path = ''] = url.split('?');
  if (!path.startsWith(prefix)) return [];
  const matching = templates.filter(({ pattern }) => pattern.test(path.slice(prefix.length)));
  // A literal segment has precedence over a parameter: `enrollments` is not an agent's id.
  const fewest = Math.min(...matching.map(({ parameters }) => parameters));
  const literal = matching.filter(({ parameters }) => parameters === fewest);
  const methods = new Set<string>(literal.map(({ method }) => method));
  if (literal.some((template) => template.hasHead)) methods.add('HEAD');
  if (methods.size > 0) methods.add('OPTIONS');
  return [...methods].sort();
}

/** HEAD runs GET and discards the body, which is not possible for an endless stream. */
export function hasHead(operation: Operation): boolean {
  const { method, answer } = operation;
  return method === 'GET' && (answer.schema !== undefined || entityTagKindOf(operation) !== undefined);
}
