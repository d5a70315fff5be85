/** Which requests of a host reach a handler of Caddy: what its matchers say, for the ones that a share can have as well. */
import type { SourceTable } from '../source-table.ts';

/** Every field narrows the requests. */
export interface CaddyScope {
  /** One pattern of a path, as clients request it: `/api/*`. */
  readonly path?: string;
  /** Networks of the clients. */
  readonly from?: readonly string[];
  /** Networks that no client is in. */
  readonly notFrom?: readonly string[];
  /** A matcher that a share does not have. */
  readonly isOther?: true;
}

const ALL: CaddyScope = {};
const ADDRESS_MATCHERS = ['remote_ip', 'client_ip'];

/** The scopes of a route for one host, each narrower than that around it: none if the route is not for the host. */
export function scopesOf(route: SourceTable, host: string | undefined): readonly CaddyScope[] {
  const sets = route.tables('match');
  return sets.length === 0 ? [ALL] : sets.flatMap((set) => scopesOfSet(set, host));
}

function scopesOfSet(set: SourceTable, host: string | undefined): readonly CaddyScope[] {
  const hosts = hostsOf(set);
  if (hosts !== undefined && (host === undefined || !hosts.some((pattern) => covers(pattern, host))))
    return [];
  const others = set.keys.filter((key) => !['host', 'path', 'protocol'].includes(key));
  // Requests by HTTP are not looked at: gateways redirect them.
  if (set.has('protocol') && !['https', 'tls'].includes(set.text('protocol') ?? '')) return [];
  const scopes: CaddyScope[] = [];
  let scope = ALL;
  for (const key of others) {
    const next = key === 'not' ? withoutNot(set, host) : addressScope(set, key);
    if (next === undefined) return [];
    scope = narrowed(scope, next, '');
  }
  const paths = set.has('path') ? set.texts('path') : ['*'];
  for (const path of paths) scopes.push(isEveryPath(path) ? scope : narrowed(scope, { path }, ''));
  return scopes;
}

/** Undefined if the set matches no request of the host. */
function withoutNot(set: SourceTable, host: string | undefined): CaddyScope | undefined {
  const networks: string[] = [];
  for (const part of set.tables('not')) {
    const [key = ''] = part.keys;
    const isAlone = part.keys.length === 1;
    if (isAlone && key === 'host') {
      if (host !== undefined && part.texts(key).some((pattern) => covers(pattern, host))) return undefined;
    } else if (isAlone && key === 'protocol' && part.text(key) === 'http') continue;
    else {
      const { from } = isAlone ? addressScope(part, key) : ALL;
      if (from === undefined) return { isOther: true };
      networks.push(...from);
    }
  }
  return networks.length === 0 ? ALL : { notFrom: networks };
}

function addressScope(set: SourceTable, key: string): CaddyScope {
  const addresses = ADDRESS_MATCHERS.includes(key) ? set.table(key) : undefined;
  const isPlain = addresses?.keys.length === 1 && addresses.has('ranges');
  return isPlain ? { from: addresses.texts('ranges') } : { isOther: true };
}

/** The host names of a matcher, in lower case; undefined if it is for all hosts. */
export function hostsOf(set: SourceTable): readonly string[] | undefined {
  return set.has('host') ? set.texts('host').map((host) => host.toLowerCase()) : undefined;
}

/** Whether a host, which may be a pattern itself, is of a pattern such as `*.example.com`. */
export function covers(pattern: string, host: string): boolean {
  return (
    pattern === host || (pattern.startsWith('*.') && pattern.slice(2) === host.slice(host.indexOf('.') + 1))
  );
}

export function isEveryPath(path: string): boolean {
  return path === '*' || path === '/*';
}

export function isEverything({ path, from, notFrom, isOther }: CaddyScope): boolean {
  return path === undefined && from === undefined && notFrom === undefined && isOther === undefined;
}

/** `stripped` is the path that requests have lost before `inner` is looked at. */
export function narrowed(outer: CaddyScope, inner: CaddyScope, stripped: string): CaddyScope {
  const path = inner.path === undefined ? undefined : stripped + inner.path;
  const isBoth =
    (outer.from !== undefined && inner.from !== undefined) ||
    (outer.notFrom !== undefined && inner.notFrom !== undefined);
  const isApart =
    path !== undefined && outer.path !== undefined && !isIn(path, outer.path) && !isIn(outer.path, path);
  const narrower = path !== undefined && (outer.path === undefined || isIn(path, outer.path));
  return definedScope({
    path: narrower ? path : outer.path,
    from: outer.from ?? inner.from,
    notFrom: outer.notFrom ?? inner.notFrom,
    isOther: isBoth || isApart || outer.isOther === true || inner.isOther === true,
  });
}

function definedScope({
  path,
  from,
  notFrom,
  isOther,
}: {
  readonly path: string | undefined;
  readonly from: readonly string[] | undefined;
  readonly notFrom: readonly string[] | undefined;
  readonly isOther: boolean;
}): CaddyScope {
  return Object.assign(
    {},
    path === undefined ? undefined : { path },
    from === undefined ? undefined : { from },
    notFrom === undefined ? undefined : { notFrom },
    isOther ? { isOther } : undefined,
  );
}

/** Whether every path of a pattern is one of another pattern. */
function isIn(path: string, other: string): boolean {
  return path === other || (other.endsWith('*') && path.startsWith(other.slice(0, -1)));
}
