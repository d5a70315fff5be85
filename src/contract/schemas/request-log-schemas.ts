/** Schemas of the request log. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { closed, nullable, timestamp } from '../schema-parts.ts';
import { timingsMs } from './record-schemas.ts';

const MIN_LOG_ENTRIES = 1_000;

const textOrNull = (description: string) => nullable<string>({ type: 'string', description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

export const loggedRequestSchema = closed({
  id: Type.String({ description: 'ID of the request, which is also the error ID of its page' }),
  at: timestamp(),
  shareToken: Type.String({ description: 'Token of the share at that time' }),
  outcome: Type.String({
    description:
      'served; refused by an access rule; failed; broken-off after the response had begun; or client-gone, if the client disconnected before a complete response',
  }),
  status: Type.Integer({ description: 'Status that the client received; 0: none' }),
  method: Type.String(),
  host: Type.String(),
  path: Type.String({ description: 'Path without its query; at most 512 characters' }),
  client: Type.String({ description: 'Address of the client' }),
  caller: textOrNull('The person or API key, if known'),
  authProviderId: textOrNull('The auth provider that identified the caller'),
  decision: Type.String({ description: 'Why the request was allowed or refused' }),
  code: textOrNull('Stable code of the refusal or failure, for programs; null: none'),
  hop: textOrNull('Where it failed: client, gateway, control, router, agent or service'),
  cause: textOrNull('What went wrong, as a sentence'),
  remedy: textOrNull('How to fix the problem'),
  traceId: textOrNull('The trace ID of its `traceparent`'),
  gatewayId: Type.String({ description: 'The gateway that received it' }),
  bytesIn: Type.Integer({ minimum: 0 }),
  bytesOut: Type.Integer({ minimum: 0 }),
  timingsMs: timingsMs(),
  leftOut: count(
    'How many requests before this one are not in the log, because there were too many at that time',
  ),
});
export type LoggedRequestAnswer = Static<typeof loggedRequestSchema>;

export const loggedRequestPageSchema = closed({
  content: Type.Array(loggedRequestSchema),
  next: textOrNull('The cursor of older entries; null: there are none'),
});

const keptHours = (also: object = {}) =>
  Type.Integer({ minimum: 1, maximum: 720, description: 'How many hours entries are kept', ...also });
const maxEntries = (also: object = {}) =>
  Type.Integer({
    minimum: MIN_LOG_ENTRIES,
    maximum: 1_000_000,
    description:
      'How many entries are kept. Beyond it the oldest are removed: served requests and others can use half of it each',
    ...also,
  });
const maxMebibytes = (also: object = {}) =>
  Type.Integer({
    minimum: 1,
    maximum: 1_024,
    description: 'How many MiB the entries can take in the database',
    ...also,
  });
const enabled = () =>
  Type.Boolean({ description: 'Whether requests are logged. If not, existing entries are removed' });

export const requestLogSchema = closed({
  enabled: enabled(),
  keptHours: keptHours(),
  maxEntries: maxEntries(),
  maxMebibytes: maxMebibytes(),
  entries: count('How many entries the log holds'),
  usedBytes: count('About how many bytes they take'),
});
export type RequestLogAnswer = Static<typeof requestLogSchema>;

export const requestLogReplacementSchema = closed({
  enabled: enabled(),
  keptHours: Type.Optional(keptHours({ default: 24 })),
  maxEntries: Type.Optional(maxEntries({ default: 100_000 })),
  maxMebibytes: Type.Optional(maxMebibytes({ default: 64 })),
});
