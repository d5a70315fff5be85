/**
 * One end of a circuit: OpenZiti's xgress flow control, a sending and a receiving half and what connects them. Pure:
 * time comes in as arguments, effects go out through the port. A plain mutable class, because every payload of the
 * data path passes through it.
 */
import { EMPTY_BYTES } from '#base';
import {
  PAYLOAD_FLAGS,
  PAYLOAD_HEADERS,
  type AcknowledgementFrame,
  type PayloadFrame,
} from './payload-codec.ts';
import { chunksOf } from './xgress-chunks.ts';
import { XgressCounters } from './xgress-counters.ts';
import { ReceiveBudget } from './xgress-receive-budget.ts';
import type { XgressOptions } from './xgress-options.ts';
import { ReceiveBuffer, type ReceivePort } from './xgress-receive-buffer.ts';
import { SendBuffer, type SendPort } from './xgress-send-buffer.ts';

/** How often `tick` is due while `isWaitingForAcks`. */
export const XGRESS_TICK_MS = 100;

/** What capability header values of 2.x peers mean; u32 big-endian. */
const UNDERSTANDS_EOF = Uint8Array.of(0, 0, 1, 0);

/**
 * What the machine wants done; calls happen during the machine's own methods. `canSend`: false while the channel's
 * queue is full, new payloads wait until `resumeSending`. `drained`: after `write` returned false. `acknowledgementDue`:
 * acknowledgements wait for `flushAcknowledgements` at the end of this tick, told once a batch. `deliver`: bytes in
 * order, with the payload headers that came. `deliverEnd`: the far end sends nothing more.
 */
export interface XgressPort extends SendPort, ReceivePort {
  /** The far end reads no more: what was on its way is forgotten, writes go nowhere. */
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
    budget = new ReceiveBudget(Infinity),
  ) {
    this.circuitId = circuitId;
    this.#originator = isTerminator ? PAYLOAD_FLAGS.originator : 0;
    this.#port = port;
    this.#sending = new SendBuffer(circuitId, this.#originator, options, port, counters);
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

  /** The circuit was opened by its initiator. */
  get isStarted(): boolean {
    return this.#sending.isStarted;
  }

  /** True while something is on its way or the far end is full: `tick` is due every `XGRESS_TICK_MS`. */
  get isWaitingForAcks(): boolean {
    return this.#sending.needsTick;
  }

  /** Nothing that was written is on its way or waits. */
  get isEverythingSent(): boolean {
    return this.#sending.isEmpty;
  }

  /** Nothing is on its way, though something may wait. */
  get isAcknowledged(): boolean {
    return this.#sending.isAcknowledged;
  }

  /** Everything written, the end included, reached the far end; or can no longer. */
  get isSendDone(): boolean {
    return this.#sending.isClosed || (this.#isEndQueued && this.#sending.isEmpty);
  }

  /** What was written last did not reach the far end and never will. */
  get isSendBroken(): boolean {
    return this.#sending.isClosed;
  }

  /** The far end's last byte is here, though perhaps not yet delivered. */
  get hasReceivedEnd(): boolean {
    return this.#receiving.hasEnd;
  }

  /** The far end's last byte and its end were delivered. */
  get isReceiveDone(): boolean {
    return this.#receiving.isEndDelivered;
  }

  /** The far end has closed, both ways; nothing of it will ask for acknowledgements any more. */
  get hasPeerEnded(): boolean {
    return this.#hasPeerEnded;
  }

  /** Bytes held at this end, both directions. */
  get bufferedBytes(): number {
    return this.#sending.bytes + this.#receiving.bytes;
  }

  /** The initiator opens the circuit: the terminator sends nothing before this. */
  start(nowMs: number): void {
    const opening = { data: EMPTY_BYTES, flags: PAYLOAD_FLAGS.circuitStart, headers: undefined };
    this.#sending.transmit(opening, nowMs);
  }

  /** False: the window is full, wait for `drained`. */
  write(data: Uint8Array, nowMs: number, headers?: Map<number, Uint8Array>): boolean {
    if (this.#isEndQueued) return true;
    return this.#sending.queue({ data, flags: 0, headers }, nowMs);
  }

  /** As `write`, but the far end gets `data` whole, though it travels in chunks of at most `maxBytes`; 0: uncut. */
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

  /** Half-close, after all that was written. `headers` go on a payload before the end (an edge FIN). */
  end(nowMs: number, headers?: Map<number, Uint8Array>): void {
    if (this.#isEndQueued) return;
    if (headers !== undefined) this.#sending.queue({ data: EMPTY_BYTES, flags: 0, headers }, nowMs);
    this.#isEndQueued = true;
    this.#sending.queue({ data: EMPTY_BYTES, flags: PAYLOAD_FLAGS.eof, headers: undefined }, nowMs);
  }

  /** This end closes, both ways having ended. */
  sendCircuitEnd(nowMs: number): void {
    this.#sending.transmitOnce(PAYLOAD_FLAGS.circuitEnd, nowMs);
  }

  /** This end reads no more though more may come. */
  sendWriteFailed(nowMs: number): void {
    this.#sending.transmitOnce(PAYLOAD_FLAGS.writeFailed, nowMs);
  }

  /** Gives up what is on its way: nobody will acknowledge it. */
  abandonSending(): void {
    this.#sending.close();
  }

  /** The last call, once nobody reads here any more: what waited for its reader is forgotten. */
  release(): void {
    this.#receiving.release();
  }

  pause(): void {
    this.#receiving.pause();
  }

  resume(): void {
    this.#receiving.resume();
  }

  /** The channel has room again. */
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

  /** Retransmits what is overdue, and tries again what waits. */
  tick(nowMs: number): void {
    this.#sending.tick(nowMs);
    this.#sending.pump(nowMs);
  }

  /** Sends the acknowledgements that this tick's payloads asked for, in one frame. */
  flushAcknowledgements(): void {
    this.#receiving.flushAcknowledgements();
  }

  /** For who looks into a running router: OpenZiti's names. */
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
