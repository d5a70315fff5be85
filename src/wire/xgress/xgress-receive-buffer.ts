/**
 * The receiving half of a circuit's end: orders payloads, acknowledges them, joins chunks, and reports the unread
 * bytes to the far end. A plain mutable class, because every payload of the data path passes through it.
 */
import { concatBytes } from '#base';
import {
  AcknowledgementFrame,
  MAX_SEQUENCES_PER_ACK,
  PAYLOAD_FLAGS,
  PAYLOAD_HEADERS,
  type PayloadFrame,
} from './payload-codec.ts';
import { chunkHead } from './xgress-chunks.ts';
import type { XgressCounters } from './xgress-counters.ts';
import { keepPayload, keptPayloadSize } from './xgress-held-payload.ts';
import type { CircuitBudget } from './xgress-budget.ts';

const WINDOW_UPDATE_FLOOR_BYTES = 10_000;
/** More than any sender's window, so that the far end, including OpenZiti's, waits for a lower value. */
const FULL = 0xffff_ffff;
/**
 * Beyond this multiple of the receive buffer, only the next payload in order is kept. Otherwise a far end that
 * sends a high sequence first could fill the gap below it without limit. Dropped payloads are not acknowledged.
 */
const HELD_LIMIT_FACTOR = 2;
/** Limit for waiting payloads, however short they are. */
const MAX_HELD_PAYLOADS = 8_192;
/** Limit for a chunked message: one encrypted write of an application, which can be decrypted only as a whole. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** More than this is acknowledged at once, so that the far end's window does not stand still. */
const LATE_ACKNOWLEDGED_BYTES = 16_384;
const FIN = 1;
const END_FLAGS = PAYLOAD_FLAGS.eof | PAYLOAD_FLAGS.circuitEnd;
const WAITING_FLAGS = PAYLOAD_FLAGS.lateAcknowledgement | PAYLOAD_FLAGS.retransmit;

/** The functions that the buffer requires from its end. */
export interface ReceivePort {
  sendAcknowledgement(frame: AcknowledgementFrame): void;
  acknowledgementDue(): void;
  /** As `acknowledgementDue`, for an acknowledgement that may wait. Where it is absent, none waits. */
  acknowledgementMayWait?: (() => void) | undefined;
  deliver(data: Uint8Array, headers: Map<number, Uint8Array> | undefined): void;
  deliverEnd(): void;
  /** The far end sent chunks that cannot be joined. */
  broken?(reason: string): void;
}

interface Chunks {
  readonly headers: Map<number, Uint8Array> | undefined;
  readonly parts: Uint8Array[];
  missingBytes: number;
}

export class ReceiveBuffer {
  readonly #circuitId: string;
  readonly #originator: number;
  readonly #capacity: number;
  readonly #port: ReceivePort;
  readonly #counters: XgressCounters;
  readonly #budget: CircuitBudget;
  /** Payloads that are out of order, or wait for a paused reader. */
  readonly #arrived = new Map<number, PayloadFrame>();
  /**
   * The next payload in order, between `take` and `deliver`. Most payloads take this way, because a map would
   * cost more than the rest.
   */
  #ready: PayloadFrame | undefined;
  #next = 0;
  #maxSequence = -1;
  #bytes = 0;
  /** The memory of `#arrived`. */
  #keptBytes = 0;
  /** The part of `#keptBytes` that the budget counts as out of order. */
  #gapBytes = 0;
  #lastAdvertised = 0;
  #ackSequences: number[] = [];
  #ackRtt = 0;
  /** Bytes of the payloads in `#ackSequences`. */
  #ackedBytes = 0;
  #isAckDue = false;
  #chunks: Chunks | undefined;
  /** The memory of the parts of `#chunks`. */
  #joinedBytes = 0;
  #isPaused = true;
  #isDelivering = false;
  #isEnded = false;
  #isEndDelivered = false;

  constructor(
    circuitId: string,
    originator: number,
    capacity: number,
    port: ReceivePort,
    counters: XgressCounters,
    budget: CircuitBudget,
  ) {
    this.#circuitId = circuitId;
    this.#originator = originator;
    this.#budget = budget;
    this.#capacity = capacity;
    this.#port = port;
    this.#counters = counters;
  }

  /** Number of bytes that arrived and were not delivered. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEndDelivered(): boolean {
    return this.#isEndDelivered;
  }

  /** Whether the far end's last byte has arrived, though perhaps not been delivered. */
  get hasEnd(): boolean {
    if (this.#isEnded) return true;
    if (this.#ready !== undefined) this.#putBack(this.#ready);
    for (let sequence = this.#next; ; sequence += 1) {
      const payload = this.#arrived.get(sequence);
      if (payload === undefined) return false;
      if ((payload.flags & END_FLAGS) !== 0) return true;
    }
  }

  /** Returns false for a duplicate, or if there is no room. Call `deliver` afterwards. */
  take(payload: PayloadFrame): boolean {
    const { sequence } = payload;
    if (sequence < this.#next || (this.#arrived.size > 0 && this.#arrived.has(sequence))) {
      this.#counters.duplicatePayloads += 1;
      this.#acknowledge(payload);
      return false;
    }
    const isNext = sequence === this.#next;
    if (isNext && !this.#isPaused && !this.#isDelivering) {
      this.#ready = payload;
      this.#bytes += payload.data.length;
    } else if (this.#hasRoomFor(sequence, isNext)) {
      this.#keep(payload);
      this.#bytes += payload.data.length;
    } else {
      this.#counters.droppedPayloads += 1;
      return false;
    }
    if (sequence > this.#maxSequence) this.#maxSequence = sequence;
    this.#acknowledge(payload);
    return true;
  }

  pause(): void {
    this.#isPaused = true;
    if (this.#ready !== undefined) this.#putBack(this.#ready);
    this.#countGap();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.deliver();
  }

  /** Delivers payloads that are in order, unless paused. */
  deliver(): void {
    if (this.#isDelivering || this.#isPaused) return;
    this.#isDelivering = true;
    const ready = this.#ready;
    if (ready !== undefined) {
      this.#ready = undefined;
      this.#next += 1;
      this.#deliverOne(ready);
    }
    while (!this.#isPaused && this.#arrived.size > 0) {
      const payload = this.#arrived.get(this.#next);
      if (payload === undefined) break;
      this.#arrived.delete(this.#next);
      this.#countKept(-keptPayloadSize(payload));
      this.#next += 1;
      this.#deliverOne(payload);
    }
    this.#isDelivering = false;
    this.#countGap();
    this.#updateWindow();
  }

  /** Sends the acknowledgements of this tick's payloads in one frame. */
  flushAcknowledgements(): void {
    if (this.#ackSequences.length === 0) return;
    const held = this.#isFull(1) ? FULL : this.#bytes;
    const ack = new AcknowledgementFrame(this.#circuitId, this.#originator, held, this.#ackSequences);
    ack.rtt = this.#ackRtt;
    this.#ackSequences = [];
    this.#ackedBytes = 0;
    this.#isAckDue = false;
    this.#lastAdvertised = held;
    this.#counters.acksSent += 1;
    this.#port.sendAcknowledgement(ack);
  }

  /** Drops undelivered data. */
  release(): void {
    this.#ready = undefined;
    this.#chunks = undefined;
    this.#countJoined(-this.#joinedBytes);
    this.#arrived.clear();
    this.#bytes = 0;
    this.#countKept(-this.#keptBytes);
    this.#countGap();
  }

  inspect(): Record<string, unknown> {
    return {
      size: this.#bytes,
      payloadCount: this.#arrived.size,
      sequence: this.#next - 1,
      maxSequence: this.#maxSequence,
    };
  }

  /**
   * Whether a payload that cannot be delivered now may wait. A correct far end retransmits a dropped one and
   * stops before its own window is full; a far end that does not is held to this limit.
   */
  #hasRoomFor(sequence: number, isNext: boolean): boolean {
    const keptBytes = this.#keptBytes;
    if (this.#bytes > this.#capacity && sequence > this.#maxSequence) return false;
    if (!isNext && keptBytes > HELD_LIMIT_FACTOR * this.#capacity) return false;
    if (!isNext && this.#arrived.size >= MAX_HELD_PAYLOADS) return false;
    if (!this.#isPaused && this.#budget.gaps.isSpent(keptBytes)) return false;
    return !this.#budget.isSpent(keptBytes);
  }

  /**
   * Whether `times` the waiting data would be too much, so that the far end is asked to wait before anything is
   * dropped.
   */
  #isFull(times: number): boolean {
    return (
      times * this.#arrived.size > MAX_HELD_PAYLOADS / 2 || this.#budget.isOverdrawn(times * this.#keptBytes)
    );
  }

  #keep(payload: PayloadFrame): void {
    keepPayload(payload);
    this.#arrived.set(payload.sequence, payload);
    this.#countKept(keptPayloadSize(payload));
    if (!this.#isPaused) this.#countGap();
  }

  #countKept(bytes: number): void {
    const before = this.#keptBytes + this.#joinedBytes;
    this.#keptBytes += bytes;
    this.#budget.count(before, before + bytes);
  }

  #countJoined(bytes: number): void {
    const before = this.#keptBytes + this.#joinedBytes;
    this.#joinedBytes += bytes;
    this.#budget.count(before, before + bytes);
  }

  /** While the reader accepts everything in order, all waiting data is out of order. */
  #countGap(): void {
    const gapBytes = this.#isPaused ? 0 : this.#keptBytes;
    if (gapBytes === this.#gapBytes) return;
    this.#budget.gaps.count(this.#gapBytes, gapBytes);
    this.#gapBytes = gapBytes;
  }

  #putBack(payload: PayloadFrame): void {
    this.#ready = undefined;
    this.#keep(payload);
  }

  #acknowledge(payload: PayloadFrame): void {
    const { flags, data, sequence } = payload;
    const isFirst = this.#ackSequences.length === 0;
    this.#ackSequences.push(sequence);
    this.#ackRtt = payload.rtt;
    this.#ackedBytes += data.length;
    if (!this.#isAckDue) {
      const mayWait =
        (flags & WAITING_FLAGS) === PAYLOAD_FLAGS.lateAcknowledgement &&
        this.#ackedBytes <= LATE_ACKNOWLEDGED_BYTES &&
        this.#port.acknowledgementMayWait !== undefined;
      if (!mayWait) {
        this.#isAckDue = true;
        this.#port.acknowledgementDue();
      } else if (isFirst) this.#port.acknowledgementMayWait!();
    }
    if (this.#ackSequences.length >= MAX_SEQUENCES_PER_ACK) this.flushAcknowledgements();
  }

  #deliverOne(payload: PayloadFrame): void {
    const { data, flags, headers } = payload;
    this.#bytes -= data.length;
    if (this.#isEnded) return;
    const edgeFlags = headers?.get(PAYLOAD_HEADERS.edgeFlags)?.[0] ?? 0;
    const isEnd = (flags & END_FLAGS) !== 0 || (edgeFlags & FIN) !== 0;
    if (isEnd) this.#isEnded = true;
    if ((flags & PAYLOAD_FLAGS.chunk) !== 0 && data.length > 0) this.#join(data, headers);
    else if (data.length > 0) this.#port.deliver(data, headers);
    if (!isEnd) return;
    this.#isEndDelivered = true;
    this.#port.deliverEnd();
  }

  /** Joins chunks. The first one contains the length of the message; the others follow without gaps. */
  #join(data: Uint8Array, headers: Map<number, Uint8Array> | undefined): void {
    let part = data;
    if (this.#chunks === undefined) {
      const head = chunkHead(data);
      if (head === undefined || head.messageBytes > MAX_MESSAGE_BYTES) {
        this.#break('a chunk without a length, or one that is too long');
        return;
      }
      part = data.subarray(head.headBytes);
      this.#chunks = { headers, parts: [], missingBytes: head.messageBytes };
    }
    const chunks = this.#chunks;
    chunks.parts.push(part);
    chunks.missingBytes -= part.length;
    if (chunks.missingBytes > 0) {
      this.#countJoined(part.length);
      if (this.#budget.isSpent(this.#joinedBytes)) this.#break('there is no memory left for a message');
      return;
    }
    this.#chunks = undefined;
    this.#countJoined(-this.#joinedBytes);
    if (chunks.missingBytes < 0) {
      this.#break('chunks longer than their message');
      return;
    }
    const message = chunks.parts.length === 1 ? part : concatBytes(chunks.parts);
    if (message.length > 0) this.#port.deliver(message, chunks.headers);
  }

  #break(reason: string): void {
    this.#isEnded = true;
    this.release();
    this.#port.broken?.(reason);
  }

  #updateWindow(): void {
    if (this.#lastAdvertised <= WINDOW_UPDATE_FLOOR_BYTES) return;
    // Announced with a delay, because more than one payload is about to arrive, which would be too much
    // again.
    if (this.#lastAdvertised === FULL ? this.#isFull(2) : this.#bytes >= this.#lastAdvertised / 2) return;
    this.#lastAdvertised = this.#bytes;
    this.#counters.acksSent += 1;
    this.#port.sendAcknowledgement(
      new AcknowledgementFrame(this.#circuitId, this.#originator, this.#bytes, []),
    );
  }
}
