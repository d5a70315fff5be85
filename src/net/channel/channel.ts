/**
 * A channel: frames both ways between two proven peers, over one or more connections (underlays), with requests and
 * replies, heartbeats and back-pressure. The driver beneath (TLS, memory) moves the frames; nothing here does I/O
 * of its own but timers.
 */
import { messageOf, type Log } from '#base';
import {
  ACKNOWLEDGEMENT_TYPE,
  asReplyTo,
  CHANNEL_HEADERS,
  decodeAcknowledgement,
  decodePayload,
  HEARTBEAT_TYPE,
  LATENCY_TYPE,
  makeFrame,
  makeResult,
  PAYLOAD_TYPE,
  replyForOf,
  type DataFrame,
  type Frame,
  type FrameHeaders,
} from '#wire';
import { ChannelHeartbeat } from './channel-heartbeat.ts';
import type { HeartbeatOptions } from './heartbeat-machine.ts';

/** Who is at the other end, as its certificate and hello proved it. */
export interface ChannelPeer {
  /** The listener's id (dialed channels) or the hello's body (accepted ones). */
  readonly id: string;
  /** Headers of its hello, or of its answer to ours. */
  readonly hello: FrameHeaders;
  /** SHA-1 of its leaf certificate's DER, lower-case hex. */
  readonly fingerprint: string;
  /** `host:port`, or `memory`. */
  readonly address: string;
}

export interface ChannelHandlers {
  onFrame(frame: Frame, channel: Channel): void;
  /** Payloads and acknowledgements. Without it they are ignored. */
  onData?(frame: DataFrame, channel: Channel): void;
  /** After the last frame of one read. */
  onBatchEnd?(channel: Channel): void;
  /** After `send` or `sendData` returned false: room again. */
  onDrain?(channel: Channel): void;
  /** A connection came or went; not for the first one. */
  onUnderlays?(channel: Channel): void;
  /** The peer answered a heartbeat of ours after so long. */
  onLatency?(nanoseconds: number, channel: Channel): void;
  /** Once, last. */
  onClose?(reason: string, channel: Channel): void;
}

/** One connection of a channel. */
export interface ChannelUnderlay {
  /** `default` when the channel has no other; else `link.default`, `link.ack`, `edge.control`, `payload`, … */
  readonly type: string;
  /** `tcp:ip:port`, also over TLS; `memory` within one process. */
  readonly localAddress: string;
  readonly remoteAddress: string;
}

/** Data frames that found their queue full. */
export interface DroppedFrames {
  readonly payloads: number;
  readonly acknowledgements: number;
}

/** What moves the frames of a channel. */
export interface ChannelDriver {
  /** False when the queue is over its high-water mark; the frame is queued all the same. */
  sendFrame(frame: Frame): boolean;
  /** False likewise; but a frame that finds its queue full is dropped and counted. */
  sendData(frame: DataFrame): boolean;
  readonly isWritable: boolean;
  readonly dropped: DroppedFrames;
  underlays(): readonly ChannelUnderlay[];
  /** Calls back once what waits now has left for the connection. */
  afterQueued(callback: () => void): void;
  pauseReading(): void;
  resumeReading(): void;
  close(): void;
}

export interface ChannelOptions {
  readonly id: string;
  readonly peer: ChannelPeer;
  readonly log: Log;
  readonly heartbeat?: HeartbeatOptions;
}

/** Sees every frame but data, both ways; must not throw. */
export type FrameObserver = (frame: Frame, direction: 'rx' | 'tx') => void;

interface Waiter {
  readonly resolve: (frame: Frame) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const MAX_WAITERS = 65_536;

/** The peer is gone, or did not answer in time. */
export class ChannelError extends Error {
  readonly code: 'closed' | 'timeout' | 'busy';

  constructor(code: ChannelError['code'], message: string) {
    super(message);
    this.name = 'ChannelError';
    this.code = code;
  }
}

export class Channel {
  readonly id: string;
  readonly peer: ChannelPeer;
  readonly log: Log;
  #handlers: ChannelHandlers | undefined;
  #observer: FrameObserver | undefined;
  readonly #driver: ChannelDriver;
  readonly #heartbeat: ChannelHeartbeat;
  readonly #waiters = new Map<number, Waiter>();
  #nextSequence = 1;
  #reads = 0;
  #closeReason: string | undefined;
  #early: Frame[] = [];

  constructor(options: ChannelOptions, driver: ChannelDriver) {
    this.id = options.id;
    this.peer = options.peer;
    this.log = options.log;
    this.#driver = driver;
    this.#heartbeat = new ChannelHeartbeat(options.heartbeat, {
      send: (headers) => void this.send(makeFrame(HEARTBEAT_TYPE, { headers })),
      close: (reason) => this.close(reason),
      latency: (nanoseconds) => this.#onLatency(nanoseconds),
    });
  }

  get isClosed(): boolean {
    return this.#closeReason !== undefined;
  }

  get isWritable(): boolean {
    return this.#closeReason === undefined && this.#driver.isWritable;
  }

  /** It answers heartbeats in time, as far as `unresponsiveAfterMs` asks for that. */
  get isResponsive(): boolean {
    return this.#closeReason === undefined && this.#heartbeat.isResponsive;
  }

  /** Reads that brought something, since the channel began: the peer lives while it grows. */
  get reads(): number {
    return this.#reads;
  }

  /** Since the channel began. */
  get dropped(): DroppedFrames {
    return this.#driver.dropped;
  }

  underlays(): readonly ChannelUnderlay[] {
    return this.#driver.underlays();
  }

  /** Calls back once what waits now has left for the connection: how long that takes is the time in the queue. */
  afterQueued(callback: () => void): void {
    this.#driver.afterQueued(callback);
  }

  /** Sets who handles what arrives; frames that came before are handed over now. */
  handle(handlers: ChannelHandlers): void {
    this.#handlers = handlers;
    if (this.#closeReason !== undefined) {
      handlers.onClose?.(this.#closeReason, this);
      return;
    }
    const early = this.#early;
    this.#early = [];
    for (const frame of early) this.receive(frame);
    if (early.length > 0) handlers.onBatchEnd?.(this);
  }

  /** For traces: from now on. */
  observe(observer: FrameObserver): void {
    this.#observer = observer;
  }

  /** False: over the high-water mark, wait for `onDrain`. Ignored on a closed channel. */
  send(frame: Frame): boolean {
    if (this.#closeReason !== undefined) return false;
    frame.sequence = this.nextSequence();
    this.#observer?.(frame, 'tx');
    return this.#driver.sendFrame(frame);
  }

  sendData(frame: DataFrame): boolean {
    if (this.#closeReason !== undefined) return false;
    return this.#driver.sendData(frame);
  }

  reply(request: Frame, frame: Frame): boolean {
    return this.send(asReplyTo(request, frame));
  }

  /** Sends and waits for the frame that answers it. Rejects with `ChannelError`. */
  request(frame: Frame, timeoutMs: number): Promise<Frame> {
    return new Promise((resolve, reject) => {
      if (this.#closeReason !== undefined) {
        reject(new ChannelError('closed', this.#closeReason));
        return;
      }
      if (this.#waiters.size >= MAX_WAITERS) {
        reject(new ChannelError('busy', 'too many requests wait for an answer'));
        return;
      }
      this.send(frame);
      const { sequence } = frame;
      const timer = setTimeout(() => {
        this.#waiters.delete(sequence);
        reject(new ChannelError('timeout', `no answer within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#waiters.set(sequence, { resolve, reject, timer });
    });
  }

  /** Positive i32, shared by all connections of the channel. */
  nextSequence(): number {
    const sequence = this.#nextSequence;
    this.#nextSequence = sequence === 0x7fffffff ? 1 : sequence + 1;
    return sequence;
  }

  pauseReading(): void {
    this.#driver.pauseReading();
  }

  resumeReading(): void {
    this.#driver.resumeReading();
  }

  close(reason: string): void {
    if (this.#closeReason !== undefined) return;
    this.#closeReason = reason;
    this.#heartbeat.stop();
    this.#driver.close();
    for (const waiter of this.#waiters.values()) {
      clearTimeout(waiter.timer);
      waiter.reject(new ChannelError('closed', reason));
    }
    this.#waiters.clear();
    this.#early = [];
    try {
      this.#handlers?.onClose?.(reason, this);
    } catch (error) {
      this.log.error({ err: error, channel: this.id, peer: this.peer.id }, 'channel handler failed');
    }
  }

  /** For drivers: data frames may come by `receiveEncodedData`; before, they are kept like all others. */
  get isHandled(): boolean {
    return this.#handlers !== undefined;
  }

  /** For drivers: a frame came. Data frames take the short way: they are never replies. */
  receive(frame: Frame): void {
    if (this.#closeReason !== undefined) return;
    const { contentType } = frame;
    if (this.#handlers !== undefined) {
      if (contentType === PAYLOAD_TYPE) return this.receiveEncodedData(decodePayload(frame));
      if (contentType === ACKNOWLEDGEMENT_TYPE) return this.receiveEncodedData(decodeAcknowledgement(frame));
    }
    this.#observer?.(frame, 'rx');
    const beat = frame.headers.bytes(CHANNEL_HEADERS.heartbeat);
    if (beat !== undefined) this.#heartbeat.onBeat(beat);
    const answered = frame.headers.bytes(CHANNEL_HEADERS.heartbeatResponse);
    if (answered !== undefined) this.#heartbeat.onResponse(answered);
    const replyFor = replyForOf(frame);
    if (replyFor !== undefined) {
      const waiter = this.#waiters.get(replyFor);
      if (waiter !== undefined) {
        this.#waiters.delete(replyFor);
        clearTimeout(waiter.timer);
        waiter.resolve(frame);
        return;
      }
    }
    if (contentType === HEARTBEAT_TYPE) return;
    if (contentType === LATENCY_TYPE) {
      this.send(makeResult(frame, true));
      return;
    }
    if (this.#handlers === undefined) {
      if (this.#early.push(frame) > 256) this.close('too many frames before the channel was taken over');
      return;
    }
    try {
      this.#handlers.onFrame(frame, this);
    } catch (error) {
      this.#onHandlerFailed(error);
    }
  }

  /** For drivers that carry bytes; undefined: a data frame that is malformed. */
  receiveEncodedData(frame: DataFrame | undefined): void {
    if (this.#closeReason !== undefined) return;
    if (frame === undefined) {
      this.log.debug({ channel: this.id }, 'malformed data frame dropped');
      return;
    }
    if (frame.heartbeat !== undefined) this.#heartbeat.onBeat(frame.heartbeat);
    if (frame.heartbeatResponse !== undefined) this.#heartbeat.onResponse(frame.heartbeatResponse);
    this.receiveData(frame);
  }

  /** For drivers that carry decoded data frames. */
  receiveData(frame: DataFrame): void {
    if (this.#closeReason !== undefined) return;
    try {
      this.#handlers?.onData?.(frame, this);
    } catch (error) {
      this.#onHandlerFailed(error);
    }
  }

  /** After the frames of one read. */
  receiveBatchEnd(): void {
    if (this.#closeReason !== undefined) return;
    this.#reads += 1;
    this.#heartbeat.onTraffic();
    try {
      this.#handlers?.onBatchEnd?.(this);
    } catch (error) {
      this.#onHandlerFailed(error);
    }
  }

  drained(): void {
    if (this.#closeReason !== undefined) return;
    try {
      this.#handlers?.onDrain?.(this);
    } catch (error) {
      this.#onHandlerFailed(error);
    }
  }

  /** For drivers: a connection came or went. */
  underlaysChanged(): void {
    if (this.#closeReason !== undefined) return;
    try {
      this.#handlers?.onUnderlays?.(this);
    } catch (error) {
      this.#onHandlerFailed(error);
    }
  }

  #onLatency(nanoseconds: number): void {
    if (this.#closeReason !== undefined) return;
    try {
      this.#handlers?.onLatency?.(nanoseconds, this);
    } catch (error) {
      this.#onHandlerFailed(error);
    }
  }

  /** A handler that throws is our fault, not the peer's; still only this channel may suffer. */
  #onHandlerFailed(error: unknown): void {
    this.log.error({ err: error, channel: this.id, peer: this.peer.id }, 'channel handler failed');
    this.close(`internal: ${messageOf(error)}`);
  }
}
