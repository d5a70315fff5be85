/**
 * What help adds to the schemas: examples of values that stand for what the user knows (names, not made-up ids), and
 * descriptions where a schema has none. By the name of the field or parameter.
 */

export interface OptionText {
  /** Used when the schema has no description. */
  readonly description?: string;
  /** A value as one types it. */
  readonly example?: string;
}

export const OPTION_TEXTS: Readonly<Record<string, OptionText>> = {
  name: { description: 'a name to tell it from others by', example: 'staff' },
  environmentId: { description: 'the environment whose agent hosts the share', example: 'laptop' },
  shareMode: { description: 'public: on the internet; private: for granted environments only' },
  backendMode: { description: 'how requests reach the target' },
  target: { description: 'where the agent finds the service', example: 'http://127.0.0.1:3000' },
  frontendIds: { example: 'public' },
  frontendId: { description: 'the frontend that its DNS name leads to', example: 'public' },
  authProviderIds: { description: 'guards the share: one of them is enough to get in', example: 'staff' },
  grants: { example: 'laptop' },
  reserved: { description: 'keep the share until it is deleted' },
  session: { description: 'how long a log-in lasts: without use, and in all' },
  host: { example: 'app.share.example' },
  method: { example: 'POST' },
  path: { example: '/admin' },
  providerId: { example: 'staff' },
  email: { example: 'ann@example.com' },
  subject: { example: '248289761001' },
  groups: { description: 'a group of the log-in or token', example: 'staff' },
  claims: { example: '{"department":"ops"}' },
  keyName: { example: 'ci' },
  basicUser: { example: 'ann' },
  certificateName: { example: 'ann@example.com' },
  origin: { example: 'https://www.example.com' },
  allowedOrigins: { example: 'https://www.example.com' },
  responseTimeoutSeconds: { example: '5m' },
  contact: { example: 'owner@example.com' },
  hostname: { description: 'the domain below which shares appear', example: 'apps.example.com' },
  type: { description: 'the type of auth provider; "auth-providers types" lists them' },
  data: { example: '@oidc.json' },
  enabled: { description: 'whether it lets anybody in' },
  tokenExchange: { description: 'whether API accounts may exchange their token for a bearer token' },
  scopes: { description: 'what it may do; read and write when not given' },
  overlapSeconds: { example: '24h' },
  organizationId: { example: 'partners' },
  shareToken: { example: 'app' },
  action: { example: 'deleteShare' },
  actorId: { example: '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22' },
  targetId: { example: 'app' },
  serviceId: { description: 'the service that the terminator is for', example: 'database' },
  routerId: { description: 'the router that dials the address', example: 'east' },
  terminatorStrategy: { description: 'how circuits are spread over terminators' },
  binding: { description: 'how the router reaches the address', example: 'transport' },
  address: { description: 'what the router dials', example: '192.0.2.7' },
  instanceId: { example: 'primary' },
  cost: { description: 'circuits prefer lower costs', example: '10' },
  precedence: { description: 'required and default before failed ones' },
  names: { example: 'links' },
  duration: { example: 'PT1H' },
  step: { example: 'PT1M' },
  from: { example: '2030-01-01T00:00:00Z' },
  to: { example: '2030-01-02T00:00:00Z' },
};
