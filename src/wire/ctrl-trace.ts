/**
 * Records of a trace file in the form of OpenZiti's routers: channels and their messages, each also decoded as
 * JSON. Tokens and secrets are left out, because they are not needed to debug a message.
 */
import { create, fromBinary, toBinary, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import { concatBytes, hexOf, isJsonObject, textOf, utf8 } from '#base';
import { ctrlMessages, type ProtobufMessage } from './ctrl-messages.ts';
import { replyForOf, type Frame } from './frame-codec.ts';
import { readU32, writeU32 } from './frame-headers.ts';
import { ChannelMessageSchema, ChannelStateSchema } from './gen/trace-pb.ts';
import { headerRow } from './header-table.ts';
import { messageName, messageRow } from './message-table.ts';
import { PAYLOAD_TYPE, type DataFrame } from './xgress/payload-codec.ts';

export type TraceState = MessageInitShape<typeof ChannelStateSchema>;
export type TraceMessage = MessageInitShape<typeof ChannelMessageSchema>;
export type TraceRecord =
  | { readonly kind: 'state'; readonly record: TraceState }
  | { readonly kind: 'message'; readonly record: TraceMessage };

const STATE = 0;
const MESSAGE = 1;
const HEAD_BYTES = 8;
const NO_REPLY = -1;
/** Content types from here on belong to one kind of channel. */
const MAX_CHANNEL_TYPE = 6;
const SEQUENCE_BYTES = 4;
const SECRET = /token|secret|password|jwt/i;
const WITHHELD = '(withheld)';
/** Longer bodies, such as whole data models, are recorded by their length only. */
const MAX_DECODED_BODY_BYTES = 16_384;
const MAX_HEX_BYTES = 64;

const PROTOBUFS: ReadonlyMap<number, ProtobufMessage<DescMessage>> = new Map(
  Object.values(ctrlMessages).map((message) => [
    message.contentType,
    message as unknown as ProtobufMessage<DescMessage>,
  ]),
);

export function encodeTraceState(state: TraceState): Uint8Array {
  return recordOf(STATE, ChannelStateSchema, state);
}

export function encodeTraceMessage(message: TraceMessage): Uint8Array {
  return recordOf(MESSAGE, ChannelMessageSchema, message);
}

/** Decodes a whole file. Returns undefined if it ends within a record, or has a record of another kind. */
export function decodeTraceRecords(bytes: Uint8Array): TraceRecord[] | undefined {
  const records: TraceRecord[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + HEAD_BYTES > bytes.length) return undefined;
    const kind = readU32(bytes, at);
    const end = at + HEAD_BYTES + readU32(bytes, at + 4);
    if (end > bytes.length || kind > MESSAGE) return undefined;
    const body = bytes.subarray(at + HEAD_BYTES, end);
    records.push(
      kind === STATE
        ? { kind: 'state', record: fromBinary(ChannelStateSchema, body) }
        : { kind: 'message', record: fromBinary(ChannelMessageSchema, body) },
    );
    at = end;
  }
  return records;
}

/** Returns the record of a frame. */
export function traceOfFrame(frame: Frame): TraceMessage {
  return {
    contentType: frame.contentType,
    sequence: frame.sequence,
    replyFor: replyForOf(frame) ?? NO_REPLY,
    length: frame.body.length,
    decode: utf8(JSON.stringify(decodedFrame(frame))),
  };
}

/** Where a traced message was seen. */
export interface PipeTracePlace {
  /** The router or controller. */
  readonly identity: string;
  /** OpenZiti's name of the channel. */
  readonly channel: string;
  readonly atMs: number;
}

/** Returns the body of a TraceEvent. */
export function encodePipeTrace(
  frame: Frame | DataFrame,
  direction: 'rx' | 'tx',
  { identity, channel, atMs }: PipeTracePlace,
): Uint8Array {
  const record = 'body' in frame ? pipeTraceOfFrame(frame) : pipeTraceOfData(frame);
  const timestamp = BigInt(Math.round(atMs)) * 1_000_000n;
  return ctrlMessages.traceEvent.encode({
    ...record,
    timestamp,
    identity,
    channel,
    isRx: direction === 'rx',
  });
}

/** Returns the record of a frame for readers that show one line of fields, such as `ziti fabric stream traces`. */
function pipeTraceOfFrame(frame: Frame): TraceMessage {
  const { body, ...head } = decodedFrame(frame);
  const fields = { ...head, ...(isJsonObject(body) ? body : { body }) };
  const decoder = frame.contentType <= MAX_CHANNEL_TYPE ? 'channel' : 'ctrl';
  return { ...traceOfFrame(frame), decode: jsonLine({ ...fields, __decoder__: decoder }) };
}

/** Returns the record of data on a link, of which no content is in a trace. */
function pipeTraceOfData(frame: DataFrame): TraceMessage {
  const isPayload = frame.contentType === PAYLOAD_TYPE;
  const length = isPayload ? frame.data.length : SEQUENCE_BYTES * frame.sequences.length;
  const fields = {
    __decoder__: 'data',
    __message__: messageName(frame.contentType),
    circuitId: frame.circuitId,
    sequence: isPayload ? frame.sequence : `len(${String(frame.sequences.length)})`,
    originator: frame.isFromTerminator ? 'e' : 'i',
    ...(isPayload ? { length } : {}),
  };
  const { contentType } = frame;
  return { contentType, sequence: NO_REPLY, replyFor: NO_REPLY, length, decode: jsonLine(fields) };
}

/** Nested values become texts. */
function jsonLine(fields: Readonly<Record<string, unknown>>): Uint8Array {
  const flat = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
  ]);
  return utf8(JSON.stringify(Object.fromEntries(flat)));
}

/** OpenZiti's trace reader looks for the two names at the beginning. */
function decodedFrame(frame: Frame): Record<string, unknown> {
  return {
    __decoder__: 'ctrl',
    __message__: messageName(frame.contentType),
    ...Object.fromEntries(decodedHeaders(frame)),
    ...decodedBody(frame),
  };
}

function* decodedHeaders({ contentType, headers }: Frame): Generator<[name: string, value: unknown]> {
  for (const [id, value] of headers.entries()) {
    const row = headerRow('ctrl', contentType, id);
    if (row === undefined) yield [`header ${id}`, `${value.length} bytes`];
    else if (SECRET.test(row.name)) yield [row.name, WITHHELD];
    else yield [row.name, headerText(row.type, value)];
  }
}

function headerText(type: string, value: Uint8Array): string {
  if (type === 'text' || type === 'json') return textOf(value.subarray(0, MAX_DECODED_BODY_BYTES));
  if (value.length > MAX_HEX_BYTES) return `${value.length} bytes`;
  return hexOf(value);
}

function decodedBody({ contentType, body }: Frame): Record<string, unknown> {
  if (body.length === 0) return {};
  const kind = messageRow(contentType)?.body;
  if (body.length > MAX_DECODED_BODY_BYTES) return { body: `${body.length} bytes` };
  if (kind === 'text') return { body: textOf(body) };
  const codec = kind === 'protobuf' ? PROTOBUFS.get(contentType) : undefined;
  if (codec === undefined) return { body: `${body.length} bytes` };
  try {
    return { body: withoutSecrets(codec.decodeJson(body)) };
  } catch {
    return { body: `${body.length} bytes, malformed` };
  }
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, SECRET.test(key) ? WITHHELD : withoutSecrets(inner)]),
  );
}

function recordOf<Desc extends DescMessage>(
  kind: number,
  schema: Desc,
  init: MessageInitShape<Desc>,
): Uint8Array {
  const body = toBinary(schema, create(schema, init));
  const head = new Uint8Array(HEAD_BYTES);
  writeU32(head, 0, kind);
  writeU32(head, 4, body.length);
  return concatBytes([head, body]);
}
