/**
 * Carries a channel's frames over one or more TLS connections. What one turn of the event loop produced leaves in
 * one write per connection; while a socket is full, frames wait here, counted, and data frames beyond the bound are
 * dropped (xgress sends them again) while a peer that does not read control frames loses its channel.
 */
import type { Socket } from 'node:net';
import {
  acknowledgementBytes,
  encodeFrame,
  type FrameDecoder,
  PAYLOAD_TYPE,
  payloadHeadBytes,
  writeAcknowledgement,
  writePayloadHead,
  type AcknowledgementFrame,
  type DataFrame,
  type Frame,
  type FrameLimits,
  type PayloadFrame,
} from '#wire';
import type { Channel, ChannelDriver } from './channel.ts';

/** After the hello. */
export const CHANNEL_LIMITS: FrameLimits = { maxHeadersBytes: 64 * 1024, maxBodyBytes: 16 * 1024 * 1024 };

const HIGH_WATER_BYTES = 1024 * 1024;
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;
const SLAB_BYTES = 64 * 1024;
/** Data up to this length is copied behind its head: one more piece to write would cost more. */
const MAX_COPIED_BYTES = 4 * 1024;

/** One connection of a channel. Small frames are written into slabs, so that a turn's worth of them is one piece. */
class Underlay {
  readonly socket: Socket;
  readonly type: string;
  readonly #onRoom: () => void;
  #parts: Uint8Array[] = [];
  #partsBytes = 0;
  #slab = new Uint8Array(0);
  /** Where the frames begin that are not in `#parts` yet, and where the free room begins. */
  #slabStart = 0;
  #slabEnd = 0;
  #isFlushDue = false;
  #isFull = false;

  constructor(socket: Socket, type: string, onRoom: () => void) {
    this.socket = socket;
    this.type = type;
    this.#onRoom = onRoom;
    socket.on('drain', () => {
      this.#isFull = false;
      this.#flush();
      if (!this.#isFull) this.#onRoom();
    });
  }

  get queuedBytes(): number {
    return this.#partsBytes + this.#slabEnd - this.#slabStart + this.socket.writableLength;
  }

  sendPayload(payload: PayloadFrame, sequence: number): void {
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
    this.push(data);
  }

  sendAcknowledgement(ack: AcknowledgementFrame, sequence: number): void {
    this.#reserve(acknowledgementBytes(ack));
    this.#slabEnd = writeAcknowledgement(this.#slab, this.#slabEnd, ack, sequence);
    this.#flushSoon();
  }

  push(part: Uint8Array): void {
    this.#closeSlab();
    this.#parts.push(part);
    this.#partsBytes += part.length;
    this.#flushSoon();
  }

  /** Sends what waits, then ends the connection. */
  end(): void {
    this.#flush();
    this.socket.destroySoon();
  }

  #flushSoon(): void {
    if (this.#isFlushDue || this.#isFull) return;
    this.#isFlushDue = true;
    setImmediate(this.#flush);
  }

  /** Room for so many bytes in one piece. A slab is never written over: the socket may still hold it. */
  #reserve(bytes: number): void {
    if (this.#slab.length - this.#slabEnd >= bytes) return;
    this.#closeSlab();
    this.#slab = new Uint8Array(Math.max(SLAB_BYTES, bytes));
    this.#slabStart = 0;
    this.#slabEnd = 0;
  }

  #closeSlab(): void {
    if (this.#slabEnd === this.#slabStart) return;
    this.#parts.push(this.#slab.subarray(this.#slabStart, this.#slabEnd));
    this.#partsBytes += this.#slabEnd - this.#slabStart;
    this.#slabStart = this.#slabEnd;
  }

  readonly #flush = (): void => {
    this.#isFlushDue = false;
    this.#closeSlab();
    const parts = this.#parts;
    if (parts.length === 0 || this.#isFull || this.socket.destroyed) return;
    this.#parts = [];
    this.#partsBytes = 0;
    if (parts.length === 1) {
      this.#isFull = !this.socket.write(parts[0]!);
      return;
    }
    this.socket.cork();
    for (const part of parts) this.#isFull = !this.socket.write(part);
    this.socket.uncork();
  };
}

export class TlsDriver implements ChannelDriver {
  #channel: Channel | undefined;
  readonly #underlays: Underlay[] = [];
  readonly #controlType: string;
  #wasRefused = false;
  #isReadingPaused = false;
  #isClosed = false;

  /** `controlType`: the underlay type that control frames prefer (`edge.control`), if there is one. */
  constructor(controlType = '') {
    this.#controlType = controlType;
  }

  /** Ties the driver to its channel; frames flow from now on. */
  start(channel: Channel): void {
    this.#channel = channel;
  }

  /** Adds a connection whose hello is done. `decoder` may hold bytes that came behind the hello. */
  attach(socket: Socket, decoder: FrameDecoder, type: string): void {
    const underlay = new Underlay(socket, type, () => this.#onRoom());
    this.#underlays.push(underlay);
    decoder.limits = CHANNEL_LIMITS;
    const onFrame = (frame: Frame): void => this.#channel!.receive(frame);
    const onBytes = (chunk: Uint8Array): void => {
      const fault = decoder.push(chunk, onFrame);
      if (fault !== undefined) {
        this.#channel!.log.warn({ peer: this.#channel!.peer.id, fault }, 'malformed frame, channel closed');
        this.#channel!.close(`malformed frame: ${fault}`);
        return;
      }
      this.#channel!.receiveBatchEnd();
    };
    socket.on('data', onBytes);
    socket.on('close', () => this.#onUnderlayClosed(underlay));
    socket.on('error', () => {});
    if (this.#isReadingPaused) socket.pause();
    else socket.resume();
    setImmediate(() => {
      if (!this.#isClosed) onBytes(Buffer.alloc(0));
    });
    if (socket.destroyed) this.#onUnderlayClosed(underlay);
  }

  get isWritable(): boolean {
    const underlay = this.#dataUnderlay();
    return underlay !== undefined && underlay.queuedBytes < HIGH_WATER_BYTES;
  }

  sendFrame(frame: Frame): boolean {
    const underlay = this.#controlUnderlay();
    if (underlay === undefined) return false;
    if (underlay.queuedBytes > MAX_QUEUED_BYTES) {
      this.#channel!.close('the peer does not read');
      return false;
    }
    underlay.push(encodeFrame(frame));
    return this.#isBelowHighWater(underlay);
  }

  sendData(frame: DataFrame): boolean {
    const underlay = this.#dataUnderlay();
    if (underlay === undefined || underlay.queuedBytes > MAX_QUEUED_BYTES) return false;
    const sequence = this.#channel!.nextSequence();
    if (frame.contentType === PAYLOAD_TYPE) underlay.sendPayload(frame, sequence);
    else underlay.sendAcknowledgement(frame, sequence);
    return this.#isBelowHighWater(underlay);
  }

  pauseReading(): void {
    this.#isReadingPaused = true;
    for (const { socket } of this.#underlays) socket.pause();
  }

  resumeReading(): void {
    this.#isReadingPaused = false;
    for (const { socket } of this.#underlays) socket.resume();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const underlay of this.#underlays) underlay.end();
  }

  #isBelowHighWater(underlay: Underlay): boolean {
    if (underlay.queuedBytes < HIGH_WATER_BYTES) return true;
    this.#wasRefused = true;
    return false;
  }

  #onRoom(): void {
    if (!this.#wasRefused || this.#isClosed || !this.isWritable) return;
    this.#wasRefused = false;
    this.#channel!.drained();
  }

  /** The least loaded of the connections that carry data. */
  #dataUnderlay(): Underlay | undefined {
    const underlays = this.#underlays;
    if (underlays.length === 1) return underlays[0];
    let best: Underlay | undefined;
    for (const underlay of underlays) {
      if (underlay.type === this.#controlType) continue;
      if (best === undefined || underlay.queuedBytes < best.queuedBytes) best = underlay;
    }
    return best;
  }

  #controlUnderlay(): Underlay | undefined {
    if (this.#underlays.length > 1 && this.#controlType !== '') {
      const control = this.#underlays.find(({ type }) => type === this.#controlType);
      if (control !== undefined) return control;
    }
    return this.#dataUnderlay();
  }

  /** The rest of a group carries on; without a data connection the channel is over. */
  #onUnderlayClosed(underlay: Underlay): void {
    const index = this.#underlays.indexOf(underlay);
    if (index >= 0) this.#underlays.splice(index, 1);
    if (this.#isClosed) return;
    if (this.#underlays.every(({ type }) => type === this.#controlType && this.#controlType !== '')) {
      this.#channel!.close('the peer closed the connection');
    }
  }
}
