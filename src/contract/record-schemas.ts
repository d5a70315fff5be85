/** What owners are told of single requests: failures by error id, and requests that they asked to see. */
import type { Static } from 'typebox';
import { Type } from './schema-builder.ts';
import { closed, nullable, text, timestamp } from './schema-parts.ts';

const milliseconds = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description });
const textOrNull = (description?: string) =>
  nullable<string>({ type: 'string', ...(description === undefined ? {} : { description }) });
const count = () => Type.Integer({ minimum: 0 });

const timingsMs = () =>
  closed({
    decided: milliseconds('Until it was known whether the request may go on'),
    circuit: milliseconds('Until it had a circuit to the service; null: it never had'),
    firstByte: milliseconds('Until the first byte of the answer; null: none came'),
    done: milliseconds('Until all was over'),
  });
const why = {
  code: Type.String({ description: 'Stable, for programs' }),
  hop: Type.String({ description: 'Where it failed: client, gateway, control, router, agent or service' }),
  cause: Type.String(),
};
const about = () => ({
  at: timestamp(),
  method: Type.String(),
  host: Type.String(),
  client: Type.String({ description: "The client's address" }),
  identity: textOrNull('Who it was, when that is known'),
  decision: Type.String({ description: 'Why it was let in, or not' }),
  status: Type.Integer({ description: 'That the client got; 0: none' }),
  traceId: textOrNull('Of its `traceparent`'),
  timingsMs: timingsMs(),
});

export const failureSchema = closed({
  errorId: Type.String(),
  shareToken: textOrNull('Null: the share is gone'),
  ...why,
  remedy: Type.String({ description: 'What can be done' }),
  ...about(),
  path: Type.String({ description: 'Without its query' }),
});
export type FailureAnswer = Static<typeof failureSchema>;

export const unroutedFailureSchema = closed({
  errorId: Type.String(),
  gatewayId: Type.String({ description: 'The gateway that answered' }),
  gatewayName: Type.String({ description: 'The name that the gateway had then' }),
  ...why,
  remedy: Type.String({ description: 'What can be done' }),
  at: timestamp(),
  method: Type.String(),
  host: Type.String(),
  path: Type.String({ description: 'Without its query' }),
  client: Type.String({ description: "The client's address" }),
  status: Type.Integer({ description: 'That the client got; 0: none' }),
  traceId: textOrNull('Of its `traceparent`'),
  timingsMs: timingsMs(),
});
export type UnroutedFailureAnswer = Static<typeof unroutedFailureSchema>;

const maxBodyBytes = () =>
  Type.Integer({
    minimum: 0,
    maximum: 65_536,
    description: 'How much of each body is kept, of request and answer; 0: nothing',
  });

export const inspectorSchema = closed({
  enabled: Type.Boolean(),
  maxBodyBytes: maxBodyBytes(),
  until: nullable<string>({ type: 'string', format: 'date-time', description: 'It ends by itself then' }),
});
export type InspectorAnswer = Static<typeof inspectorSchema>;

export const inspectorReplacementSchema = closed({
  enabled: Type.Boolean({ description: 'Whether requests are recorded' }),
  maxBodyBytes: Type.Optional(maxBodyBytes()),
  until: Type.Optional(
    nullable<string>({
      type: 'string',
      format: 'date-time',
      description: 'At most 24 hours ahead; an hour from now when not given',
    }),
  ),
});
export type InspectorReplacementBody = Static<typeof inspectorReplacementSchema>;

const inspected = () => ({
  id: Type.String({ description: 'Also its error id, when it failed' }),
  replayOf: textOrNull('The recorded request that was sent once more'),
  ...about(),
  target: Type.String({ description: 'Path and query; secrets in it are left out' }),
  failure: Type.Unsafe<{ code: string; hop: string; cause: string } | null>({
    ...closed(why),
    type: ['object', 'null'],
    description: 'Null: it was answered whole',
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
    headers: Type.Array(header(), { description: 'Of secrets only the name' }),
    body: textOrNull('Base64 of what was kept; null: nothing'),
    bodyBytes: count(),
    bodyIsWhole: Type.Boolean({ description: 'False: cut, or left out because it may hold secrets' }),
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
      { maxItems: 50, description: 'In place of recorded headers of these names, or beside them' },
    ),
  ),
  body: Type.Optional(
    Type.String({ maxLength: 87_384, description: 'Base64, in place of the recorded body; at most 64 KiB' }),
  ),
});
export type ReplayBody = Static<typeof replaySchema>;

export const replayedSchema = closed({
  id: text(),
});
export type ReplayedAnswer = Static<typeof replayedSchema>;
