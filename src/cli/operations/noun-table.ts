/** The nouns of commands that call the Management API. Every help text loads them. */

export const NOUNS = {
  frontdoors: 'entry points that clients connect to',
  environments: 'environments in which agents run',
  agents: 'enroll agents and show their state',
  shares: 'published services',
  policies: 'access policies that several shares use',
  frontends: 'frontends on which public shares are served',
  failures: 'failed and refused requests to shares',
  requests: 'requests to all shares of a frontdoor, and how long they are kept',
  changes: 'changes in a frontdoor as they happen',
  'custom-frontends': 'custom domains on which public shares are served',
  'hostname-claims': 'hostnames of all custom frontends and shares, with proofs of ownership and grants',
  'auth-providers': 'authentication of requests to shares',
  metrics: 'traffic of a frontdoor and its environments',
  organizations: 'organizations and their settings',
  'api-accounts': 'accounts that call the Management API with a token',
  'oauth-clients': 'clients that call the Management API with bearer tokens',
  people: 'people who use the console, and their roles',
  invitations: 'invitation links with which people join an organization',
  notifications: 'destinations for notifications, and what was sent to them',
  'console-log-ins': 'auth providers that people sign in to the console with',
  'console-sessions': 'console sessions',
  'resting-names': 'released names, which are reserved for their former organizations',
  'signing-keys': 'keys that sign bearer tokens',
  pki: 'certificate authorities of the installation, and the rotation of their keys',
  secrets: 'key that encrypts secrets in the database, and its rotation',
  fabric: 'routers and gateways, and the mesh of links',
  audit: 'audit trail of changes and refusals',
  'event-export': 'collector of all events, such as a SIEM',
  api: 'the Management API itself',
} as const;

/** Second words of commands that have verbs of their own. */
export const PARTS = {
  router: 'routers of the overlay',
  gateway: 'gateways of the overlay',
  circuit: 'circuits through the overlay',
  service: 'fabric services, which are dialed and terminated by routers',
  terminator: 'addresses at which services are reached',
  policy: 'access policy of a share',
  domains: 'domains of a share',
  upstream: 'how requests of a share reach its service',
  inspect: 'record and show requests of a share',
  deliveries: 'notifications that were or will be sent to a destination',
  settings: 'how long and how much of the request log is kept',
  sessions: 'sessions of people who are signed in',
  'second-factor': 'second factor for console sign-ins with a password',
  'password-link': 'links with which people set a new password',
  'sign-in-page': 'name and logo on sign-in pages',
} as const;

export type Noun = keyof typeof NOUNS;

export function isPart(word: string): word is keyof typeof PARTS {
  return Object.hasOwn(PARTS, word);
}

export function isNoun(word: string): word is Noun {
  return Object.hasOwn(NOUNS, word);
}
