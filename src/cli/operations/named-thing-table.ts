/**
 * What has an id and a name in a list of the Management API: wherever one of these ids is asked for, on the path, in
 * the query or in a body, the command line takes the name too.
 */

export interface NamedThing {
  /** The list with ids and names; `{frontdoorId}` and `{organizationId}` are those that the command works with. */
  readonly path: string;
  /** In messages: `there is no … called x`. */
  readonly what: string;
  /** Field of an entry that people call it by. A share is called by its token, which is its name. */
  readonly name: 'name' | 'publicName' | 'hostname';
  /** Fields and parameters elsewhere that hold its id. */
  readonly heldBy: readonly string[];
}

const FRONTDOOR = '/frontdoor/{frontdoorId}';
const plain = { name: 'name', heldBy: [] } as const;

export const NAMED_THINGS: readonly NamedThing[] = [
  { ...plain, path: `${FRONTDOOR}/environments`, what: 'environment', heldBy: ['environmentId', 'grants'] },
  { ...plain, path: `${FRONTDOOR}/agents`, what: 'agent' },
  {
    ...plain,
    path: `${FRONTDOOR}/auth-providers`,
    what: 'auth provider',
    heldBy: ['authProviderIds', 'providerId'],
  },
  {
    ...{ name: 'publicName', path: `${FRONTDOOR}/frontends`, what: 'frontend' },
    heldBy: ['frontendId', 'frontendIds'],
  },
  { name: 'hostname', path: `${FRONTDOOR}/custom-frontends`, what: 'custom frontend', heldBy: [] },
  { ...plain, path: '/organizations', what: 'organization', heldBy: ['organizationId'] },
  {
    ...plain,
    path: '/organizations/{organizationId}/frontdoors',
    what: 'frontdoor',
    heldBy: ['frontdoorId'],
  },
  { ...plain, path: '/api-accounts', what: 'API account' },
  { ...plain, path: '/oauth-clients', what: 'OAuth client' },
  { ...plain, path: '/fabric/routers', what: 'router', heldBy: ['routerId'] },
  { ...plain, path: '/fabric/gateways', what: 'gateway' },
  { ...plain, path: '/fabric/services', what: 'service', heldBy: ['serviceId'] },
];

/** What a field of a body or a parameter of the query names; undefined: nothing that has a name. */
export function namedByField(name: string): NamedThing | undefined {
  return NAMED_THINGS.find(({ heldBy }) => heldBy.includes(name));
}

/** What a parameter of this path names: it stands behind its list, or holds an id that others hold too. */
export function namedByPath(path: string, parameter: string): NamedThing | undefined {
  const list = path.slice(0, path.indexOf(`/{${parameter}}`));
  return NAMED_THINGS.find((thing) => thing.path === list) ?? namedByField(parameter);
}
