/**
 * A link between two forwarders of a test. It encodes and decodes every frame, and can lose, duplicate and reorder
 * frames. It has a bounded queue; a test can pause and cut it.
 */
import { encodeFrame, FrameDecoder, type Frame } from '#wire';
import {
  decodeAcknowledgement,
  decodePayload,
  encodeAcknowledgement,
  encodePayloadHead,
  PAYLOAD_TYPE,
  type DataFrame,
} from '#wire/xgress';
import { SeededRandom } from '../../../../test/support/seeded-random.ts';
import type { Forwarding, LinkDestination } from '../destination.ts';

export interface MemoryLinkOptions {
  /** How many of 1,000 data frames the link loses, duplicates or reorders. Default 0. */
  readonly faultsPerMille?: number;
  readonly seed?: number;
  /** Capacity of the queue. Payloads beyond it are dropped. */
  readonly capacity?: number;
  /** Frames that are delivered per turn of the event loop. */
  readonly framesPerTurn?: number;
  onData?(frame: DataFrame): void;
}

export class MemoryLink {
  readonly id: string;
  readonly #a: LinkSide;
  readonly #b: LinkSide;
  readonly #ends: readonly [Forwarding, Forwarding];

  constructor(id: string, a: Forwarding, b: Forwarding, options: MemoryLinkOptions = {}) {
    this.id = id;
    this.#ends = [a, b];
    this.#a = new LinkSide(id, a, b, options);
    this.#b = new LinkSide(id, b, a, options);
    this.#a.incoming = this.#b;
    this.#b.incoming = this.#a;
    a.registerLink(this.#a);
    b.registerLink(this.#b);
  }

  get droppedCount(): number {
    return this.#a.droppedCount + this.#b.droppedCount;
  }

  /** Loses all frames in transit in both directions. */
  cut(): void {
    this.#ends[0].unregisterLink(this.#a);
    this.#ends[1].unregisterLink(this.#b);
    this.#a.isCut = true;
    this.#b.isCut = true;
  }

  /** Holds frames until it is resumed. */
  stop(): void {
    this.#a.isStopped = true;
    this.#b.isStopped = true;
  }

  goOn(): void {
    for (const side of [this.#a, this.#b]) {
      side.isStopped = false;
      side.pass();
    }
  }
}

class LinkSide implements LinkDestination {
  readonly id: string;
  isCut = false;
  isStopped = false;
  /** Stops the receiver from reading. */
  isHeld = false;
  /** Returns the other direction, which the owner of this side reads. */
  incoming: LinkSide | undefined;
  droppedCount = 0;
  readonly #from: Forwarding;
  readonly #to: Forwarding;
  readonly #options: MemoryLinkOptions;
  readonly #random: SeededRandom;
  readonly #queue: Uint8Array[] = [];
  #isPassDue = false;
  #wasFull = false;

  constructor(id: string, from: Forwarding, to: Forwarding, options: MemoryLinkOptions) {
    this.id = id;
    this.#from = from;
    this.#to = to;
    this.#options = options;
    this.#random = new SeededRandom(options.seed ?? 1);
  }

  get isWritable(): boolean {
    const isFull = this.#queue.length >= (this.#options.capacity ?? 128) / 2;
    if (isFull) this.#wasFull = true;
    return !isFull;
  }

  deliver(frame: DataFrame): void {
    const { faultsPerMille = 0, onData } = this.#options;
    onData?.(frame);
    const bytes = bytesOf(frame);
    const dice = this.#random.int(1_000);
    if (frame.contentType === PAYLOAD_TYPE && this.#queue.length >= (this.#options.capacity ?? 128)) {
      this.droppedCount += 1;
      return;
    }
    if (dice >= faultsPerMille) this.#push(bytes);
    else if (dice < faultsPerMille / 3) return;
    else if (dice < (2 * faultsPerMille) / 3) {
      this.#push(bytes);
      this.#push(bytes);
    } else this.#queue.splice(Math.max(0, this.#queue.length - 3), 0, bytes);
  }

  sendControl(frame: Frame): void {
    this.#push(encodeFrame(frame));
  }

  pauseReading(): void {
    this.incoming!.isHeld = true;
  }

  resumeReading(): void {
    this.incoming!.isHeld = false;
    this.incoming!.pass();
  }

  pass(): void {
    this.#isPassDue = false;
    if (this.isCut) this.#queue.length = 0;
    if (this.isStopped || this.isHeld) return;
    const decoder = new FrameDecoder({ maxHeadersBytes: 65_536, maxBodyBytes: 2 ** 24 });
    for (const bytes of this.#queue.splice(0, this.#options.framesPerTurn ?? 64))
      decoder.push(bytes, (frame) => this.#hand(frame));
    if (this.#queue.length > 0) this.#passSoon();
    if (this.#wasFull && this.isWritable) {
      this.#wasFull = false;
      this.#from.linkDrained(this.id);
    }
  }

  #hand(frame: Frame): void {
    const data = frame.contentType === PAYLOAD_TYPE ? decodePayload(frame) : decodeAcknowledgement(frame);
    if (data !== undefined) this.#to.forward(data.circuitId, this.id, data);
    else this.#to.control(this.id, frame);
  }

  #push(bytes: Uint8Array): void {
    if (this.isCut) return;
    this.#queue.push(bytes);
    this.#passSoon();
  }

  #passSoon(): void {
    if (this.#isPassDue) return;
    this.#isPassDue = true;
    setImmediate(() => this.pass());
  }
}

function bytesOf(frame: DataFrame): Uint8Array {
  if (frame.contentType !== PAYLOAD_TYPE) return encodeAcknowledgement(frame, 1);
  return Buffer.concat([encodePayloadHead(frame, 1), frame.data]);
}
