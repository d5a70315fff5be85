/**
 * Texts that help adds to the schemas, by name of the field or parameter: examples with values that users know
 * (names, not ids), and descriptions of fields whose schema has none.
 */

export interface OptionText {
  /** Used if the schema has no description. */
  readonly description?: string;
  /** A value as it is typed. */
  readonly example?: string;
}

export const OPTION_TEXTS: Readonly<Record<string, OptionText>> = {
  name: { description: 'name to distinguish it from others', example: 'staff' },
  environmentId: { description: 'environment whose agent hosts the share', example: 'laptop' },
  shareMode: { description: 'public: on the internet; private: for granted environments only' },
  backendMode: { description: 'how the agent reaches the service' },
  target: { description: 'address of the service, as the agent dials it', example: 'http://127.0.0.1:3000' },
  frontendIds: { example: 'public' },
  frontendId: { description: 'frontend that its DNS name points to', example: 'public' },
  authProviderIds: {
    description: 'auth provider of the share; callers need to satisfy one of them',
    example: 'staff',
  },
  grants: { example: 'laptop' },
  reserved: { description: 'keep the share until it is deleted' },
  session: { description: 'how long a sign-in lasts: idle, and in total' },
  host: { example: 'app.share.example' },
  method: { example: 'POST' },
  path: { example: '/admin' },
  providerId: { example: 'staff' },
  authProviderId: { description: 'auth provider with which people sign in', example: 'staff' },
  busiest: { example: '5' },
  tokens: { example: 'app,shop' },
  email: { description: 'email address', example: 'ann@example.com' },
  role: { description: 'what the person may do', example: 'editor' },
  roles: { example: '{"group":"staff","role":"editor"}' },
  subject: { example: '248289761001' },
  groups: { description: 'group in the sign-in or token', example: 'staff' },
  claims: { example: '{"department":"ops"}' },
  keyName: { example: 'ci' },
  basicUser: { example: 'ann' },
  policy: {
    description: 'policy to explain instead of the stored one; nothing is stored',
    example: '@policy.json',
  },
  certificateName: { example: 'ann@example.com' },
  origin: { example: 'https://www.example.com' },
  allowedOrigins: { example: 'https://www.example.com' },
  maintenanceText: { example: 'Back at 18:00 UTC' },
  maintenanceRetrySeconds: { example: '10m' },
  responseTimeoutSeconds: { example: '5m' },
  proxyProtocol: { example: 'v2' },
  compression: { example: 'zstd' },
  connectTimeoutSeconds: { example: '2s' },
  idleTimeoutSeconds: { example: '10m' },
  contact: { example: 'owner@example.com' },
  cors: { example: '{"origins":["https://www.example.com"]}' },
  hsts: { example: '{"maxAgeSeconds":31536000}' },
  httpsRedirect: { example: 'never' },
  hostHeader: { example: 'localhost' },
  hostname: { description: 'domain below which shares are served', example: 'apps.example.com' },
  type: { description: 'type of the auth provider; "auth-providers types" lists them' },
  data: { example: '@oidc.json' },
  enabled: { description: 'whether it admits callers' },
  tokenExchange: { description: 'whether API accounts may exchange their token for a bearer token' },
  secondFactor: {
    description: 'whether people who sign in with a password need a second factor',
  },
  scopes: { description: 'permission of the caller; default: read and write' },
  overlapSeconds: { example: '24h' },
  afterSeconds: {
    description:
      'how much later the new authority issues; by default 2 minutes for an intermediate and 30 days for a root',
    example: '14d',
  },
  force: { description: 'cut off identities, which then have to enroll again' },
  q: { example: 'app' },
  text: { example: 'orders' },
  lifetimeSeconds: { example: '24h' },
  organizationId: { example: 'partners' },
  shareToken: { example: 'app' },
  action: { example: 'deleteShare' },
  actorId: { example: '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22' },
  targetId: { example: 'app' },
  serviceId: { description: 'service that the terminator belongs to', example: 'database' },
  routerId: { description: 'router that dials the address', example: 'east' },
  terminatorStrategy: { description: 'how circuits are distributed over terminators' },
  binding: { description: 'how the router dials the address', example: 'transport' },
  address: { description: 'address that the router dials', example: '192.0.2.7' },
  instanceId: { example: 'primary' },
  cost: { description: 'circuits prefer lower costs', example: '10' },
  precedence: { description: 'required ones are selected before default ones, failed ones last' },
  names: { example: 'links' },
  duration: { example: 'PT1H' },
  step: { example: 'PT1M' },
  from: { example: '2030-01-01T00:00:00Z' },
  to: { example: '2030-01-02T00:00:00Z' },
};
