/** Schemas of records of single requests: failures by error id, and recordings that the owner enabled. */
import type { Static } from 'typebox';
import { definedFields } from '#base';
import { Type } from '#base/shapes';
import { closed, nullable, text, timestamp } from '../schema-parts.ts';

const milliseconds = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description });
const textOrNull = (description?: string) => nullable<string>(definedFields({ type: 'string', description }));
const count = () => Type.Integer({ minimum: 0 });

export const timingsMs = () =>
  closed({
    decided: milliseconds('Until the access decision was made'),
    circuit: milliseconds('Until a circuit to the service was established; null: never'),
    firstByte: milliseconds('Until the first byte of the response; null: there was none'),
    done: milliseconds('Until the exchange ended'),
  });
const why = {
  code: Type.String({ description: 'Stable code, for programs' }),
  hop: Type.String({ description: 'Where it failed: client, gateway, control, router, agent or service' }),
  cause: Type.String(),
};
const about = () => ({
  at: timestamp(),
  method: Type.String(),
  host: Type.String(),
  client: Type.String({ description: 'Address of the client' }),
  identity: textOrNull('Identity of the caller, if known'),
  decision: Type.String({ description: 'Why the request was allowed or refused' }),
  status: Type.Integer({ description: 'Status that the client received; 0: none' }),
  traceId: textOrNull('The trace ID of its `traceparent`'),
  timingsMs: timingsMs(),
});

export const failureSchema = closed({
  errorId: Type.String(),
  shareToken: textOrNull('Token of the share; null: the share was deleted'),
  ...why,
  remedy: Type.String({ description: 'How to fix the problem' }),
  ...about(),
  path: Type.String({ description: 'Path without its query' }),
});
export type FailureAnswer = Static<typeof failureSchema>;

export const failureGroupSchema = closed({
  code: why.code,
  hop: why.hop,
  count: Type.Integer({ minimum: 1, description: 'How many requests failed with this code at this hop' }),
  shares: Type.Integer({ minimum: 1, description: 'How many shares they went to' }),
  firstAt: timestamp(),
  lastAt: timestamp(),
  cause: Type.String({ description: 'Cause of the latest one' }),
  remedy: Type.String({ description: 'How to fix the problem' }),
  status: Type.Integer({ description: 'Status that the client of the latest one received; 0: none' }),
  errorId: Type.String({ description: 'Error ID of the latest one' }),
  shareToken: textOrNull('Token of the share of the latest one; null: the share was deleted'),
});
export type FailureGroupAnswer = Static<typeof failureGroupSchema>;

export const unroutedFailureSchema = closed({
  errorId: Type.String(),
  gatewayId: Type.String({ description: 'The gateway that responded' }),
  gatewayName: Type.String({ description: 'Name of the gateway at that time' }),
  ...why,
  remedy: Type.String({ description: 'How to fix the problem' }),
  at: timestamp(),
  method: Type.String(),
  host: Type.String(),
  path: Type.String({ description: 'Path without its query' }),
  client: Type.String({ description: 'Address of the client' }),
  status: Type.Integer({ description: 'Status that the client received; 0: none' }),
  traceId: textOrNull('The trace ID of its `traceparent`'),
  timingsMs: timingsMs(),
});
export type UnroutedFailureAnswer = Static<typeof unroutedFailureSchema>;

const maxBodyBytes = () =>
  Type.Integer({
    minimum: 0,
    maximum: 65_536,
    description: 'How many bytes of each request and response body are kept; 0: none',
  });

export const inspectorSchema = closed({
  enabled: Type.Boolean(),
  maxBodyBytes: maxBodyBytes(),
  until: nullable<string>({
    type: 'string',
    format: 'date-time',
    description: 'When recording ends automatically',
  }),
});
export type InspectorAnswer = Static<typeof inspectorSchema>;

export const inspectorReplacementSchema = closed({
  enabled: Type.Boolean({ description: 'Whether requests are recorded' }),
  maxBodyBytes: Type.Optional(maxBodyBytes()),
  until: Type.Optional(
    nullable<string>({
      type: 'string',
      format: 'date-time',
      description: 'When recording ends, at most 24 hours ahead; in one hour by default',
    }),
  ),
});
export type InspectorReplacementBody = Static<typeof inspectorReplacementSchema>;

const inspected = () => ({
  id: Type.String({ description: 'ID of the recording, which is also the error ID if the request failed' }),
  replayOf: textOrNull('The recorded request that this one replays'),
  ...about(),
  target: Type.String({ description: 'Path and query, with secrets redacted' }),
  failure: Type.Unsafe<{ code: string; hop: string; cause: string } | null>({
    ...closed(why),
    type: ['object', 'null'],
    description: 'Why the exchange failed; null: the response was complete',
  }),
});

export const inspectedRequestEntrySchema = closed({
  ...inspected(),
  requestBytes: count(),
  answerBytes: count(),
});
export type InspectedRequestEntryAnswer = Static<typeof inspectedRequestEntrySchema>;

const header = () => closed({ name: Type.String(), value: Type.String() });
const message = () =>
  closed({
    headers: Type.Array(header(), {
      description: 'Headers; for headers that contain secrets, only the name',
    }),
    body: textOrNull('The kept bytes of the body in base64; null: none'),
    bodyBytes: count(),
    bodyIsWhole: Type.Boolean({
      description: 'False if the body was truncated, or not kept because it may contain secrets',
    }),
  });

export const inspectedRequestSchema = closed({ ...inspected(), request: message(), answer: message() });
export type InspectedRequestAnswer = Static<typeof inspectedRequestSchema>;

export const replaySchema = closed({
  headers: Type.Optional(
    Type.Array(
      closed({
        name: Type.String({ minLength: 1, maxLength: 200 }),
        value: Type.String({ maxLength: 8_192 }),
      }),
      { maxItems: 50, description: 'Headers that replace recorded headers of the same name, or are added' },
    ),
  ),
  body: Type.Optional(
    Type.String({
      maxLength: 87_384,
      description: 'Body in base64 that replaces the recorded one; at most 64 KiB',
    }),
  ),
});
export type ReplayBody = Static<typeof replaySchema>;

export const replayedSchema = closed({
  id: text(),
});
export type ReplayedAnswer = Static<typeof replayedSchema>;
