/**
 * One end of a circuit: OpenZiti's xgress flow control, with a sending and a receiving half. Pure: time is an
 * argument, and effects go through the port. A plain mutable class, because every payload of the data path passes
 * through it.
 */
import { concatBytes, EMPTY_BYTES } from '#base';
import {
  PAYLOAD_FLAGS,
  PAYLOAD_HEADERS,
  type AcknowledgementFrame,
  type PayloadFrame,
} from './payload-codec.ts';
import { chunkLength, chunksOf, MIN_CHUNK_BYTES } from './xgress-chunks.ts';
import { XgressCounters } from './xgress-counters.ts';
import { CircuitBudget } from './xgress-budget.ts';
import type { XgressOptions } from './xgress-options.ts';
import { ReceiveBuffer, type ReceivePort } from './xgress-receive-buffer.ts';
import { SendBuffer, type SendPort } from './xgress-send-buffer.ts';

/** Interval at which `tick` must be called while `isWaitingForAcks`. */
export const XGRESS_TICK_MS = 100;

/** Capability header value of 2.x peers; u32 big-endian. */
const UNDERSTANDS_EOF = Uint8Array.of(0, 0, 1, 0);

/**
 * The effects of the machine, called during its own methods. `canSend`: false while the channel's queue is full;
 * new payloads wait until `resumeSending`. `drained`: called after `write` returned false. `acknowledgementDue`:
 * acknowledgements wait for `flushAcknowledgements` at the end of this tick; called once per batch. `deliver`:
 * bytes in order, with the received payload headers. `deliverEnd`: the far end sends nothing more.
 */
export interface XgressPort extends SendPort, ReceivePort {
  /** The far end no longer reads. Outstanding data is dropped, and writes have no effect. */
  sendFailed?(): void;
}

export class Xgress {
  readonly circuitId: string;
  readonly #originator: number;
  readonly #port: XgressPort;
  readonly #sending: SendBuffer;
  readonly #receiving: ReceiveBuffer;
  #isEndQueued = false;
  #hasPeerEnded = false;

  constructor(
    circuitId: string,
    isTerminator: boolean,
    options: XgressOptions,
    port: XgressPort,
    counters = new XgressCounters(),
    budget = new CircuitBudget(Infinity),
  ) {
    this.circuitId = circuitId;
    this.#originator = isTerminator ? PAYLOAD_FLAGS.originator : 0;
    this.#port = port;
    this.#sending = new SendBuffer(
      circuitId,
      this.#originator,
      options,
      port,
      counters,
      budget.unacknowledged,
    );
    this.#receiving = new ReceiveBuffer(
      circuitId,
      this.#originator,
      options.rxBufferSize,
      port,
      counters,
      budget,
    );
  }

  get isTerminator(): boolean {
    return this.#originator !== 0;
  }

  /** Whether the initiator opened the circuit. */
  get isStarted(): boolean {
    return this.#sending.isStarted;
  }

  /** Whether `tick` must be called every `XGRESS_TICK_MS`, because data is outstanding or the far end is full. */
  get isWaitingForAcks(): boolean {
    return this.#sending.needsTick;
  }

  /** Whether no written data is outstanding or waiting. */
  get isEverythingSent(): boolean {
    return this.#sending.isEmpty;
  }

  /** Whether nothing is outstanding. Data may be waiting. */
  get isAcknowledged(): boolean {
    return this.#sending.isAcknowledged;
  }

  /** Whether nothing more is written. */
  get isEndQueued(): boolean {
    return this.#isEndQueued;
  }

  /** Whether everything written, including the end, has reached the far end or never will. */
  get isSendDone(): boolean {
    return this.#sending.isClosed || (this.#isEndQueued && this.#sending.isEmpty);
  }

  /** Whether the last written data did not reach the far end and never will. */
  get isSendBroken(): boolean {
    return this.#sending.isClosed;
  }

  /** Whether the far end's last byte has arrived, though perhaps not been delivered. */
  get hasReceivedEnd(): boolean {
    return this.#receiving.hasEnd;
  }

  /** Whether the far end's last byte and its end were delivered. */
  get isReceiveDone(): boolean {
    return this.#receiving.isEndDelivered;
  }

  /** Whether the far end has closed both directions, so that nothing of it needs acknowledgements. */
  get hasPeerEnded(): boolean {
    return this.#hasPeerEnded;
  }

  /** Bytes held at this end in both directions. */
  get bufferedBytes(): number {
    return this.#sending.bytes + this.#receiving.bytes;
  }

  /** Opens the circuit, at the initiator. The terminator sends nothing before this. */
  start(nowMs: number): void {
    const opening = { data: EMPTY_BYTES, flags: PAYLOAD_FLAGS.circuitStart, headers: undefined };
    this.#sending.transmit(opening, nowMs);
  }

  /** Returns false if the window is full; the caller then waits for `drained`. */
  write(data: Uint8Array, nowMs: number, headers?: Map<number, Uint8Array>): boolean {
    if (this.#isEndQueued) return true;
    return this.#sending.queue({ data, flags: 0, headers }, nowMs);
  }

  /** As `write`, but the far end receives `data` as one message, in chunks of at most `maxBytes`; 0: in one piece. */
  writeMessage(
    data: Uint8Array,
    nowMs: number,
    headers: Map<number, Uint8Array> | undefined,
    maxBytes: number,
  ): boolean {
    if (maxBytes <= 0 || data.length <= maxBytes) return this.write(data, nowMs, headers);
    if (this.#isEndQueued) return true;
    let mayGoOn = true;
    for (const [index, chunk] of chunksOf(data, maxBytes).entries()) {
      const item = { data: chunk, flags: PAYLOAD_FLAGS.chunk, headers: index === 0 ? headers : undefined };
      mayGoOn = this.#sending.queue(item, nowMs);
    }
    return mayGoOn;
  }

  /**
   * Writes the next part of a message that the far end receives as one, in chunks of at most `maxBytes`; 0: as it is.
   * `messageBytes`: length of the whole message, with its first part; the parts must add up to it.
   */
  writePart(
    data: Uint8Array,
    nowMs: number,
    headers: Map<number, Uint8Array> | undefined,
    maxBytes: number,
    messageBytes?: number,
  ): boolean {
    if (this.#isEndQueued) return true;
    const part = messageBytes === undefined ? data : concatBytes([chunkLength(messageBytes), data]);
    const size = maxBytes <= 0 ? part.length : Math.max(maxBytes, MIN_CHUNK_BYTES);
    let mayGoOn = true;
    for (let at = 0; at < part.length; at += size) {
      const chunk = part.subarray(at, at + size);
      const item = { data: chunk, flags: PAYLOAD_FLAGS.chunk, headers: at === 0 ? headers : undefined };
      mayGoOn = this.#sending.queue(item, nowMs);
    }
    return mayGoOn;
  }

  /** Half-closes after everything that was written. `headers` are sent on a payload before the end (an edge FIN). */
  end(nowMs: number, headers?: Map<number, Uint8Array>): void {
    if (this.#isEndQueued) return;
    if (headers !== undefined) this.#sending.queue({ data: EMPTY_BYTES, flags: 0, headers }, nowMs);
    this.#isEndQueued = true;
    this.#sending.queue({ data: EMPTY_BYTES, flags: PAYLOAD_FLAGS.eof, headers: undefined }, nowMs);
  }

  /** Closes this end after both directions have ended. */
  sendCircuitEnd(nowMs: number): void {
    this.#sending.transmitOnce(PAYLOAD_FLAGS.circuitEnd, nowMs);
  }

  /** Reports that this end no longer reads. */
  sendWriteFailed(nowMs: number): void {
    this.#sending.transmitOnce(PAYLOAD_FLAGS.writeFailed, nowMs);
  }

  /** Drops outstanding data that will never be acknowledged. */
  abandonSending(): void {
    this.#sending.close();
  }

  /** The last call, after reading has stopped. Undelivered data is dropped. */
  release(): void {
    this.#receiving.release();
  }

  pause(): void {
    this.#receiving.pause();
  }

  resume(): void {
    this.#receiving.resume();
  }

  /** Called when the channel accepts data again. */
  resumeSending(nowMs: number): void {
    this.#sending.pump(nowMs);
  }

  onPayload(payload: PayloadFrame, nowMs: number): void {
    const { flags } = payload;
    if ((flags & PAYLOAD_FLAGS.originator) === this.#originator) return;
    if ((flags & PAYLOAD_FLAGS.circuitEnd) !== 0) this.#hasPeerEnded = true;
    if ((flags & PAYLOAD_FLAGS.writeFailed) !== 0) this.#onWriteFailed();
    if (!this.#receiving.take(payload)) return;
    if ((flags & PAYLOAD_FLAGS.circuitStart) !== 0 && !this.#sending.isStarted)
      this.#onStarted(payload, nowMs);
    this.#receiving.deliver();
  }

  onAcknowledgement(ack: AcknowledgementFrame, nowMs: number): void {
    if ((ack.flags & PAYLOAD_FLAGS.originator) === this.#originator) return;
    this.#sending.onAcknowledgement(ack, nowMs);
  }

  /** Retransmits overdue payloads and sends waiting ones. */
  tick(nowMs: number): void {
    this.#sending.tick(nowMs);
    this.#sending.pump(nowMs);
  }

  /** Sends the acknowledgements of this tick's payloads in one frame. */
  flushAcknowledgements(): void {
    this.#receiving.flushAcknowledgements();
  }

  /** The state for inspections of a running router, with OpenZiti's names. */
  inspect(): { readonly sendBufferDetail: object; readonly recvBufferDetail: object } {
    return { sendBufferDetail: this.#sending.inspect(), recvBufferDetail: this.#receiving.inspect() };
  }

  #onStarted(payload: PayloadFrame, nowMs: number): void {
    this.#sending.isStarted = true;
    if (payload.headers?.has(PAYLOAD_HEADERS.capabilities)) {
      const headers = new Map([[PAYLOAD_HEADERS.capabilities as number, UNDERSTANDS_EOF as Uint8Array]]);
      this.#sending.transmit({ data: EMPTY_BYTES, flags: 0, headers }, nowMs);
    }
    this.#sending.pump(nowMs);
  }

  #onWriteFailed(): void {
    if (this.#sending.isClosed) return;
    this.#sending.close();
    this.#port.sendFailed?.();
  }
}
