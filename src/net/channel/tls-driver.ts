/**
 * Carries a channel's frames over one or more TLS connections. While a connection is full, its frames wait in a
 * bounded queue: data frames that find their queue full are dropped (xgress retransmits them), while a peer that
 * does not read control frames loses its channel. When a connection is lost, the others send its unsent frames.
 */
import type { Socket } from 'node:net';
import { RunningClock } from '#base';
import { encodeFrame, type BodyPart, type Frame, type FrameDecoder, type FrameLimits } from '#wire';
import { PAYLOAD_TYPE, type DataFrame } from '#wire/xgress';
import { readDirectly } from '../direct-reading.ts';
import type { Channel, ChannelDriver, ChannelUnderlay, DroppedFrames } from './channel.ts';
import { CONNECTION_BYTES, Underlay, type WaitingFrames } from './underlay.ts';
import { unfinishedFrames, type CountedFrame, type UnfinishedFrames } from './unfinished-frames.ts';

/** Limits for data that waits while the connections are full. */
export interface SendLimits {
  /** Number of frames beyond what the connections themselves hold. If absent, only bytes count. */
  readonly outQueueSize?: number | undefined;
  /** For links; otherwise `outQueueSize` counts both. */
  readonly payloadQueueSize?: number | undefined;
  readonly ackQueueSize?: number | undefined;
  /** Closes a connection whose write makes no progress for this time; 0 or absent: never. */
  readonly writeTimeoutMs?: number | undefined;
}

export interface TlsDriverOptions {
  readonly limits: FrameLimits;
  /** Owner of the memory of unfinished frames: an identity, or a certificate. */
  readonly owner: string;
  /** Memory for unfinished frames in all channels of the owner, in bytes. */
  readonly maxUnfinishedBytes: number;
  /** By default those of the process. */
  readonly unfinished?: UnfinishedFrames | undefined;
  readonly send?: SendLimits | undefined;
  /** With fewer connections of a type, the channel ends. */
  readonly minimums?: ReadonlyMap<string, number> | undefined;
  /** A connection was lost after this time, and the channel continues. */
  onLost?(livedMs: number): void;
  onClosed?(): void;
}

const HIGH_WATER_BYTES = 1024 * 1024;
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;
/** Frames stay on one connection up to this size, for fewer and larger writes and ordered payloads. */
const STICKY_BYTES = 64 * 1024;

export class TlsDriver implements ChannelDriver {
  readonly #options: TlsDriverOptions;
  readonly #maxPayloads: number;
  readonly #maxAcknowledgements: number;
  readonly #waiting: WaitingFrames = { payloads: 0, acknowledgements: 0 };
  readonly #dropped = { payloads: 0, acknowledgements: 0 };
  readonly #underlays: Underlay[] = [];
  /** By the frames that they carry. */
  readonly #byRole = {
    all: [] as Underlay[],
    control: [] as Underlay[],
    acknowledgements: [] as Underlay[],
  };
  #channel: Channel | undefined;
  #current: Underlay | undefined;
  #stallTimer: NodeJS.Timeout | undefined;
  #wasRefused = false;
  #isReadingPaused = false;
  #isClosed = false;

  constructor(options: TlsDriverOptions) {
    this.#options = options;
    const { outQueueSize = Infinity, payloadQueueSize, ackQueueSize } = options.send ?? {};
    this.#maxPayloads = payloadQueueSize ?? outQueueSize;
    this.#maxAcknowledgements = ackQueueSize ?? outQueueSize;
  }

  /** Connects the driver to its channel. Frames flow from now on. */
  start(channel: Channel): void {
    this.#channel = channel;
    const { writeTimeoutMs = 0 } = this.#options.send ?? {};
    if (writeTimeoutMs <= 0) return;
    const everyMs = Math.min(1_000, Math.max(10, writeTimeoutMs / 4));
    // A pause of this process does not count against the peer.
    const clock = new RunningClock(2 * everyMs, () => performance.now());
    this.#stallTimer = setInterval(() => this.#endStalled(clock.nowMs(), writeTimeoutMs), everyMs);
    this.#stallTimer.unref();
  }

  /** Adds a connection whose hello is complete. `decoder` may hold bytes that followed the hello. */
  attach(socket: Socket, decoder: FrameDecoder, type: string): void {
    const underlay = new Underlay(socket, type, this.#waiting, this.#onRoom);
    this.#underlays.push(underlay);
    this.#byRole[underlay.role].push(underlay);
    decoder.limits = this.#options.limits;
    const channel = this.#channel!;
    const onFrame = (frame: Frame): void => channel.receive(frame);
    const onData = (frame: DataFrame | undefined): void => channel.receiveEncodedData(frame);
    const onPart = (part: BodyPart): void => channel.receiveBodyPart(part);
    const unfinished = this.#countUnfinished(underlay, decoder);
    const onBytes = (chunk: Uint8Array): void => {
      // A closed connection may still be sending. Its received data is ignored.
      if (this.#isClosed) return;
      underlay.hasUnread = false;
      const fault = decoder.push(
        chunk,
        onFrame,
        channel.isHandled ? onData : undefined,
        channel.takesBodyParts ? onPart : undefined,
      );
      if (this.#isClosed) return;
      unfinished.count();
      if (fault !== undefined) {
        channel.log.warn({ peer: channel.peer.id, fault }, 'malformed frame, channel closed');
        channel.close(`malformed frame: ${fault}`);
        return;
      }
      channel.receiveBatchEnd();
    };
    readDirectly(socket, onBytes);
    socket.on('close', () => this.#onUnderlayClosed(underlay));
    socket.on('error', () => {});
    if (this.#isReadingPaused) socket.pause();
    else socket.resume();
    unfinished.setPaused(this.#isReadingPaused);
    underlay.read = onBytes;
    this.#readSoon(underlay);
    if (this.#underlays.length > 1) channel.underlaysChanged();
    if (socket.destroyed) this.#onUnderlayClosed(underlay);
  }

  get isWritable(): boolean {
    const underlay = this.#dataUnderlay();
    return underlay !== undefined && this.#isBelowHighWater(underlay);
  }

  get dropped(): DroppedFrames {
    return this.#dropped;
  }

  underlays(): readonly ChannelUnderlay[] {
    return this.#underlays.map(({ info }) => info);
  }

  countOf(type: string): number {
    return this.#underlays.filter(({ info }) => info.type === type).length;
  }

  afterQueued(callback: () => void): void {
    const underlay = this.#dataUnderlay();
    if (underlay === undefined) setImmediate(callback);
    else underlay.afterQueued(callback);
  }

  sendFrame(frame: Frame): boolean {
    const underlay = this.#byRole.control[0] ?? this.#dataUnderlay();
    if (underlay === undefined) return false;
    if (underlay.queuedBytes > MAX_QUEUED_BYTES) {
      this.#channel!.close('the peer does not read');
      return false;
    }
    underlay.sendBytes(encodeFrame(frame));
    return this.#hasRoom(underlay);
  }

  sendData(frame: DataFrame): boolean {
    if (frame.contentType === PAYLOAD_TYPE) {
      const underlay = this.#dataUnderlay();
      if (isFull(underlay, this.#waiting.payloads, this.#maxPayloads)) {
        this.#dropped.payloads += 1;
        this.#wasRefused = true;
        return false;
      }
      underlay.sendPayload(frame, this.#channel!.nextSequence());
      return this.#hasRoom(underlay);
    }
    const underlay = this.#ackUnderlay();
    if (isFull(underlay, this.#waiting.acknowledgements, this.#maxAcknowledgements)) {
      this.#dropped.acknowledgements += 1;
      this.#wasRefused = true;
      return false;
    }
    underlay.sendAcknowledgement(frame, this.#channel!.nextSequence());
    return this.#hasRoom(underlay);
  }

  pauseReading(): void {
    this.#isReadingPaused = true;
    for (const { socket, unfinished } of this.#underlays) {
      socket.pause();
      unfinished?.setPaused(true);
    }
  }

  resumeReading(): void {
    this.#isReadingPaused = false;
    for (const underlay of this.#underlays) {
      underlay.socket.resume();
      underlay.unfinished?.setPaused(false);
      // The bytes after its hello may be all that arrives for a long time.
      this.#readSoon(underlay);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#stallTimer);
    for (const underlay of this.#underlays) {
      underlay.unfinished?.end();
      underlay.end();
    }
    this.#options.onClosed?.();
  }

  #countUnfinished(underlay: Underlay, decoder: FrameDecoder): CountedFrame {
    const { owner, maxUnfinishedBytes, unfinished = unfinishedFrames } = this.#options;
    const channel = this.#channel!;
    underlay.unfinished = unfinished.add({
      owner,
      decoder,
      maxOwnerBytes: maxUnfinishedBytes,
      giveUp: (reason) => {
        const { address, id } = channel.peer;
        const fields = { peer: address, id, identity: owner, reason, heldBytes: decoder.heldBytes };
        channel.log.warn(fields, 'channel closed: its unfinished frames take too much memory');
        channel.close(reason);
      },
    });
    return underlay.unfinished;
  }

  #readSoon(underlay: Underlay): void {
    if (!underlay.hasUnread || this.#isReadingPaused) return;
    setImmediate(() => {
      if (!this.#isClosed && !this.#isReadingPaused && underlay.hasUnread) underlay.read(Buffer.alloc(0));
    });
  }

  #hasRoom(underlay: Underlay): boolean {
    if (this.#isBelowHighWater(underlay)) return true;
    this.#wasRefused = true;
    return false;
  }

  #isBelowHighWater(underlay: Underlay): boolean {
    const { queuedBytes } = underlay;
    if (queuedBytes < CONNECTION_BYTES) return true;
    return queuedBytes < HIGH_WATER_BYTES && this.#waiting.payloads < this.#maxPayloads;
  }

  readonly #onRoom = (): void => {
    if (!this.#wasRefused || this.#isClosed || !this.isWritable) return;
    this.#wasRefused = false;
    this.#channel!.drained();
  };

  #dataUnderlay(): Underlay | undefined {
    const underlays = this.#byRole.all;
    if (underlays.length <= 1) return underlays[0];
    if (this.#current === undefined || this.#current.queuedBytes >= STICKY_BYTES) {
      this.#current = leastLoaded(underlays);
    }
    return this.#current;
  }

  /** Returns the connection for acknowledgements, unless it is behind and another one is not. */
  #ackUnderlay(): Underlay | undefined {
    const best = leastLoaded(this.#byRole.acknowledgements);
    if (best !== undefined && best.queuedBytes < STICKY_BYTES) return best;
    const data = this.#dataUnderlay();
    return best === undefined || (data !== undefined && data.queuedBytes < best.queuedBytes) ? data : best;
  }

  #endStalled(nowMs: number, writeTimeoutMs: number): void {
    for (const underlay of this.#underlays) {
      if (underlay.stalledMs(nowMs) < writeTimeoutMs) continue;
      const { log, peer } = this.#channel!;
      log.warn({ peer: peer.id, type: underlay.info.type }, 'a write makes no progress, connection closed');
      underlay.endReason = `a write stood still for ${writeTimeoutMs} ms`;
      underlay.socket.destroy();
    }
  }

  /** The rest of a group continues as long as it has the connections that the channel requires. */
  #onUnderlayClosed(underlay: Underlay): void {
    underlay.unfinished?.end();
    if (!remove(this.#underlays, underlay)) return;
    remove(this.#byRole[underlay.role], underlay);
    if (this.#current === underlay) this.#current = undefined;
    if (this.#isClosed) return;
    const { type } = underlay.info;
    const minimum = this.#options.minimums?.get(type) ?? 0;
    const heir = this.#dataUnderlay();
    if (heir === undefined || this.countOf(type) < minimum) {
      this.#channel!.close(underlay.endReason ?? 'the peer closed the connection');
      return;
    }
    heir.resend(underlay.takeUnsent());
    this.#channel!.underlaysChanged();
    this.#options.onLost?.(performance.now() - underlay.openedMs);
    this.#onRoom();
  }
}

/** Whether the connection is full and the limit of waiting frames is reached. */
function isFull(underlay: Underlay | undefined, waiting: number, max: number): underlay is undefined {
  if (underlay === undefined) return true;
  const { queuedBytes } = underlay;
  return queuedBytes > MAX_QUEUED_BYTES || (waiting >= max && queuedBytes >= CONNECTION_BYTES);
}

function leastLoaded(underlays: readonly Underlay[]): Underlay | undefined {
  let best: Underlay | undefined;
  for (const underlay of underlays) {
    if (best === undefined || underlay.queuedBytes < best.queuedBytes) best = underlay;
  }
  return best;
}

function remove(list: Underlay[], underlay: Underlay): boolean {
  const index = list.indexOf(underlay);
  if (index < 0) return false;
  list.splice(index, 1);
  return true;
}
