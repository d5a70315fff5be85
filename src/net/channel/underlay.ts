/**
 * The sending side of one TLS connection of a channel. The frames of one turn of the event loop are sent with one
 * write. Small frames are written into slabs, so that those of a turn are one piece. Mutable on purpose, because
 * it runs for every frame.
 */
import { isIPv6, type Socket } from 'node:net';
import {
  acknowledgementBytes,
  payloadHeadBytes,
  writeAcknowledgement,
  writePayloadHead,
  type AcknowledgementFrame,
  type PayloadFrame,
} from '#wire/xgress';
import { roleOfUnderlay, type UnderlayRole } from './channel-kind-table.ts';
import type { ChannelUnderlay } from './channel.ts';
import type { CountedFrame } from './unfinished-frames.ts';

/** Frames that wait beyond what the connections hold, over all connections of a channel. */
export interface WaitingFrames {
  /** Payloads and control frames. */
  payloads: number;
  acknowledgements: number;
}

/** What a connection holds before frames count as waiting, in addition to the kernel's buffer. */
export const CONNECTION_BYTES = 512 * 1024;
const SLAB_BYTES = 64 * 1024;
/**
 * Size of the first slab. Each further one is twice as large, so that a connection with little traffic uses
 * little memory.
 */
const FIRST_SLAB_BYTES = 1024;
/** Data up to this length is copied behind its head, because another piece would cost more. */
const MAX_COPIED_BYTES = 4 * 1024;
/** Time limit for a closed connection to send its remaining data. */
const LINGER_MS = 5_000;

export class Underlay {
  readonly socket: Socket;
  readonly role: UnderlayRole;
  readonly info: ChannelUnderlay;
  readonly openedMs = performance.now();
  /** Why we closed it; undefined if the peer did. */
  endReason: string | undefined;
  /** Whether bytes after the hello are still unread; `read` without new data reads them. */
  hasUnread = true;
  read: (chunk: Uint8Array) => void = () => {};
  /** The unfinished frame of its decoder, set once the connection is attached. */
  unfinished: CountedFrame | undefined;
  readonly #onRoom: () => void;
  /** Shared with the channel's other connections. */
  readonly #waiting: WaitingFrames;
  #ownPayloads = 0;
  #ownAcknowledgements = 0;
  #parts: Uint8Array[] = [];
  #partsBytes = 0;
  /** The socket's buffered bytes at the last check. Once 0, they stay 0 until the next flush. */
  #socketBytes = 0;
  #slab = new Uint8Array(0);
  #nextSlabBytes = FIRST_SLAB_BYTES;
  /** Start of the frames that are not in `#parts` yet, and start of the free room. */
  #slabStart = 0;
  #slabEnd = 0;
  #isFlushDue = false;
  #isFull = false;
  #handedBytes = 0;
  #takenBytes = 0;
  #takenMs = 0;
  #flushListeners: (() => void)[] = [];

  constructor(socket: Socket, type: string, waiting: WaitingFrames, onRoom: () => void) {
    this.socket = socket;
    this.role = roleOfUnderlay(type);
    this.#waiting = waiting;
    this.#onRoom = onRoom;
    this.info = {
      type: type || 'default',
      localAddress: addressOf(socket.localAddress, socket.localPort),
      remoteAddress: addressOf(socket.remoteAddress, socket.remotePort),
    };
    socket.on('drain', () => {
      this.#isFull = false;
      this.#flush();
      if (!this.#isFull) this.#onRoom();
    });
  }

  get queuedBytes(): number {
    if (this.#socketBytes !== 0) this.#socketBytes = this.socket.writableLength;
    return this.#partsBytes + this.#slabEnd - this.#slabStart + this.#socketBytes;
  }

  sendPayload(payload: PayloadFrame, sequence: number): void {
    this.#countPayload();
    const { data } = payload;
    const headBytes = payloadHeadBytes(payload);
    if (data.length <= MAX_COPIED_BYTES) {
      this.#reserve(headBytes + data.length);
      const at = writePayloadHead(this.#slab, this.#slabEnd, payload, sequence);
      this.#slab.set(data, at);
      this.#slabEnd = at + data.length;
      this.#flushSoon();
      return;
    }
    this.#reserve(headBytes);
    this.#slabEnd = writePayloadHead(this.#slab, this.#slabEnd, payload, sequence);
    this.#push(data);
  }

  sendAcknowledgement(ack: AcknowledgementFrame, sequence: number): void {
    if (this.queuedBytes >= CONNECTION_BYTES) {
      this.#ownAcknowledgements += 1;
      this.#waiting.acknowledgements += 1;
    }
    this.#reserve(acknowledgementBytes(ack));
    this.#slabEnd = writeAcknowledgement(this.#slab, this.#slabEnd, ack, sequence);
    this.#flushSoon();
  }

  /** Sends a whole frame. */
  sendBytes(frame: Uint8Array): void {
    this.#countPayload();
    if (frame.length > MAX_COPIED_BYTES) {
      this.#push(frame);
      return;
    }
    this.#reserve(frame.length);
    this.#slab.set(frame, this.#slabEnd);
    this.#slabEnd += frame.length;
    this.#flushSoon();
  }

  /** Returns and removes whole frames that were not handed to the connection. */
  takeUnsent(): readonly Uint8Array[] {
    this.#closeSlab();
    const unsent = this.#parts;
    this.#forgetParts();
    return unsent;
  }

  /** Sends frames of another connection, without counting them as waiting again. */
  resend(parts: readonly Uint8Array[]): void {
    for (const part of parts) this.#push(part);
  }

  /** Calls back once everything that is queued now has been handed to the connection. */
  afterQueued(callback: () => void): void {
    if (this.#partsBytes === 0 && this.#slabEnd === this.#slabStart) setImmediate(callback);
    else this.#flushListeners.push(callback);
  }

  /** Returns how long the current write has made no progress. Only whole writes count. */
  stalledMs(nowMs: number): number {
    const waitingBytes = this.socket.writableLength;
    const takenBytes = this.#handedBytes - waitingBytes;
    if (waitingBytes === 0 || takenBytes !== this.#takenBytes || this.#takenMs === 0) {
      this.#takenBytes = takenBytes;
      this.#takenMs = nowMs;
    }
    return nowMs - this.#takenMs;
  }

  /** Sends waiting frames, then ends the connection, whether the peer reads or not. */
  end(): void {
    this.#flush();
    this.socket.destroySoon();
    if (this.socket.destroyed) return;
    const linger = setTimeout(() => this.socket.destroy(), LINGER_MS);
    linger.unref();
    this.socket.once('close', () => clearTimeout(linger));
  }

  #countPayload(): void {
    if (this.queuedBytes < CONNECTION_BYTES) return;
    this.#ownPayloads += 1;
    this.#waiting.payloads += 1;
  }

  #push(part: Uint8Array): void {
    this.#closeSlab();
    this.#parts.push(part);
    this.#partsBytes += part.length;
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#isFlushDue || this.#isFull) return;
    this.#isFlushDue = true;
    setImmediate(this.#flush);
  }

  /**
   * Returns room for this many bytes in one piece. A slab is never overwritten, because the socket may still hold
   * it.
   */
  #reserve(bytes: number): void {
    if (this.#slab.length - this.#slabEnd >= bytes) return;
    this.#closeSlab();
    this.#slab = new Uint8Array(Math.max(this.#nextSlabBytes, bytes));
    this.#nextSlabBytes = Math.min(SLAB_BYTES, 2 * this.#nextSlabBytes);
    this.#slabStart = 0;
    this.#slabEnd = 0;
  }

  #closeSlab(): void {
    if (this.#slabEnd === this.#slabStart) return;
    this.#parts.push(this.#slab.subarray(this.#slabStart, this.#slabEnd));
    this.#partsBytes += this.#slabEnd - this.#slabStart;
    this.#slabStart = this.#slabEnd;
  }

  #forgetParts(): void {
    this.#parts = [];
    this.#partsBytes = 0;
    this.#waiting.payloads -= this.#ownPayloads;
    this.#waiting.acknowledgements -= this.#ownAcknowledgements;
    this.#ownPayloads = 0;
    this.#ownAcknowledgements = 0;
  }

  readonly #flush = (): void => {
    this.#isFlushDue = false;
    this.#closeSlab();
    const parts = this.#parts;
    if (parts.length === 0 || this.#isFull || this.socket.destroyed) return;
    this.#handedBytes += this.#partsBytes;
    this.#forgetParts();
    if (parts.length === 1) {
      this.#isFull = !this.socket.write(parts[0]!);
    } else {
      this.socket.cork();
      for (const part of parts) this.#isFull = !this.socket.write(part);
      this.socket.uncork();
    }
    this.#socketBytes = this.socket.writableLength;
    if (this.#flushListeners.length === 0) return;
    const listeners = this.#flushListeners;
    this.#flushListeners = [];
    for (const listener of listeners) listener();
  };
}

/** The form in which links report their connections to controllers. */
function addressOf(host: string | undefined, port: number | undefined): string {
  const plain = host?.startsWith('::ffff:') ? host.slice(7) : (host ?? '');
  return `tcp:${isIPv6(plain) ? `[${plain}]` : plain}:${port ?? 0}`;
}
