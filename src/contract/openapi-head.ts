/** The text at the head of the API description: conventions of every operation, and the ways to authenticate. */
import type { Json } from './openapi-schemas.ts';
import type { OperationGroup } from './operation.ts';

/** Version of the API, which is not the version of the product. It changes when callers have to change. */
export const API_VERSION = '1.0.0';

/** A one-sentence description of each operation group. */
export const groupDescriptions: Readonly<Record<OperationGroup, string>> = {
  Frontdoors: 'A frontdoor is the entry point that clients connect to. It belongs to an organization.',
  Environments: 'An environment is a place where an agent runs. It is created when the agent enrolls.',
  Agents: 'An agent runs next to private services, connects outbound and hosts shares.',
  Shares: 'A share makes a private service reachable, publicly or for selected environments.',
  Requests: 'Explanations of failed requests, and recorded requests.',
  Search: 'Search across all resources that the caller can view.',
  Changes: 'Event streams that report which resources have changed.',
  Policies: 'A policy has rules of access that several shares use.',
  'Custom frontends': 'A custom frontend serves shares on a custom domain.',
  'Auth provider types': 'The types of auth providers, and the JSON Schema of their data.',
  'Auth providers': 'An auth provider authenticates the callers of the shares that it protects.',
  Metrics: 'Request counts, error counts and response times.',
  Organizations: 'Organizations own frontdoors and callers.',
  'API accounts': 'An API account calls the API with a long-lived token.',
  'OAuth clients': 'An OAuth client exchanges its credentials for bearer tokens.',
  People: 'People use the console with a role. They join by invitation.',
  Notifications: 'Destinations that are notified of failures, and the messages to them.',
  Audit: 'The audit trail has an event for every change and refusal. Events are linked in a hash chain.',
  Fabric: 'Routers, gateways, and the mesh of links between routers.',
  Installation: 'Resources of the whole installation: keys, names and backups.',
  Tokens: 'The issuer of bearer tokens.',
  Description: 'The description of this API.',
};

/** Conventions of every operation. Each entry is a paragraph of CommonMark. */
export const conventions: readonly string[] = [
  'Bodies are JSON in UTF-8, at most 1 MiB: send `Accept: application/json`, and with a body `Content-Type: application/json`.',
  'An error response is a JSON object of exactly two strings: `error`, a code, and `message`, a sentence. In addition to the errors of each operation, any path can return 404 `not_found` (the path does not exist), 405 `method_not_allowed` with `Allow`, 408 `timeout`, 417 `expectation_failed` and 431 `headers_too_large`.',
  'Read-only fields in a body are accepted and ignored, so that a resource can be sent back as it was read. Unknown fields and unknown query parameters are refused. A body sent to an operation that reads none must be empty or `{}`.',
  'Lists are paged: `page` counts from 0, `size` is 20 by default, and sizes above 1000 are treated as 1000. Entries with equal sort keys are ordered by ID, so that pages never overlap.',
  'Timestamps are ISO 8601 in UTC. Durations are ISO 8601 with weeks, days, hours, minutes and seconds.',
  'A response with a single resource has an `ETag` for its stored state. PUT, PATCH and DELETE with `If-Match` take effect only if the resource still has that tag; otherwise they change nothing and return 412 `precondition_failed`. Without `If-Match` they are unconditional.',
  'A POST that creates a resource accepts an `Idempotency-Key`: 1 to 255 visible ASCII characters that the caller generates for this request, such as a UUID. If the request is repeated within 24 hours, it changes nothing and returns the first response, including secrets, with `Idempotency-Replayed: true`. Reusing the key with another path or body is answered with 409. Error responses are not stored.',
  'HEAD returns the same as GET without the body; OPTIONS returns the methods of a path.',
];

export function descriptionText(authUrl: string): string {
  return [...conventions, `Tokens are issued at ${authUrl}/oauth/token.`].join('\n\n');
}

export function securitySchemes(authUrl: string): Json {
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: `\`Authorization: Bearer <ACCESS_TOKEN>\`, with exactly one space. Tokens come from ${authUrl}/oauth/token for client credentials.`,
    },
    apiAccount: {
      type: 'http',
      scheme: 'basic',
      description:
        'An API account: `Authorization: Basic <ACCOUNT_ID>:<API_TOKEN>`, literally, with one space and one colon. The base64 form of the same pair (RFC 7617), which HTTP clients send, is accepted too.',
    },
    client: {
      type: 'http',
      scheme: 'basic',
      description:
        'An OAuth client at the token endpoint: its ID and secret (RFC 6749 §2.3.1), instead of sending both in the body.',
    },
  };
}
