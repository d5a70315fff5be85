/** Further targets of a share, by path: the longest path that a request is below decides. ADR 0092. */
import { Part, Type, type ShapeOf } from '#base/shapes';
import { BACKEND_MODE_TABLE, targetForms, type BackendMode } from '../backend-mode-table.ts';
import { parsePathPrefix } from '../request-path.ts';
import { parseShareTarget, type ShareTarget } from '../share-target.ts';

const MAX_ROUTES = 20;
const MAX_ROUTES_CHARS = 4_096;
const MAX_PATH = 200;
const MAX_TARGET = 1_000;
const RESERVED = /^\/\.frontdoor(?:\/|$)/;

const routeSchema = Part.closed({
  path: Type.String({
    minLength: 2,
    maxLength: MAX_PATH,
    description: 'A path of whole segments such as `/api`: it and everything below it',
  }),
  target: Type.String({
    minLength: 1,
    maxLength: MAX_TARGET,
    description: 'Address of the service, or folder, as the agent of the share reaches it',
  }),
  stripPath: Type.Optional(
    Type.Boolean({ description: 'Whether the service gets requests without the path; false by default' }),
  ),
});
export type ShareRouteSetting = ShapeOf<typeof routeSchema>;

export const shareRoutes = Type.Array(routeSchema, {
  maxItems: MAX_ROUTES,
  description:
    'Paths that other services of the same agent serve; the longest path counts. Certificates of their https targets are verified by the authorities that the agent trusts',
});

/** Modes that gateways serve. */
const MODES = (Object.keys(BACKEND_MODE_TABLE) as BackendMode[]).filter(
  (mode) => BACKEND_MODE_TABLE[mode].speaks === 'http',
);

/** Returns the target of a route, or undefined if it is none of HTTP. */
export function routeTarget({ target }: Pick<ShareRouteSetting, 'target'>): ShareTarget | undefined {
  const parsed = parseShareTarget(target);
  return parsed !== undefined && MODES.includes(parsed.mode) ? parsed : undefined;
}

/** Returns the place in the list and the rule that it breaks, of the first route that is wrong. */
export function routeProblem(
  routes: readonly ShareRouteSetting[],
): { readonly place: string; readonly rule: string } | undefined {
  const seen = new Set<string>();
  let chars = 0;
  for (const [at, route] of routes.entries()) {
    const path = parsePathPrefix(route.path);
    if (path === undefined || path === '' || path !== route.path || RESERVED.test(path))
      return { place: `${at}.path`, rule: 'path of whole segments such as /api, without / at its end' };
    if (seen.has(path)) return { place: `${at}.path`, rule: 'path that is given once' };
    seen.add(path);
    if (routeTarget(route) === undefined) return { place: `${at}.target`, rule: targetForms(MODES) };
    chars += path.length + route.target.length;
  }
  return chars > MAX_ROUTES_CHARS
    ? { place: '', rule: `list of at most ${MAX_ROUTES_CHARS} characters` }
    : undefined;
}

const STRIP = 'strip:';

/** Reads `/api=http://127.0.0.1:4000`, and `strip:/api=…` for a service that gets requests without the path. */
export function parseRoute(text: string): ShareRouteSetting | undefined {
  const isStripped = text.startsWith(STRIP);
  const rest = isStripped ? text.slice(STRIP.length) : text;
  const equals = rest.indexOf('=');
  if (equals < 1 || !rest.startsWith('/')) return undefined;
  const route = { path: rest.slice(0, equals), target: rest.slice(equals + 1) };
  return isStripped ? { path: route.path, target: route.target, stripPath: true } : route;
}

/** Application data of a dial that is for the target of a path, for the agent. */
const PREFIX = '{"frontdoor":"route","path":';
const SUFFIX = '}';

export function encodeRouteData(path: string): string {
  return `${PREFIX}${JSON.stringify(path)}${SUFFIX}`;
}

/** Returns the path, or undefined if the data is not that of a route. */
export function decodeRouteData(text: string): string | undefined {
  if (!text.startsWith(PREFIX) || !text.endsWith(SUFFIX)) return undefined;
  const path = text.slice(PREFIX.length + 1, -SUFFIX.length - 1);
  // Paths have no character that JSON escapes.
  return parsePathPrefix(path) === path && encodeRouteData(path) === text ? path : undefined;
}
