/**
 * The two frames of the data path, xgress payload (1100) and acknowledgement (1101), as plain mutable classes:
 * they are decoded, forwarded and re-encoded without an intermediate header list. Every other frame is a `Frame`.
 */
import { decodeCircuitId } from '../circuits/circuit-id-codec.ts';
import { FRAME_HEAD_BYTES, writeFrameHead, type Frame } from '../frame-codec.ts';
import { readU32, writeU32 } from '../frame-headers.ts';

export const PAYLOAD_TYPE = 1100;
export const ACKNOWLEDGEMENT_TYPE = 1101;

/** Bits of header 2258. */
export const PAYLOAD_FLAGS = {
  circuitEnd: 1,
  /** Set: from the terminator; clear: from the initiator. Also on acknowledgements. */
  originator: 2,
  circuitStart: 4,
  chunk: 8,
  retransmit: 16,
  eof: 32,
  writeFailed: 64,
  /** Ours: the acknowledgement may come late, because the sender waits for long before it retransmits. Others ignore it. */
  lateAcknowledgement: 1 << 29,
} as const;

/** Keys of payload headers; the number on the wire is 2000 + key. */
export const PAYLOAD_HEADERS = { traceId: 0, capabilities: 1, edgeFlags: 0x10 } as const;

const HEARTBEAT = 5;
const HEARTBEAT_RESPONSE = 6;
const CONN_ID = 1000;
const PAYLOAD_HEADER_BASE = 2000;
const PAYLOAD_HEADER_MAX = 2255;
const CIRCUIT_ID = 2256;
const SEQUENCE = 2257;
const FLAGS = 2258;
const RECEIVE_BUFFER_SIZE = 2259;
const RTT = 2260;

/** The longest list of sequences in an acknowledgement that we send. */
export const MAX_SEQUENCES_PER_ACK = 1024;

export class PayloadFrame {
  readonly contentType = PAYLOAD_TYPE;
  circuitId: string;
  /** Position in its direction of the circuit, from 0. It is not the frame's channel sequence. */
  sequence: number;
  flags: number;
  /** Low 16 bits of the sender's Unix milliseconds; 0: none. */
  rtt: number;
  data: Uint8Array;
  /** Payload headers by key (0 to 255), or undefined. */
  headers: Map<number, Uint8Array> | undefined;
  /** Header 1000, on edge channels only. */
  connId: number | undefined;
  /** A received heartbeat, or the response to one of Frontdoor, that this frame carried. Never sent. */
  heartbeat: Uint8Array | undefined;
  heartbeatResponse: Uint8Array | undefined;
  /** Set by the receiver once nothing refers to `data`. The decoder may free its memory then. */
  isSpent: boolean;

  constructor(circuitId: string, sequence: number, flags: number, data: Uint8Array) {
    this.circuitId = circuitId;
    this.sequence = sequence;
    this.flags = flags;
    this.rtt = 0;
    this.data = data;
    this.headers = undefined;
    this.connId = undefined;
    this.heartbeat = undefined;
    this.heartbeatResponse = undefined;
    this.isSpent = false;
  }

  get isFromTerminator(): boolean {
    return (this.flags & PAYLOAD_FLAGS.originator) !== 0;
  }
}

export class AcknowledgementFrame {
  readonly contentType = ACKNOWLEDGEMENT_TYPE;
  circuitId: string;
  /** Only the originator bit, which identifies the sending end. */
  flags: number;
  /** Number of bytes that the sender of this frame has received and not yet read. */
  receiveBufferSize: number;
  /** The echoed stamp of a payload; 0: none. */
  rtt: number;
  sequences: readonly number[];
  connId: number | undefined;
  heartbeat: Uint8Array | undefined;
  heartbeatResponse: Uint8Array | undefined;

  constructor(circuitId: string, flags: number, receiveBufferSize: number, sequences: readonly number[]) {
    this.circuitId = circuitId;
    this.flags = flags;
    this.receiveBufferSize = receiveBufferSize;
    this.rtt = 0;
    this.sequences = sequences;
    this.connId = undefined;
    this.heartbeat = undefined;
    this.heartbeatResponse = undefined;
  }

  get isFromTerminator(): boolean {
    return (this.flags & PAYLOAD_FLAGS.originator) !== 0;
  }
}

export type DataFrame = PayloadFrame | AcknowledgementFrame;

/** Returns undefined if the circuit id or the sequence is missing or has a wrong size; the payload is dropped. */
export function decodePayload({ headers, body }: Frame): PayloadFrame | undefined {
  const { raw } = headers;
  return payloadOf(raw, 0, raw.length, body);
}

export function decodeAcknowledgement({ headers, body }: Frame): AcknowledgementFrame | undefined {
  const { raw } = headers;
  return acknowledgementOf(raw, 0, raw.length, body, 0, body.length);
}

/** Returns the payload whose checked headers are between the two positions of `bytes`. */
export function payloadOf(
  bytes: Uint8Array,
  headersStart: number,
  headersEnd: number,
  data: Uint8Array,
): PayloadFrame | undefined {
  const payload = new PayloadFrame('', -1, 0, data);
  for (let at = headersStart; at + 8 <= headersEnd;) {
    const key = readU32(bytes, at);
    const length = readU32(bytes, at + 4);
    const start = at + 8;
    if (key === CIRCUIT_ID) payload.circuitId = decodeCircuitId(bytes, start, length);
    else if (key === SEQUENCE) payload.sequence = sequenceOf(bytes, start, length);
    else if (key === FLAGS && length === 4) payload.flags = readU32(bytes, start);
    else if (key === RTT && length === 2) payload.rtt = bytes[start]! | (bytes[start + 1]! << 8);
    else if (key === CONN_ID && length === 4) payload.connId = readU32(bytes, start);
    else if (key === HEARTBEAT) payload.heartbeat = bytes.subarray(start, start + length);
    else if (key === HEARTBEAT_RESPONSE) payload.heartbeatResponse = bytes.subarray(start, start + length);
    else if (key >= PAYLOAD_HEADER_BASE && key <= PAYLOAD_HEADER_MAX) {
      payload.headers ??= new Map();
      payload.headers.set(key - PAYLOAD_HEADER_BASE, bytes.subarray(start, start + length));
    }
    at = start + length;
  }
  return payload.circuitId === '' || payload.sequence < 0 ? undefined : payload;
}

/** Returns the acknowledgement whose checked headers are in `bytes`, and its sequences in `body`. */
export function acknowledgementOf(
  bytes: Uint8Array,
  headersStart: number,
  headersEnd: number,
  body: Uint8Array,
  bodyStart: number,
  bodyEnd: number,
): AcknowledgementFrame | undefined {
  if ((bodyEnd - bodyStart) % 4 !== 0) return undefined;
  const sequences: number[] = [];
  for (let at = bodyStart; at < bodyEnd; at += 4) {
    sequences.push((body[at]! << 24) | (body[at + 1]! << 16) | (body[at + 2]! << 8) | body[at + 3]!);
  }
  const ack = new AcknowledgementFrame('', 0, 0xffffffff, sequences);
  for (let at = headersStart; at + 8 <= headersEnd;) {
    const key = readU32(bytes, at);
    const length = readU32(bytes, at + 4);
    const start = at + 8;
    if (key === CIRCUIT_ID) ack.circuitId = decodeCircuitId(bytes, start, length);
    else if (key === FLAGS && length === 4) ack.flags = readU32(bytes, start);
    else if (key === RECEIVE_BUFFER_SIZE && length === 4) ack.receiveBufferSize = readU32(bytes, start);
    else if (key === RTT && length === 2) ack.rtt = bytes[start]! | (bytes[start + 1]! << 8);
    else if (key === CONN_ID && length === 4) ack.connId = readU32(bytes, start);
    else if (key === HEARTBEAT) ack.heartbeat = bytes.subarray(start, start + length);
    else if (key === HEARTBEAT_RESPONSE) ack.heartbeatResponse = bytes.subarray(start, start + length);
    at = start + length;
  }
  return ack.circuitId === '' ? undefined : ack;
}

/** Size of the frame head and headers that `writePayloadHead` writes, without the data. */
export function payloadHeadBytes(payload: PayloadFrame): number {
  const { circuitId, connId, flags, headers } = payload;
  let bytes = FRAME_HEAD_BYTES + 8 + circuitId.length + 16 + 10;
  if (connId !== undefined) bytes += 12;
  if (flags !== 0) bytes += 12;
  if (headers !== undefined) for (const value of headers.values()) bytes += 8 + value.length;
  return bytes;
}

/** Writes frame head and headers and returns the position for the data. */
export function writePayloadHead(
  target: Uint8Array,
  from: number,
  payload: PayloadFrame,
  channelSequence: number,
): number {
  const { circuitId, connId, flags, headers } = payload;
  let at = from + FRAME_HEAD_BYTES;
  if (connId !== undefined) at = putU32(target, at, CONN_ID, connId);
  if (headers !== undefined) {
    for (const [key, value] of headers) {
      writeU32(target, at, PAYLOAD_HEADER_BASE + key);
      writeU32(target, at + 4, value.length);
      target.set(value, at + 8);
      at += 8 + value.length;
    }
  }
  at = putAscii(target, at, CIRCUIT_ID, circuitId);
  writeU32(target, at, SEQUENCE);
  writeU32(target, at + 4, 8);
  writeU32(target, at + 8, payload.sequence);
  writeU32(target, at + 12, 0);
  at += 16;
  if (flags !== 0) at = putU32(target, at, FLAGS, flags);
  at = putU16(target, at, RTT, payload.rtt);
  const headersBytes = at - from - FRAME_HEAD_BYTES;
  writeFrameHead(target, from, PAYLOAD_TYPE, channelSequence, headersBytes, payload.data.length);
  return at;
}

export function acknowledgementBytes({ circuitId, connId, flags, sequences }: AcknowledgementFrame): number {
  let bytes = FRAME_HEAD_BYTES + 8 + circuitId.length + 12 + 10 + 4 * sequences.length;
  if (connId !== undefined) bytes += 12;
  if (flags !== 0) bytes += 12;
  return bytes;
}

/** Writes the whole frame and returns its end. */
export function writeAcknowledgement(
  target: Uint8Array,
  from: number,
  ack: AcknowledgementFrame,
  channelSequence: number,
): number {
  const { circuitId, connId, flags, sequences } = ack;
  let at = from + FRAME_HEAD_BYTES;
  if (connId !== undefined) at = putU32(target, at, CONN_ID, connId);
  at = putAscii(target, at, CIRCUIT_ID, circuitId);
  if (flags !== 0) at = putU32(target, at, FLAGS, flags);
  at = putU32(target, at, RECEIVE_BUFFER_SIZE, ack.receiveBufferSize);
  at = putU16(target, at, RTT, ack.rtt);
  const headersBytes = at - from - FRAME_HEAD_BYTES;
  writeFrameHead(target, from, ACKNOWLEDGEMENT_TYPE, channelSequence, headersBytes, 4 * sequences.length);
  for (const sequence of sequences) {
    target[at] = (sequence >>> 24) & 0xff;
    target[at + 1] = (sequence >>> 16) & 0xff;
    target[at + 2] = (sequence >>> 8) & 0xff;
    target[at + 3] = sequence & 0xff;
    at += 4;
  }
  return at;
}

/** Encodes a payload's head into a buffer of its own. */
export function encodePayloadHead(payload: PayloadFrame, channelSequence: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(payloadHeadBytes(payload));
  writePayloadHead(bytes, 0, payload, channelSequence);
  return bytes;
}

export function encodeAcknowledgement(
  ack: AcknowledgementFrame,
  channelSequence: number,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(acknowledgementBytes(ack));
  writeAcknowledgement(bytes, 0, ack, channelSequence);
  return bytes;
}

/** Returns −1 unless the value is a u64 within the i32 range of acknowledged sequences. */
function sequenceOf(raw: Uint8Array, start: number, length: number): number {
  if (length !== 8 || readU32(raw, start + 4) !== 0) return -1;
  const sequence = readU32(raw, start);
  return sequence > 0x7fffffff ? -1 : sequence;
}

function putAscii(bytes: Uint8Array, at: number, key: number, text: string): number {
  writeU32(bytes, at, key);
  writeU32(bytes, at + 4, text.length);
  for (let i = 0; i < text.length; i += 1) bytes[at + 8 + i] = text.charCodeAt(i);
  return at + 8 + text.length;
}

function putU32(bytes: Uint8Array, at: number, key: number, value: number): number {
  writeU32(bytes, at, key);
  writeU32(bytes, at + 4, 4);
  writeU32(bytes, at + 8, value);
  return at + 12;
}

function putU16(bytes: Uint8Array, at: number, key: number, value: number): number {
  writeU32(bytes, at, key);
  writeU32(bytes, at + 4, 2);
  bytes[at + 8] = value & 0xff;
  bytes[at + 9] = (value >>> 8) & 0xff;
  return at + 10;
}
