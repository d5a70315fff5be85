/** Which methods a path has: for `Allow`, and to tell a wrong method from a path that is not there. */
import { operations } from '#contract';

const templates = operations.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The methods that a path has, for `Allow`; none for a path that is not there. */
export function allowedMethods(url: string, prefix: string): string[] {
  const [path = ''] = url.split('?');
  if (!path.startsWith(prefix)) return [];
  const methods = new Set<string>();
  for (const { method, pattern } of templates)
    if (pattern.test(path.slice(prefix.length))) methods.add(method);
  if (methods.has('GET')) methods.add('HEAD');
  if (methods.size > 0) methods.add('OPTIONS');
  return [...methods].sort();
}
