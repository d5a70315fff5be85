/**
 * Buffers payloads for a link, or for an SDK's channel, while it is full. The sources of those payloads are not read in
 * the meantime, for intervals so short that frames for other links continue to arrive. When the buffer is full, the
 * link drops further payloads, and xgress retransmits them.
 */
import { keepPayload, keptPayloadSize, type PayloadFrame } from '#wire/xgress';
import type { Destination, FrameSource } from './destination.ts';

/** A source is read again after this time, until it next delivers a payload for this link. */
const HOLD_MS = 25;
const MAX_WAITING_BYTES = 1024 * 1024;

export interface TransitGateOptions {
  readonly link: Destination;
  hold(source: FrameSource): void;
  release(source: FrameSource): void;
}

export class TransitGate {
  readonly #options: TransitGateOptions;
  readonly #held = new Set<FrameSource>();
  #waiting: PayloadFrame[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TransitGateOptions) {
    this.#options = options;
  }

  /** True if a frame would be sent now instead of being buffered. */
  get isOpen(): boolean {
    return this.#waiting.length === 0 && this.#options.link.isWritable;
  }

  /** `source` is the connection that delivered the frame, if it can be paused. */
  pass(frame: PayloadFrame, source: FrameSource | undefined): void {
    const { link, hold } = this.#options;
    if ((this.#waiting.length === 0 && link.isWritable) || this.#waitingBytes > MAX_WAITING_BYTES) {
      link.deliver(frame);
      return;
    }
    keepPayload(frame);
    this.#waiting.push(frame);
    this.#waitingBytes += keptPayloadSize(frame);
    if (source !== undefined && !this.#held.has(source)) {
      this.#held.add(source);
      hold(source);
    }
    this.#timer ??= setTimeout(() => this.#onHeldLong(), HOLD_MS);
  }

  /** Sends buffered frames, because the link has room again. */
  open(): void {
    const { link } = this.#options;
    let sent = 0;
    while (sent < this.#waiting.length && link.isWritable) {
      const frame = this.#waiting[sent]!;
      sent += 1;
      this.#waitingBytes -= keptPayloadSize(frame);
      link.deliver(frame);
    }
    this.#waiting = sent === this.#waiting.length ? [] : this.#waiting.slice(sent);
    if (this.#waiting.length === 0) this.#release();
  }

  /** Discards buffered frames, because the link has closed. */
  close(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#release();
  }

  #onHeldLong(): void {
    this.#release();
    this.open();
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#onHeldLong(), HOLD_MS);
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const source of this.#held) this.#options.release(source);
    this.#held.clear();
  }
}
