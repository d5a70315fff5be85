/**
 * Before a link, or an SDK's channel, that takes no more for a moment: what comes for it waits here, and who brought it is not read, in turns
 * so short that frames for other links keep coming. What finds no room here either is left to the link to drop; xgress
 * sends it again.
 */
import { keepPayload, keptPayloadSize, type PayloadFrame } from '#wire';
import type { Destination, FrameSource } from './destination.ts';

/** After this a source is read again, until it next brings something for this link. */
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

  /** A frame that came now would not wait. */
  get isOpen(): boolean {
    return this.#waiting.length === 0 && this.#options.link.isWritable;
  }

  /** `source`: who brought it, if it can be held up. */
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

  /** The link has room again. */
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

  /** The link is gone, and with it what waits. */
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
