/** The words at the head of the API's description: what holds for every operation, and how callers show who they are. */
import type { Json } from './openapi-schemas.ts';
import type { OperationGroup } from './operation.ts';

/** Of the API, not of the product: it changes when callers have to. */
export const API_VERSION = '1.0.0';

/** The chapters of the description, each in a sentence. */
export const groupDescriptions: Readonly<Record<OperationGroup, string>> = {
  Frontdoors: 'A frontdoor is the entry point that clients connect to. It belongs to an organization.',
  Environments: 'An environment is a place where an agent runs. It appears when the agent enrolls.',
  Agents: 'Agents run beside private services, connect outwards and host shares.',
  Shares: 'A share makes a private service reachable, for the world or for chosen environments.',
  Requests: 'Why single requests failed, and recordings of requests that the owner asked for.',
  'Custom frontends': "Custom frontends let shares appear below a domain of one's own.",
  'Auth provider types': 'The types of auth providers, and the JSON Schema of their data.',
  'Auth providers': 'Auth providers decide who may reach the shares that they guard.',
  Metrics: 'How many requests came, how many failed and how long answers took.',
  Organizations: 'Organizations own frontdoors and callers.',
  'API accounts': 'API accounts call the API with a long-lived token.',
  'OAuth clients': 'OAuth clients exchange their credentials for bearer tokens.',
  Audit: 'The audit trail holds every change and refusal, chained by hashes.',
  Fabric: 'Routers, gateways, and the mesh that they make.',
  Installation: 'What belongs to the whole installation: keys, names and backups.',
  Tokens: 'The issuer of bearer tokens.',
  Description: 'The description of this API.',
};

/** What holds for every path; each is a paragraph of CommonMark. */
export const conventions: readonly string[] = [
  'Bodies are JSON in UTF-8, at most 1 MiB: send `Accept: application/json`, and with a body `Content-Type: application/json`.',
  'A refusal is a JSON object of exactly two strings: `error`, a code, and `message`, a sentence. Beside the refusals of each operation, any path may answer 404 `not_found` (there is nothing), 405 `method_not_allowed` with `Allow`, 408 `timeout`, 417 `expectation_failed` and 431 `headers_too_large`.',
  'Read-only fields in a body are accepted and ignored, so that what was read can be sent back; a name that is no field is refused, and so is a query parameter that the operation does not have. A body sent to an operation that reads none may be `{}`, nothing else.',
  'Lists come in pages: `page` counts from 0, `size` is 20 unless given, larger sizes than 1000 are taken as 1000. Ties are broken by id, so that pages never overlap.',
  'Timestamps are ISO 8601 in UTC. Durations are ISO 8601 with weeks, days, hours, minutes and seconds.',
  'An answer about one thing has an `ETag`, which names what is stored of it. PUT, PATCH and DELETE with `If-Match` change only what still has that tag: 412 `precondition_failed` otherwise, with nothing changed. Without `If-Match` they change what is there.',
  'A POST that creates something takes an `Idempotency-Key`: 1 to 255 visible ASCII characters that the caller makes for this one request, such as a UUID. Sent again within 24 hours, the request changes nothing and gets the first answer, secrets included, with `Idempotency-Replayed: true`. The same key with another path or body is 409. Refusals are not kept.',
  'HEAD is answered as GET is, without the body; OPTIONS names the methods of a path.',
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
        'An OAuth client at the token endpoint: its id and secret (RFC 6749 §2.3.1), in place of both in the body.',
    },
  };
}
