/** The nouns of the commands that call the Management API: light enough to be loaded for every help text. */

export const NOUNS = {
  frontdoors: 'entry points that clients connect to',
  environments: 'running agents, as the frontdoor sees them',
  agents: 'enroll agents, and see how they are',
  shares: 'published services',
  frontends: 'where public shares appear',
  failures: 'requests to shares that failed or were refused',
  'custom-frontends': "names of one's own, below which public shares appear",
  'auth-providers': 'how requests to shares are authenticated',
  metrics: 'traffic of a frontdoor and its environments',
  organizations: 'organizations and their settings',
  'api-accounts': 'accounts that call the Management API with a token',
  'oauth-clients': 'clients that call the Management API with bearer tokens',
  'resting-names': 'names that were given up, and whose they still are',
  'signing-keys': 'keys that sign bearer tokens',
  fabric: 'routers and gateways, and the mesh that they make',
  audit: 'what happened, who did it',
  api: 'the Management API itself',
} as const;

/** Parts of a noun that have verbs of their own. */
export const PARTS = {
  router: 'routers of the overlay',
  gateway: 'gateways of the overlay',
  circuit: 'circuits through the overlay',
  service: 'services that routers themselves dial and terminate',
  terminator: 'where services are reached',
  policy: 'who may reach a share',
  inspect: "record a share's requests, and see them",
  sessions: 'people who are logged in',
} as const;

export type Noun = keyof typeof NOUNS;

export function isPart(word: string): word is keyof typeof PARTS {
  return Object.hasOwn(PARTS, word);
}

export function isNoun(word: string): word is Noun {
  return Object.hasOwn(NOUNS, word);
}
