/**
 * The sending half of a circuit's end: a window of unacknowledged payloads, which are retransmitted when they
 * count as lost, and a queue of data that waits for the window. A plain mutable class, because every payload of
 * the data path passes through it.
 */
import { EMPTY_BYTES } from '#base';
import { PAYLOAD_FLAGS, PayloadFrame, type AcknowledgementFrame } from './payload-codec.ts';
import { SequenceWindow } from './sequence-window.ts';
import type { SharedBytes } from './xgress-budget.ts';
import type { XgressCounters } from './xgress-counters.ts';
import { PAYLOAD_COST } from './xgress-held-payload.ts';
import type { XgressOptions } from './xgress-options.ts';
import { XgressPath } from './xgress-path.ts';
import { RoundTrip, stampOf } from './xgress-round-trip.ts';

const RETRANSMIT_PAUSE_MS = 64;
/** What a circuit may send in a millisecond, about half a gigabit a second: a longer path needs a larger window. */
const WINDOW_BYTES_PER_MS = 64 * 1024;

/** The functions that the buffer requires from its end. */
export interface SendPort {
  canSend(): boolean;
  sendPayload(frame: PayloadFrame): void;
  drained(): void;
  /**
   * The far end has this payload, and nothing refers to its data. It is not called for a payload that was
   * retransmitted, because that may still wait to be sent.
   */
  acknowledged?(data: Uint8Array): void;
}

export interface OutgoingPayload {
  readonly data: Uint8Array;
  readonly flags: number;
  readonly headers: Map<number, Uint8Array> | undefined;
}

interface Sent {
  readonly frame: PayloadFrame;
  sentAtMs: number;
  /** Number of its last transmission; 0 if the path drops nothing. */
  transmission: number;
}

/** Outstanding payloads that are examined for drops at each acknowledgement. */
const MAX_EXAMINED = 256;

/**
 * A far end that was full and silent for this time is probed, because its announcement may have been lost.
 * Further probes come at growing intervals.
 */
const PROBE_MS = 1_000;
const MAX_PROBE_MS = 16_000;

export class SendBuffer {
  /** Whether the circuit was opened. Nothing is sent before. */
  isStarted: boolean;
  readonly #circuitId: string;
  readonly #originator: number;
  readonly #options: XgressOptions;
  readonly #port: SendPort;
  readonly #counters: XgressCounters;
  readonly #budget: SharedBytes;
  readonly #sent = new SequenceWindow<Sent>();
  readonly #roundTrip: RoundTrip;
  /** Undefined if the path drops nothing. */
  readonly #path: XgressPath | undefined;
  #waiting: OutgoingPayload[] = [];
  #waitingHead = 0;
  #waitingBytes = 0;
  #nextSequence = 0;
  #window: number;
  #sentBytes = 0;
  /** Memory of the outstanding payloads, as the budget counts it. */
  #heldBytes = 0;
  #peerBufferBytes = 0;
  #ackedBytes = 0;
  #goodAcks = 0;
  #duplicateAcks = 0;
  #retransmitted = 0;
  #lastRetransmitMs = 0;
  #mustDrain = false;
  #isBlockedHere = false;
  #isBlockedThere = false;
  #isClosed = false;
  /** When the far end last reported its buffer size. */
  #reportedAtMs = 0;
  #probeAfterMs = PROBE_MS;

  constructor(
    circuitId: string,
    originator: number,
    options: XgressOptions,
    port: SendPort,
    counters: XgressCounters,
    budget: SharedBytes,
  ) {
    this.#circuitId = circuitId;
    this.#originator = originator;
    this.isStarted = originator === 0;
    this.#options = options;
    this.#port = port;
    this.#counters = counters;
    this.#budget = budget;
    this.#window = options.txPortalStartSize;
    this.#roundTrip = new RoundTrip(options);
    this.#path = options.isLossy === true ? new XgressPath(options.txPortalMaxSize) : undefined;
  }

  /** Whether data is outstanding, or waits for a far end whose announcement of room may have been lost. */
  get needsTick(): boolean {
    return this.#sent.size > 0 || (this.#isBlockedThere && this.#waitingCount > 0);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether nothing is outstanding or waiting. */
  get isEmpty(): boolean {
    return this.#sent.size === 0 && this.#waitingCount === 0;
  }

  /** Whether all sent data has been acknowledged. */
  get isAcknowledged(): boolean {
    return this.#sent.size === 0;
  }

  get bytes(): number {
    return this.#sentBytes + this.#waitingBytes;
  }

  /** How much may be on the way and unread at the far end together; never more than the far end can hold. */
  get #mostBytes(): number {
    const { txPortalMaxSize, rxBufferSize } = this.#options;
    const { leastMs } = this.#roundTrip;
    if (this.#path !== undefined || leastMs === Infinity) return txPortalMaxSize;
    return Math.max(txPortalMaxSize, Math.min(rxBufferSize, WINDOW_BYTES_PER_MS * leastMs));
  }

  get #waitingCount(): number {
    return this.#waiting.length - this.#waitingHead;
  }

  /** Returns false if the item waits for the window. `drained` is called when all waiting items have been sent. */
  queue(item: OutgoingPayload, nowMs: number): boolean {
    if (this.#isClosed) return true;
    if (this.#waitingCount > 0 || !this.#maySend()) {
      this.#waiting.push(item);
      this.#waitingBytes += item.data.length;
      this.#mustDrain = true;
      return false;
    }
    this.transmit(item, nowMs);
    return true;
  }

  /** Sends regardless of the window. */
  transmit({ data, flags, headers }: OutgoingPayload, nowMs: number): void {
    const isData = flags === 0 && this.#options.allowsLateAcknowledgements === true;
    const frame = this.#frame(data, isData ? PAYLOAD_FLAGS.lateAcknowledgement : flags, nowMs);
    frame.headers = headers;
    this.#sent.add(frame.sequence, { frame, sentAtMs: nowMs, transmission: this.#path?.transmit() ?? 0 });
    this.#sentBytes += data.length;
    this.#counters.unackedPayloads += 1;
    this.#counters.unackedBytes += data.length;
    this.#hold();
    this.#port.sendPayload(frame);
  }

  /** Sends a payload without waiting for its acknowledgement. */
  transmitOnce(flags: number, nowMs: number): void {
    this.#port.sendPayload(this.#frame(EMPTY_BYTES, flags, nowMs));
  }

  onAcknowledgement(ack: AcknowledgementFrame, nowMs: number): void {
    const options = this.#options;
    let roundTripMs = -1;
    this.#counters.acksReceived += 1;
    for (const sequence of ack.sequences) {
      const sent = this.#sent.take(sequence);
      if (sent === undefined) {
        this.#counters.duplicateAcks += 1;
        this.#duplicateAcks += 1;
        if (this.#duplicateAcks >= options.txPortalDupAckThresh) {
          this.#duplicateAcks = 0;
          this.#roundTrip.widen();
        }
        continue;
      }
      const { data, flags } = sent.frame;
      const { length } = data;
      const isRepeated = (flags & PAYLOAD_FLAGS.retransmit) !== 0;
      if (!isRepeated) roundTripMs = nowMs - sent.sentAtMs;
      this.#sentBytes -= length;
      this.#counters.unackedPayloads -= 1;
      this.#counters.unackedBytes -= length;
      this.#ackedBytes += length;
      this.#goodAcks += 1;
      if (this.#path !== undefined) this.#learnPath(this.#path, sent, nowMs);
      if (this.#goodAcks >= options.txPortalIncreaseThresh) {
        this.#goodAcks = 0;
        if (this.#path?.hasDropped !== true) {
          const grown = this.#window + this.#ackedBytes * options.txPortalIncreaseScale;
          this.#window = Math.min(grown, this.#mostBytes);
        }
        this.#roundTrip.narrow();
      }
      if (!isRepeated) this.#port.acknowledged?.(data);
    }
    this.#hold();
    this.#peerBufferBytes = ack.receiveBufferSize;
    this.#reportedAtMs = nowMs;
    if (roundTripMs >= 0) this.#roundTrip.learn(roundTripMs);
    if (this.#path !== undefined) this.#repeatDropped(this.#path, nowMs);
    this.pump(nowMs);
  }

  /** Retransmits overdue payloads. */
  tick(nowMs: number): void {
    if (this.#sent.size === 0 && this.#isBlockedThere && nowMs - this.#reportedAtMs >= this.#probeAfterMs)
      this.#probe(nowMs);
    if (this.#sent.size === 0 || nowMs - this.#lastRetransmitMs <= RETRANSMIT_PAUSE_MS) return;
    for (const sent of this.#sent.values()) {
      if (nowMs - sent.sentAtMs < this.#roundTrip.lostAfterMs) continue;
      if (!this.#port.canSend()) break;
      this.#repeat(sent, nowMs);
    }
    this.#lastRetransmitMs = nowMs;
  }

  /** Sends waiting items as far as the window permits. */
  pump(nowMs: number): void {
    while (this.#waitingCount > 0 && this.#maySend()) this.#transmitNext(nowMs);
    if (this.#waitingCount > 0) return;
    if (this.#waiting.length > 0) {
      this.#waiting = [];
      this.#waitingHead = 0;
    }
    if (!this.#mustDrain) return;
    this.#mustDrain = false;
    this.#port.drained();
  }

  /** Drops outstanding and waiting data, and accepts nothing more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#counters.unackedPayloads -= this.#sent.size;
    this.#counters.unackedBytes -= this.#sentBytes;
    this.#mark(false, false);
    this.#sent.clear();
    this.#sentBytes = 0;
    this.#hold();
    this.#waiting = [];
    this.#waitingHead = 0;
    this.#waitingBytes = 0;
  }

  inspect(): Record<string, unknown> {
    return {
      windowSize: this.#window,
      queuedPayloadCount: this.#sent.size + this.#waitingCount,
      linkSendBufferSize: this.#sentBytes,
      linkRecvBufferSize: this.#peerBufferBytes,
      accumulator: this.#ackedBytes,
      successfulAcks: this.#goodAcks,
      duplicateAcks: this.#duplicateAcks,
      retransmits: this.#retransmitted,
      closed: this.#isClosed,
      blockedByLocalWindow: this.#isBlockedHere,
      blockedByRemoteWindow: this.#isBlockedThere,
      retxScale: this.#roundTrip.scale,
      retxThreshold: this.#roundTrip.lostAfterMs,
      nextSequence: this.#nextSequence,
    };
  }

  /**
   * Repeats the first payload without its data. The far end has received that number before, so it acknowledges
   * it and reports its buffer size without storing anything, even if it is full; OpenZiti's does too. A new
   * payload per second would fill its buffer in a quarter of an hour.
   */
  #probe(nowMs: number): void {
    this.#reportedAtMs = nowMs;
    this.#probeAfterMs = Math.min(2 * this.#probeAfterMs, MAX_PROBE_MS);
    // If no payload was sent yet, the far end gets the first one.
    if (this.#nextSequence === 0) {
      this.#transmitNext(nowMs);
      return;
    }
    const flags = PAYLOAD_FLAGS.retransmit | this.#originator;
    const frame = new PayloadFrame(this.#circuitId, 0, flags, EMPTY_BYTES);
    frame.rtt = stampOf(nowMs);
    this.#port.sendPayload(frame);
  }

  #repeat(sent: Sent, nowMs: number): void {
    const path = this.#path;
    if (path !== undefined) {
      this.#window = path.shrunk(sent.transmission, this.#window, this.#sentBytes);
      sent.transmission = path.transmit();
    }
    sent.sentAtMs = nowMs;
    sent.frame.flags |= PAYLOAD_FLAGS.retransmit;
    sent.frame.rtt = stampOf(nowMs);
    this.#counters.retransmissions += 1;
    this.#port.sendPayload(sent.frame);
    this.#retransmitted += 1;
    if (this.#retransmitted < this.#options.txPortalRetxThresh) return;
    this.#retransmitted = 0;
    if (path !== undefined) return;
    this.#ackedBytes = 0;
    const shrunk = Math.trunc(this.#window * this.#options.txPortalRetxScale);
    this.#window = Math.max(shrunk, this.#options.txPortalMinSize);
  }

  #learnPath(path: XgressPath, { frame, sentAtMs, transmission }: Sent, nowMs: number): void {
    const isRepeated = (frame.flags & PAYLOAD_FLAGS.retransmit) !== 0;
    path.acknowledged(transmission, nowMs - sentAtMs, isRepeated);
    if (path.hasDropped) this.#window = path.grown(this.#window, frame.data.length);
  }

  /** Repeats payloads that the path dropped. */
  #repeatDropped(path: XgressPath, nowMs: number): void {
    let examined = 0;
    for (const sent of this.#sent.values()) {
      examined += 1;
      if (examined > MAX_EXAMINED) return;
      if (!path.isDropped(sent.transmission)) continue;
      if (!this.#port.canSend()) return;
      this.#repeat(sent, nowMs);
    }
  }

  #transmitNext(nowMs: number): void {
    const item = this.#waiting[this.#waitingHead];
    if (item === undefined) return;
    this.#waitingHead += 1;
    this.#waitingBytes -= item.data.length;
    this.transmit(item, nowMs);
  }

  #frame(data: Uint8Array, flags: number, nowMs: number): PayloadFrame {
    const frame = new PayloadFrame(this.#circuitId, this.#nextSequence, flags | this.#originator, data);
    this.#nextSequence += 1;
    frame.rtt = stampOf(nowMs);
    return frame;
  }

  #maySend(): boolean {
    if (!this.isStarted) return false;
    // Outstanding data will be held there too. The far end drops data beyond its buffer, which is detected
    // late.
    const isBlockedThere = this.#peerBufferBytes + this.#sentBytes > this.#mostBytes;
    const isBlockedHere = this.#sentBytes > this.#window || this.#budget.isOverdrawn(this.#heldBytes);
    if (isBlockedHere !== this.#isBlockedHere || isBlockedThere !== this.#isBlockedThere)
      this.#mark(isBlockedHere, isBlockedThere);
    // A full far end drops data, which is retransmitted late, so this end waits, and `tick` probes.
    if (isBlockedThere) return false;
    // One payload may always be sent if nothing is outstanding, because otherwise a circuit could stall
    // forever.
    if (isBlockedHere && this.#sentBytes > 0) return false;
    return this.#port.canSend();
  }

  /** Reports the memory of the outstanding payloads to the budget. */
  #hold(): void {
    const before = this.#heldBytes;
    this.#heldBytes = this.#sentBytes + this.#sent.size * PAYLOAD_COST;
    this.#budget.count(before, this.#heldBytes);
  }

  #mark(isBlockedHere: boolean, isBlockedThere: boolean): void {
    const counters = this.#counters;
    if (isBlockedHere !== this.#isBlockedHere) {
      this.#isBlockedHere = isBlockedHere;
      counters.blockedByLocalWindow += isBlockedHere ? 1 : -1;
      if (isBlockedHere) counters.localWindowBlocks += 1;
    }
    if (isBlockedThere !== this.#isBlockedThere) {
      this.#isBlockedThere = isBlockedThere;
      counters.blockedByRemoteWindow += isBlockedThere ? 1 : -1;
      if (isBlockedThere) counters.remoteWindowBlocks += 1;
      this.#probeAfterMs = PROBE_MS;
    }
  }
}
