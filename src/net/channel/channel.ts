/**
 * A channel: frames in both directions between two authenticated peers, over one or more connections (underlays),
 * with requests and replies, heartbeats and back-pressure. The driver (TLS, memory) moves the frames; this file
 * does no I/O except timers.
 */
import { FrontdoorError, ShortLivedMap, type Log } from '#base';
import {
  asReplyTo,
  CHANNEL_HEADERS,
  HEARTBEAT_TYPE,
  LATENCY_TYPE,
  makeFrame,
  makeResult,
  replyForOf,
  type BodyPart,
  type Frame,
  type FrameHeaders,
} from '#wire';
import {
  ACKNOWLEDGEMENT_TYPE,
  decodeAcknowledgement,
  decodePayload,
  PAYLOAD_TYPE,
  type DataFrame,
} from '#wire/xgress';
import { failAlone } from '../containment.ts';
import { ChannelHeartbeat } from './channel-heartbeat.ts';
import { FrameObservers, type FrameObserver } from './frame-observers.ts';
import type { HeartbeatOptions } from './heartbeat-machine.ts';

/** The other end, as its certificate and hello identified it. */
export interface ChannelPeer {
  /** The listener's id (dialed channels) or the hello's body (accepted ones). */
  readonly id: string;
  /** Headers of its hello, or of its response to ours. */
  readonly hello: FrameHeaders;
  /** SHA-1 of its leaf certificate's DER, lower-case hex. */
  readonly fingerprint: string;
  /** `host:port`, or `memory`. */
  readonly address: string;
}

export interface ChannelHandlers {
  onFrame(frame: Frame, channel: Channel): void;
  /** Payloads and acknowledgements. They are ignored without this handler. */
  onData?(frame: DataFrame, channel: Channel): void;
  /**
   * Long bodies that are passed on as they arrive, of the types that the protocol allows. Without this handler, they
   * are frames with a limit.
   */
  onBodyPart?(part: BodyPart, channel: Channel): void;
  /** Called after the last frame of one read. */
  onBatchEnd?(channel: Channel): void;
  /** Called when there is room again after `send` or `sendData` returned false. */
  onDrain?(channel: Channel): void;
  /** A connection was added or lost. Not called for the first one. */
  onUnderlays?(channel: Channel): void;
  /** The peer answered our heartbeat with this latency. */
  onLatency?(nanoseconds: number, channel: Channel): void;
  /** The last call, once. */
  onClose?(reason: string, channel: Channel): void;
}

/** One connection of a channel. */
export interface ChannelUnderlay {
  /** `default` if the channel has no other; otherwise `link.default`, `link.ack`, `edge.control`, `payload`, … */
  readonly type: string;
  /** `tcp:ip:port`, also over TLS; `memory` within one process. */
  readonly localAddress: string;
  readonly remoteAddress: string;
}

/** Data frames that were dropped because their queue was full. */
export interface DroppedFrames {
  readonly payloads: number;
  readonly acknowledgements: number;
}

/** Moves the frames of a channel. */
export interface ChannelDriver {
  /** Returns false if the queue is over its high-water mark. The frame is queued in any case. */
  sendFrame(frame: Frame): boolean;
  /** Returns false likewise, but a frame is dropped and counted if its queue is full. */
  sendData(frame: DataFrame): boolean;
  readonly isWritable: boolean;
  readonly dropped: DroppedFrames;
  underlays(): readonly ChannelUnderlay[];
  /** Calls back once everything that is queued now has been handed to the connection. */
  afterQueued(callback: () => void): void;
  pauseReading(): void;
  resumeReading(): void;
  close(): void;
}

export interface ChannelOptions {
  readonly id: string;
  readonly peer: ChannelPeer;
  readonly log: Log;
  readonly heartbeat?: HeartbeatOptions | undefined;
}

interface Waiter {
  readonly resolve: (frame: Frame) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const MAX_WAITERS = 65_536;

/** The peer disconnected, or did not respond in time. */
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
  readonly #observers = new FrameObservers();
  readonly #driver: ChannelDriver;
  readonly #heartbeat: ChannelHeartbeat;
  readonly #waiters = new ShortLivedMap<number, Waiter>();
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

  /** Whether the peer answers heartbeats within `unresponsiveAfterMs`. */
  get isResponsive(): boolean {
    return this.#closeReason === undefined && this.#heartbeat.isResponsive;
  }

  /** Number of reads with data since the channel began. The peer is alive while it grows. */
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

  /**
   * Calls back once everything that is queued now has been handed to the connection. The delay is the time in the
   * queue.
   */
  afterQueued(callback: () => void): void {
    this.#driver.afterQueued(callback);
  }

  /** Sets the handlers. Frames that arrived before are delivered now. */
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
    this.#heartbeat.begin();
  }

  /** Adds an observer for traces. Returns the function that removes it. */
  observe(observer: FrameObserver): () => void {
    return this.#observers.add(observer);
  }

  /** Returns false above the high-water mark; the caller then waits for `onDrain`. Ignored on a closed channel. */
  send(frame: Frame): boolean {
    if (this.#closeReason !== undefined) return false;
    frame.sequence = this.nextSequence();
    this.#observers.notify(frame, 'tx');
    return this.#driver.sendFrame(frame);
  }

  sendData(frame: DataFrame): boolean {
    if (this.#closeReason !== undefined) return false;
    return this.#driver.sendData(frame);
  }

  reply(request: Frame, frame: Frame): boolean {
    return this.send(asReplyTo(request, frame));
  }

  /** Sends a frame and waits for its reply. Rejects with `ChannelError`. */
  request(frame: Frame, timeoutMs: number): Promise<Frame> {
    return new Promise((resolve, reject) => {
      if (this.#closeReason !== undefined) {
        reject(new ChannelError('closed', this.#closeReason));
        return;
      }
      if (this.#waiters.size >= MAX_WAITERS) {
        reject(new ChannelError('busy', 'too many requests wait for a response'));
        return;
      }
      this.send(frame);
      const { sequence } = frame;
      const timer = setTimeout(() => {
        this.#waiters.delete(sequence);
        reject(new ChannelError('timeout', `no response within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#waiters.set(sequence, { resolve, reject, timer });
    });
  }

  /** Returns a positive i32 that is unique among all connections of the channel. */
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
      this.#onDefect('the end of the channel', error);
    }
  }

  /**
   * For drivers: whether data frames may be passed to `receiveEncodedData`. Before that, they are kept like all
   * others.
   */
  get isHandled(): boolean {
    return this.#handlers !== undefined;
  }

  /** For drivers: a frame arrived. Data frames take a shorter path, because they are never replies. */
  receive(frame: Frame): void {
    if (this.#closeReason !== undefined) return;
    const { contentType } = frame;
    if (this.#handlers !== undefined) {
      if (contentType === PAYLOAD_TYPE) return this.receiveEncodedData(decodePayload(frame));
      if (contentType === ACKNOWLEDGEMENT_TYPE) return this.receiveEncodedData(decodeAcknowledgement(frame));
    }
    this.#observers.notify(frame, 'rx');
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
      if (this.#early.push(frame) > 256) this.close('too many frames before handlers were set');
      return;
    }
    try {
      this.#handlers.onFrame(frame, this);
    } catch (error) {
      // A peer that waits for the reply gets this one.
      const refuse = (): void => void this.send(makeResult(frame, false, 'internal error'));
      this.#onDefect(`type ${contentType}`, error, replyFor === undefined ? refuse : undefined);
    }
  }

  /** For drivers that carry bytes. Undefined stands for a malformed data frame. */
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

  /** Whether long bodies are passed on in parts. */
  get takesBodyParts(): boolean {
    return this.#handlers?.onBodyPart !== undefined;
  }

  /** For drivers that carry bytes. */
  receiveBodyPart(part: BodyPart): void {
    if (this.#closeReason !== undefined) return;
    if (part.at === 0) this.#observers.notify(part.frame, 'rx');
    this.#guarded(`part of type ${part.frame.contentType}`, () => this.#handlers?.onBodyPart?.(part, this));
  }

  /** For drivers that carry decoded data frames. */
  receiveData(frame: DataFrame): void {
    if (this.#closeReason !== undefined) return;
    try {
      this.#handlers?.onData?.(frame, this);
    } catch (error) {
      this.#onDefect(`data of circuit ${frame.circuitId}`, error);
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
      this.#onDefect('the end of a read', error);
    }
  }

  drained(): void {
    if (this.#closeReason !== undefined) return;
    this.#guarded('room to send', () => this.#handlers?.onDrain?.(this));
  }

  /** For drivers: a connection was added or lost. */
  underlaysChanged(): void {
    if (this.#closeReason !== undefined) return;
    this.#guarded('a change of connections', () => this.#handlers?.onUnderlays?.(this));
  }

  #onLatency(nanoseconds: number): void {
    if (this.#closeReason !== undefined) return;
    this.#guarded('a latency', () => this.#handlers?.onLatency?.(nanoseconds, this));
  }

  #guarded(what: string, act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#onDefect(what, error);
    }
  }

  /** Unless the peer broke the protocol, the bug is ours, and the channel carries the circuits and shares of others. */
  #onDefect(what: string, error: unknown, fail?: () => void): void {
    if (error instanceof FrontdoorError && error.kind === 'protocol') {
      this.log.warn({ channel: this.id, peer: this.peer.id, what, err: error.message }, 'malformed message');
      this.close(error.message);
      return;
    }
    failAlone({ kind: 'message', id: `${what} from ${this.peer.id}`, log: this.log, fail }, error);
  }
}
