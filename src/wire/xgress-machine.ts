/**
 * One end of a circuit: OpenZiti's xgress flow control. A window of unacknowledged bytes to send, retransmission,
 * and a buffer that puts what arrives in order. Pure: time comes in as arguments, effects go out through the port.
 * A plain mutable class, because every payload of the data path passes through it.
 */
import { EMPTY_BYTES } from '#base';
import {
  AcknowledgementFrame,
  MAX_SEQUENCES_PER_ACK,
  PAYLOAD_FLAGS,
  PAYLOAD_HEADERS,
  PayloadFrame,
} from './payload-codec.ts';
import type { XgressOptions } from './xgress-options.ts';
import { RoundTrip, stampOf } from './xgress-round-trip.ts';

/** How often `tick` is due while `isWaitingForAcks`. */
export const XGRESS_TICK_MS = 100;

const RETRANSMIT_PAUSE_MS = 64;
const WINDOW_UPDATE_FLOOR_BYTES = 10_000;
/** What one payload that waits its turn costs beside its data. */
const HELD_PAYLOAD_BYTES = 256;
/**
 * Beyond this many times the receive buffer nothing but the next payload in order is kept: a far end that sends a
 * high sequence first could fill the gap below it without bound. Dropped payloads are not acknowledged.
 */
const HELD_LIMIT_FACTOR = 2;
/** What capability header values of 2.x peers mean; u32 big-endian. */
const UNDERSTANDS_EOF = Uint8Array.of(0, 0, 1, 0);
const FIN = 1;

/** What the machine wants done. Calls happen during the machine's own methods. */
export interface XgressPort {
  /** False while the channel's queue is full: new payloads wait until `resumeSending`. */
  canSend(): boolean;
  sendPayload(frame: PayloadFrame): void;
  sendAcknowledgement(frame: AcknowledgementFrame): void;
  /** Acknowledgements wait for `flushAcknowledgements` at the end of this tick. Called once per batch. */
  acknowledgementDue(): void;
  /** Bytes in order. `headers` are payload headers by key, if any came. */
  deliver(data: Uint8Array, headers: Map<number, Uint8Array> | undefined): void;
  /** The far end will send nothing more. */
  deliverEnd(): void;
  /** After `write` returned false. */
  drained(): void;
}

interface Sent {
  readonly frame: PayloadFrame;
  sentAtMs: number;
}

interface Waiting {
  readonly data: Uint8Array;
  readonly flags: number;
  readonly headers: Map<number, Uint8Array> | undefined;
}

export class Xgress {
  readonly circuitId: string;
  readonly #originator: number;
  readonly #options: XgressOptions;
  readonly #port: XgressPort;

  // Sending. `#sent` is in ascending order of sequence: a map keeps the order of insertion.
  readonly #sent = new Map<number, Sent>();
  #waiting: Waiting[] = [];
  #waitingHead = 0;
  #nextSequence = 0;
  #window: number;
  #sentBytes = 0;
  #peerBufferBytes = 0;
  #ackedBytes = 0;
  #goodAcks = 0;
  #duplicateAcks = 0;
  #retransmitted = 0;
  readonly #roundTrip: RoundTrip;
  #lastRetransmitMs = 0;
  #isStarted: boolean;
  #isEndQueued = false;
  #isSendFailed = false;
  #mustDrain = false;

  // Receiving.
  readonly #arrived = new Map<number, PayloadFrame>();
  #nextToDeliver = 0;
  #maxSequence = -1;
  #receivedBytes = 0;
  #lastAdvertised = 0;
  #ackSequences: number[] = [];
  #ackRtt = 0;
  #isPaused = true;
  #isDelivering = false;
  #isReceiveEnded = false;
  #isEndDelivered = false;

  constructor(circuitId: string, isTerminator: boolean, options: XgressOptions, port: XgressPort) {
    this.circuitId = circuitId;
    this.#originator = isTerminator ? PAYLOAD_FLAGS.originator : 0;
    this.#isStarted = !isTerminator;
    this.#options = options;
    this.#port = port;
    this.#window = options.txPortalStartSize;
    this.#roundTrip = new RoundTrip(options);
  }

  get isTerminator(): boolean {
    return this.#originator !== 0;
  }

  /** True while something is on its way: `tick` is due every `XGRESS_TICK_MS`. */
  get isWaitingForAcks(): boolean {
    return this.#sent.size > 0;
  }

  /** Everything written, the end included, reached the far end; or can no longer. */
  get isSendDone(): boolean {
    return this.#isSendFailed || (this.#isEndQueued && this.#sent.size === 0 && this.#waitingCount === 0);
  }

  /** The far end's last byte is here, though perhaps not yet delivered. */
  get hasReceivedEnd(): boolean {
    return this.#isReceiveEnded || this.#arrivedInOrderEnd();
  }

  /** The far end's last byte and its end were delivered. */
  get isReceiveDone(): boolean {
    return this.#isEndDelivered;
  }

  /** Bytes held at this end, both directions. */
  get bufferedBytes(): number {
    let waiting = 0;
    for (let i = this.#waitingHead; i < this.#waiting.length; i += 1)
      waiting += this.#waiting[i]!.data.length;
    return this.#sentBytes + this.#receivedBytes + waiting;
  }

  get #heldBytes(): number {
    return this.#receivedBytes + HELD_PAYLOAD_BYTES * this.#arrived.size;
  }

  get #waitingCount(): number {
    return this.#waiting.length - this.#waitingHead;
  }

  /** The initiator opens the circuit: the terminator sends nothing before this. */
  start(nowMs: number): void {
    this.#transmit(EMPTY_BYTES, PAYLOAD_FLAGS.circuitStart, undefined, nowMs);
  }

  /** False: the window is full, wait for `drained`. */
  write(data: Uint8Array, nowMs: number, headers?: Map<number, Uint8Array>): boolean {
    if (this.#isEndQueued || this.#isSendFailed) return true;
    return this.#send({ data, flags: 0, headers }, nowMs);
  }

  /** Half-close, after all that was written. `headers` go on a payload before the end (an edge FIN). */
  end(nowMs: number, headers?: Map<number, Uint8Array>): void {
    if (this.#isEndQueued || this.#isSendFailed) return;
    if (headers !== undefined) this.#send({ data: EMPTY_BYTES, flags: 0, headers }, nowMs);
    this.#isEndQueued = true;
    this.#send({ data: EMPTY_BYTES, flags: PAYLOAD_FLAGS.eof, headers: undefined }, nowMs);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#deliver();
  }

  /** The channel has room again. */
  resumeSending(nowMs: number): void {
    this.#pump(nowMs);
  }

  onPayload(payload: PayloadFrame, nowMs: number): void {
    const { flags, sequence } = payload;
    if ((flags & PAYLOAD_FLAGS.originator) === this.#originator) return;
    if ((flags & PAYLOAD_FLAGS.writeFailed) !== 0) this.#failSending();
    if (sequence < this.#nextToDeliver || this.#arrived.has(sequence)) {
      this.#acknowledge(payload);
      return;
    }
    if (this.#receivedBytes > this.#options.rxBufferSize && sequence > this.#maxSequence) return;
    if (sequence !== this.#nextToDeliver && this.#heldBytes > HELD_LIMIT_FACTOR * this.#options.rxBufferSize)
      return;
    this.#arrived.set(sequence, payload);
    this.#receivedBytes += payload.data.length;
    if (sequence > this.#maxSequence) this.#maxSequence = sequence;
    this.#acknowledge(payload);
    if ((flags & PAYLOAD_FLAGS.circuitStart) !== 0 && !this.#isStarted) {
      this.#isStarted = true;
      if (payload.headers?.has(PAYLOAD_HEADERS.capabilities)) {
        const capabilities = new Map([
          [PAYLOAD_HEADERS.capabilities as number, UNDERSTANDS_EOF as Uint8Array],
        ]);
        this.#transmit(EMPTY_BYTES, 0, capabilities, nowMs);
      }
      this.#pump(nowMs);
    }
    if (!this.#isPaused) this.#deliver();
  }

  onAcknowledgement(ack: AcknowledgementFrame, nowMs: number): void {
    if ((ack.flags & PAYLOAD_FLAGS.originator) === this.#originator) return;
    const options = this.#options;
    for (const sequence of ack.sequences) {
      const sent = this.#sent.get(sequence);
      if (sent === undefined) {
        this.#duplicateAcks += 1;
        if (this.#duplicateAcks >= options.txPortalDupAckThresh) {
          this.#duplicateAcks = 0;
          this.#roundTrip.widen();
        }
        continue;
      }
      this.#sent.delete(sequence);
      this.#sentBytes -= sent.frame.data.length;
      this.#ackedBytes += sent.frame.data.length;
      this.#goodAcks += 1;
      if (this.#goodAcks >= options.txPortalIncreaseThresh) {
        this.#goodAcks = 0;
        const grown = this.#window + this.#ackedBytes * options.txPortalIncreaseScale;
        this.#window = Math.min(grown, options.txPortalMaxSize);
        this.#roundTrip.narrow();
      }
    }
    this.#peerBufferBytes = ack.receiveBufferSize;
    if (ack.rtt > 0) this.#roundTrip.learn(ack.rtt, nowMs);
    this.#pump(nowMs);
  }

  /** Retransmits what is overdue. */
  tick(nowMs: number): void {
    if (this.#sent.size === 0 || nowMs - this.#lastRetransmitMs <= RETRANSMIT_PAUSE_MS) return;
    for (const sent of this.#sent.values()) {
      if (nowMs - sent.sentAtMs < this.#roundTrip.lostAfterMs) continue;
      if (!this.#port.canSend()) break;
      sent.sentAtMs = nowMs;
      sent.frame.flags |= PAYLOAD_FLAGS.retransmit;
      sent.frame.rtt = stampOf(nowMs);
      this.#port.sendPayload(sent.frame);
      this.#retransmitted += 1;
      if (this.#retransmitted >= this.#options.txPortalRetxThresh) {
        this.#ackedBytes = 0;
        this.#retransmitted = 0;
        const shrunk = Math.trunc(this.#window * this.#options.txPortalRetxScale);
        this.#window = Math.max(shrunk, this.#options.txPortalMinSize);
      }
    }
    this.#lastRetransmitMs = nowMs;
  }

  /** Sends the acknowledgements that this tick's payloads asked for, in one frame. */
  flushAcknowledgements(): void {
    if (this.#ackSequences.length === 0) return;
    const ack = new AcknowledgementFrame(
      this.circuitId,
      this.#originator,
      this.#receivedBytes,
      this.#ackSequences,
    );
    ack.rtt = this.#ackRtt;
    this.#ackSequences = [];
    this.#lastAdvertised = this.#receivedBytes;
    this.#port.sendAcknowledgement(ack);
  }

  #send(item: Waiting, nowMs: number): boolean {
    if (this.#waitingCount > 0 || !this.#maySend()) {
      this.#waiting.push(item);
      this.#mustDrain = true;
      return false;
    }
    this.#transmit(item.data, item.flags, item.headers, nowMs);
    return true;
  }

  #maySend(): boolean {
    if (!this.#isStarted || !this.#port.canSend()) return false;
    // One payload may always pass when nothing is outstanding: otherwise a circuit could stall for ever.
    if (this.#sentBytes === 0) return true;
    return this.#peerBufferBytes <= this.#options.txPortalMaxSize && this.#sentBytes <= this.#window;
  }

  #pump(nowMs: number): void {
    while (this.#waitingCount > 0 && this.#maySend()) {
      const item = this.#waiting[this.#waitingHead]!;
      this.#waitingHead += 1;
      this.#transmit(item.data, item.flags, item.headers, nowMs);
    }
    if (this.#waitingCount > 0) return;
    if (this.#waiting.length > 0) {
      this.#waiting = [];
      this.#waitingHead = 0;
    }
    if (this.#mustDrain) {
      this.#mustDrain = false;
      this.#port.drained();
    }
  }

  #transmit(
    data: Uint8Array,
    flags: number,
    headers: Map<number, Uint8Array> | undefined,
    nowMs: number,
  ): void {
    const sequence = this.#nextSequence;
    this.#nextSequence += 1;
    const frame = new PayloadFrame(this.circuitId, sequence, flags | this.#originator, data);
    frame.rtt = stampOf(nowMs);
    frame.headers = headers;
    this.#sent.set(sequence, { frame, sentAtMs: nowMs });
    this.#sentBytes += data.length;
    this.#port.sendPayload(frame);
  }

  #acknowledge(payload: PayloadFrame): void {
    if (this.#ackSequences.length === 0) this.#port.acknowledgementDue();
    this.#ackSequences.push(payload.sequence);
    this.#ackRtt = payload.rtt;
    if (this.#ackSequences.length >= MAX_SEQUENCES_PER_ACK) this.flushAcknowledgements();
  }

  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    while (!this.#isPaused) {
      const payload = this.#arrived.get(this.#nextToDeliver);
      if (payload === undefined) break;
      this.#arrived.delete(this.#nextToDeliver);
      this.#nextToDeliver += 1;
      this.#deliverOne(payload);
    }
    this.#isDelivering = false;
    this.#updateWindow();
  }

  #deliverOne(payload: PayloadFrame): void {
    const { data, flags, headers } = payload;
    this.#receivedBytes -= data.length;
    if (this.#isReceiveEnded) return;
    const edgeFlags = headers?.get(PAYLOAD_HEADERS.edgeFlags)?.[0] ?? 0;
    const isEnd = (flags & (PAYLOAD_FLAGS.eof | PAYLOAD_FLAGS.circuitEnd)) !== 0 || (edgeFlags & FIN) !== 0;
    if (isEnd) this.#isReceiveEnded = true;
    if (data.length > 0) this.#port.deliver(data, headers);
    if (isEnd) {
      this.#isEndDelivered = true;
      this.#port.deliverEnd();
    }
  }

  #arrivedInOrderEnd(): boolean {
    for (let sequence = this.#nextToDeliver; ; sequence += 1) {
      const payload = this.#arrived.get(sequence);
      if (payload === undefined) return false;
      if ((payload.flags & (PAYLOAD_FLAGS.eof | PAYLOAD_FLAGS.circuitEnd)) !== 0) return true;
    }
  }

  #updateWindow(): void {
    if (this.#lastAdvertised <= WINDOW_UPDATE_FLOOR_BYTES) return;
    if (this.#receivedBytes >= this.#lastAdvertised / 2) return;
    this.#lastAdvertised = this.#receivedBytes;
    const update = new AcknowledgementFrame(this.circuitId, this.#originator, this.#receivedBytes, []);
    this.#port.sendAcknowledgement(update);
  }

  /** The far end reads no more: what is buffered will never be acknowledged. */
  #failSending(): void {
    this.#isSendFailed = true;
    this.#sent.clear();
    this.#sentBytes = 0;
    this.#waiting = [];
    this.#waitingHead = 0;
  }
}
