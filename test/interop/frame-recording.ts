/**
 * Frames of a session as lines of a JSONL, in the form of test/vectors/openziti-1.7.2.jsonl: bodies above 256 bytes
 * of data and 4,096 of anything else are shortened, repetitions are left out, frames that describe the machine lose
 * their bodies, and secrets of groups are overwritten at equal length.
 */
import { createHash } from 'node:crypto';
import { hexOf } from '#base';
import { CHANNEL_HEADERS, contentType, encodeFrame, FrameHeaders, messageName, type Frame } from '#wire';
import type { RecordedFrame } from '../support/recorded-frames.ts';
import type { TappedFrame } from './frame-tap.ts';

const MAX_DATA_BODY_BYTES = 256;
const MAX_BODY_BYTES = 4_096;
const BODY_START_BYTES = 256;
/** The most frames kept of one type, from one side of one connection, because exchanges repeat without end. */
const MAX_ALIKE = 6;
const MAX_HEARTBEATS = 2;
/** Network interfaces with their addresses; log-ins and their tokens; addresses and name of the machine. */
const PRIVATE_TYPES: ReadonlySet<number> = new Set([
  contentType.updateRouterInterfaces,
  contentType.apiSessionAdded,
  contentType.apiSessionUpdated,
  contentType.clientHello,
]);
const DATA_TYPES: ReadonlySet<number> = new Set([contentType.payload, contentType.acknowledgement]);

export interface RecordingLine extends RecordedFrame {
  readonly session: string;
  readonly ms: number;
  readonly frameSha256?: string;
}

export class FrameRecording {
  /** Every content type that was seen, kept or not, by sender. */
  readonly types = new Map<string, Set<number>>();
  readonly #session: string;
  readonly #lines: RecordingLine[] = [];
  readonly #counts = new Map<string, number>();
  #startedMs: number | undefined;

  constructor(session: string) {
    this.#session = session;
  }

  /** Connections whose hello was answered. */
  connected(kind: TappedFrame['kind']): number {
    const answers = this.#lines.filter(
      ({ connection, type, sequence }) =>
        connection.startsWith(kind) && type === contentType.result && sequence === -1,
    );
    return answers.length;
  }

  get lines(): readonly RecordingLine[] {
    return this.#lines;
  }

  add({ connection, kind, from, to, frame }: TappedFrame): void {
    const types = this.types.get(from) ?? new Set();
    this.types.set(from, types.add(frame.contentType));
    const { contentType: type, sequence } = frame;
    const place = `${kind}-${String(connection).padStart(2, '0')}`;
    // Beginnings and ends of circuits carry no data.
    const key = `${place} ${from} ${type} ${frame.body.length === 0}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (count > (type === contentType.heartbeat ? MAX_HEARTBEATS : MAX_ALIKE)) return;
    const kept = withoutSecrets(frame);
    const bytes = encodeFrame(kept);
    const nowMs = performance.now();
    this.#startedMs ??= nowMs;
    this.#lines.push({
      session: this.#session,
      connection: place,
      from,
      to,
      ms: Math.round((nowMs - this.#startedMs) * 10) / 10,
      type,
      name: messageName(type),
      sequence,
      headers: [...kept.headers.entries()].map(([id, value]) => [id, hexOf(value)]),
      bodyBytes: kept.body.length,
      frameBytes: bytes.length,
      ...bodyOf(kept, bytes),
    });
  }
}

function bodyOf({ contentType: type, body }: Frame, bytes: Uint8Array) {
  const limit = PRIVATE_TYPES.has(type) ? 0 : DATA_TYPES.has(type) ? MAX_DATA_BODY_BYTES : MAX_BODY_BYTES;
  if (body.length <= limit) return { frame: hexOf(bytes) };
  const bodyStart = hexOf(body.subarray(0, Math.min(limit, BODY_START_BYTES)));
  return { frameSha256: createHash('sha256').update(bytes).digest('hex'), bodyStart };
}

/** A copy. The secret of a group no longer opens anything, but a secret is a secret. */
function withoutSecrets(frame: Frame): Frame {
  const { contentType: type, sequence, headers } = frame;
  // Not `slice`, which shares the memory of a Buffer: these bytes are still to be passed on.
  const raw = Uint8Array.from(headers.raw);
  const body = Uint8Array.from(frame.body);
  const isHello = type === contentType.hello || type === contentType.result;
  const secret = headers.bytes(CHANNEL_HEADERS.groupSecret);
  if (isHello && headers.bool(CHANNEL_HEADERS.isGrouped) && secret !== undefined) overwrite(raw, secret);
  return { contentType: type, sequence, headers: new FrameHeaders(raw), body };
}

/** With letters that make it plain: lengths, and so the frame, stay what they were. */
function overwrite(bytes: Uint8Array, part: Uint8Array): void {
  const where = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const wanted = Buffer.from(part);
  for (let at = where.indexOf(wanted); at >= 0; at = where.indexOf(wanted, at + 1)) {
    where.fill('x', at, at + wanted.length);
  }
}
