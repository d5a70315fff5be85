/**
 * Resources that have an id and a name in a list of the Management API. Wherever a path, query or body needs one
 * of these ids, the command line accepts the name too.
 */

export interface NamedThing {
  /** Path of the list; `{frontdoorId}` and `{organizationId}` are the selected ones. */
  readonly path: string;
  /** The noun in messages: `there is no … called x`. */
  readonly what: string;
  /** The field that holds the name. A share is called by its token, which is its name. */
  readonly name: 'name' | 'publicName' | 'hostname';
  /** Fields and parameters of other resources that hold its id. */
  readonly heldBy: readonly string[];
}

const FRONTDOOR = '/frontdoor/{frontdoorId}';
const plain = { name: 'name', heldBy: [] } as const;

export const NAMED_THINGS: readonly NamedThing[] = [
  { ...plain, path: `${FRONTDOOR}/environments`, what: 'environment', heldBy: ['environmentId', 'grants'] },
  { ...plain, path: `${FRONTDOOR}/agents`, what: 'agent' },
  { ...plain, path: `${FRONTDOOR}/agents/enrollments`, what: 'enrollment' },
  {
    ...plain,
    path: `${FRONTDOOR}/auth-providers`,
    what: 'auth provider',
    heldBy: ['authProviderIds', 'authProviderId', 'providerId'],
  },
  { ...plain, path: `${FRONTDOOR}/policies`, what: 'policy', heldBy: ['policyId'] },
  {
    name: 'publicName',
    path: `${FRONTDOOR}/frontends`,
    what: 'frontend',
    heldBy: ['frontendId', 'frontendIds'],
  },
  { name: 'hostname', path: `${FRONTDOOR}/custom-frontends`, what: 'custom frontend', heldBy: [] },
  { name: 'hostname', path: '/hostname-claims', what: 'claimed hostname', heldBy: [] },
  { ...plain, path: '/organizations', what: 'organization', heldBy: ['organizationId'] },
  {
    ...plain,
    path: '/organizations/{organizationId}/frontdoors',
    what: 'frontdoor',
    heldBy: ['frontdoorId'],
  },
  { ...plain, path: '/api-accounts', what: 'API account' },
  { ...plain, path: '/oauth-clients', what: 'OAuth client' },
  { ...plain, path: '/notification-destinations', what: 'notification destination' },
  { ...plain, path: '/people', what: 'person' },
  { ...plain, path: '/invitations', what: 'invitation' },
  { ...plain, path: '/console-log-ins', what: 'console sign-in' },
  { ...plain, path: '/console-sessions', what: 'console session' },
  { ...plain, path: '/fabric/routers', what: 'router', heldBy: ['routerId'] },
  { ...plain, path: '/fabric/gateways', what: 'gateway' },
  { ...plain, path: '/fabric/services', what: 'service', heldBy: ['serviceId'] },
];

/** Returns the resource that a field of a body or a query parameter refers to, or undefined. */
export function namedByField(name: string): NamedThing | undefined {
  return NAMED_THINGS.find(({ heldBy }) => heldBy.includes(name));
}

/** Returns the resource that a path parameter refers to, by the list before it or by the name of the parameter. */
export function namedByPath(path: string, parameter: string): NamedThing | undefined {
  const list = path.slice(0, path.indexOf(`/{${parameter}}`));
  return NAMED_THINGS.find((thing) => thing.path === list) ?? namedByField(parameter);
}
