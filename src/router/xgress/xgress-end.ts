/**
 * A circuit's end that the router holds for a local connection: xgress on one side, a byte stream on the other, which
 * can be half-closed in both directions. It ends cleanly when both directions have ended and all data was acknowledged.
 * Otherwise it resets the local connection, so that incomplete data is never mistaken for complete.
 */
import type { Duplex } from 'node:stream';
import { keptBytes, type Log } from '#base';
import type { CircuitEncryption } from '#sdk';
import { traceResponse, type ControlFrame } from '#wire';
import {
  PAYLOAD_HEADERS,
  PAYLOAD_TYPE,
  Xgress,
  type DataFrame,
  type CircuitBudget,
  type XgressCounters,
} from '#wire/xgress';
import type { XgressConfig } from '../config/router-config.ts';
import type { CircuitEnd, Forwarding } from '../forwarder/destination.ts';
import { PayloadWriter } from './payload-writer.ts';
import type { SideMeters } from './xgress-meters.ts';
import type { TickingEnd, XgressTicker } from './xgress-ticker.ts';

/** Maximum bytes that wait for the local connection, regardless of the number of payloads. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/**
 * After a clean end, an end remains for this time or until the far end has closed, because an acknowledgement may be
 * lost.
 */
const LINGER_MS = 5_000;
const EDGE_FIN = new Map<number, Uint8Array>([[PAYLOAD_HEADERS.edgeFlags, Uint8Array.of(1, 0, 0, 0)]]);

/** A socket or a substitute. Its two directions are closed separately (`allowHalfOpen`). */
export interface LocalConnection extends Duplex {
  resetAndDestroy?(): void;
}

/** Resources that all ends share. */
export interface XgressEndContext {
  readonly forwarding: Forwarding;
  readonly ticker: XgressTicker;
  readonly counters: XgressCounters;
  readonly budget: CircuitBudget;
  readonly log: Log;
  /** Returns a random number n with 0 ≤ n < 1. */
  random(): number;
}

export interface XgressEndOptions {
  readonly circuitId: string;
  /** The address of this end in the circuit. */
  readonly address: string;
  readonly isTerminator: boolean;
  readonly connection: LocalConnection;
  /** Seals and opens the payloads. By default, they are in clear. */
  readonly encryption?: CircuitEncryption | undefined;
  /** Each chunk of the connection is one datagram, and each payload becomes one chunk. False by default. */
  readonly isDatagrams?: boolean | undefined;
  readonly config: XgressConfig;
  /** The answer to a traceroute here, such as `xgress/transport`. */
  readonly hopType: string;
  readonly meters: SideMeters;
  readonly context: XgressEndContext;
  /** Called once. `byOverlay` is true if the overlay removed the circuit, so that it need not be notified. */
  onClosed(end: XgressEnd, byOverlay: boolean): void;
}

/**
 * `open`; `lingering`: both directions ended, late frames are still acknowledged; `detached`: the circuit is gone, and
 * the local connection gets the remaining data; `over`.
 */
type State = 'open' | 'lingering' | 'detached' | 'over';

export class XgressEnd implements CircuitEnd, TickingEnd {
  readonly kind = 'xgress';
  readonly isWritable = true;
  readonly circuitId: string;
  readonly address: string;
  readonly isTerminator: boolean;
  readonly #options: XgressEndOptions;
  readonly #xgress: Xgress;
  readonly #connection: LocalConnection;
  readonly #writer: PayloadWriter;
  #state: State = 'open';
  /** The time at which the current state ends; 0 for no limit. */
  #deadlineMs = 0;
  /** Sizes of the payloads that the local connection has not accepted yet, and their sum. */
  readonly #waiting: number[] = [];
  #waitingBytes = 0;
  #isReading = false;
  #hasLocalEnded = false;
  #lastReceivedMs = performance.now();

  constructor(options: XgressEndOptions) {
    const { circuitId, address, isTerminator, connection, config, context, encryption } = options;
    this.#options = options;
    this.circuitId = circuitId;
    this.address = address;
    this.isTerminator = isTerminator;
    this.#connection = connection;
    const send = (frame: DataFrame): void => context.forwarding.forward(circuitId, address, frame);
    this.#xgress = new Xgress(
      circuitId,
      isTerminator,
      config,
      {
        canSend: () => context.forwarding.isWritable(circuitId, address),
        sendPayload: send,
        sendAcknowledgement: send,
        acknowledgementDue: () => context.ticker.acknowledgeLater(this),
        deliver:
          encryption === undefined
            ? (data) => this.#toLocal(data)
            : (message) => this.#open(encryption, message),
        deliverEnd: () => this.#onFarEnd(),
        drained: () => this.#readAgain(),
        sendFailed: () => this.#onSendFailed(),
        broken: (reason) => this.#abort(reason),
      },
      context.counters,
      context.budget,
    );
    const { mtu } = config;
    const isDatagrams = options.isDatagrams === true;
    this.#writer = new PayloadWriter({ xgress: this.#xgress, mtu, encryption, isDatagrams });
    connection.pause();
    connection.on('data', (chunk: Uint8Array) => this.#fromLocal(chunk));
    connection.on('end', () => this.#onLocalEnd());
    connection.on('error', (error: Error) => this.#onLocalError(error));
    connection.on('close', () => this.#onLocalClosed());
  }

  get isOver(): boolean {
    return this.#state === 'over';
  }

  /** Called after registration. The initiator starts the circuit; the terminator waits for the start. */
  start(): void {
    const nowMs = performance.now();
    const { circuitStartTimeoutMs } = this.#options.config;
    if (!this.isTerminator) this.#xgress.start(nowMs);
    else if (circuitStartTimeoutMs > 0) this.#deadlineMs = nowMs + circuitStartTimeoutMs;
    this.#writer.start(nowMs);
    this.#xgress.resume();
    this.#options.context.ticker.watch(this);
    this.#readOnceStarted();
  }

  /** Handles a frame from the overlay. */
  deliver(frame: DataFrame): void {
    if (this.#state === 'over' || this.#state === 'detached') return;
    const nowMs = performance.now();
    if (frame.contentType !== PAYLOAD_TYPE) {
      this.#xgress.onAcknowledgement(frame, nowMs);
      if (this.#hasLocalEnded && this.#state === 'open') this.#giveTime(nowMs);
      this.#finishIfDone();
      return;
    }
    this.#lastReceivedMs = nowMs;
    const { config, context } = this.#options;
    if (config.randomDrops && context.random() * config.drop1InN < 1) {
      context.counters.droppedPayloads += 1;
      return;
    }
    this.#xgress.onPayload(frame, nowMs);
    if (!this.#isReading) this.#readOnceStarted();
    if (this.#state === 'lingering' && this.#xgress.hasPeerEnded) this.#close(false);
  }

  onWritable(): void {
    if (this.#state === 'open') this.#xgress.resumeSending(performance.now());
  }

  onControl(control: ControlFrame): void {
    if (!control.isTrace) return;
    const hop = { type: this.#options.hopType, id: '', hops: Math.max(0, control.hops - 1) };
    this.#options.context.forwarding.control(this.address, traceResponse(control, hop));
  }

  unrouted(): void {
    if (this.#state !== 'open' && this.#state !== 'lingering') return;
    if (this.#state === 'lingering' || this.#xgress.hasReceivedEnd) {
      this.#xgress.abandonSending();
      this.#close(true);
      return;
    }
    this.#options.context.log.info({ circuit: this.circuitId }, 'circuit was unrouted before it ended');
    this.#close(true);
    this.#reset();
  }

  flushAcknowledgements(): void {
    if (this.#state === 'open' || this.#state === 'lingering') this.#xgress.flushAcknowledgements();
  }

  tick(nowMs: number): boolean {
    if (this.#state === 'over') return false;
    if (this.#state === 'open') this.#xgress.tick(nowMs);
    if (this.#deadlineMs > 0 && nowMs >= this.#deadlineMs) this.#onDeadline();
    return !this.isOver && (!this.#xgress.isEverythingSent || this.#deadlineMs > 0);
  }

  /** Ends the circuit at once, without waiting for data in flight. */
  destroy(reason: string): void {
    this.#abort(reason);
  }

  inspect(): object {
    return {
      originator: this.isTerminator ? 'Terminator' : 'Initiator',
      timeSinceLastLinkRx: `${Math.round(performance.now() - this.#lastReceivedMs) / 1_000}s`,
      state: this.#state,
      ...this.#xgress.inspect(),
    };
  }

  #readOnceStarted(): void {
    if (this.#isReading || !this.#xgress.isStarted) return;
    this.#isReading = true;
    if (this.isTerminator) this.#deadlineMs = 0;
    this.#connection.resume();
  }

  #fromLocal(chunk: Uint8Array): void {
    if (this.#state !== 'open' || this.#xgress.isSendBroken) {
      // The data has no receiver now. The connection is not read until the circuit has ended.
      this.#connection.pause();
      return;
    }
    const { meters, context } = this.#options;
    const nowMs = performance.now();
    meters.received(this.circuitId, chunk.length);
    const mayGoOn = this.#writer.write(chunk, nowMs);
    context.ticker.watch(this);
    if (!mayGoOn) this.#connection.pause();
  }

  #readAgain(): void {
    if (this.#state === 'open' && this.#isReading && !this.#xgress.isSendBroken) this.#connection.resume();
  }

  #onLocalEnd(): void {
    if (this.#state !== 'open') return;
    const nowMs = performance.now();
    this.#hasLocalEnded = true;
    this.#xgress.end(nowMs, EDGE_FIN);
    this.#giveTime(nowMs);
    this.#finishIfDone();
  }

  /** The first message is the header of the stream, whose text is empty. */
  #open(encryption: CircuitEncryption, message: Uint8Array): void {
    if (this.#state === 'over') return;
    const text = encryption.open(message);
    if (text === undefined) this.#abort('received a message that was changed on its way, or is out of turn');
    else if (text.length > 0) this.#toLocal(text);
  }

  #toLocal(data: Uint8Array): void {
    const connection = this.#connection;
    this.#options.meters.sent(this.circuitId, data.length);
    const isBehind = connection.writableLength > 0;
    connection.write(isBehind ? keptBytes(data) : data, this.#onWritten);
    if (connection.writableLength === 0) return;
    this.#waiting.push(data.length);
    this.#waitingBytes += data.length;
    this.#countWaiting();
    if (this.#isLocalFull) this.#xgress.pause();
  }

  readonly #onWritten = (): void => {
    if (this.#waiting.length === 0) return;
    if (this.#state === 'detached') this.#giveTime(performance.now());
    this.#countWaiting();
    if (!this.#isLocalFull && this.#state !== 'over') this.#xgress.resume();
  };

  get #isLocalFull(): boolean {
    const { txQueueSize } = this.#options.config;
    return this.#waiting.length >= Math.max(1, txQueueSize) || this.#waitingBytes >= MAX_WAITING_BYTES;
  }

  #countWaiting(): void {
    let taken = this.#waitingBytes - this.#connection.writableLength;
    while (this.#waiting.length > 0 && this.#waiting[0]! <= taken) {
      const size = this.#waiting.shift()!;
      taken -= size;
      this.#waitingBytes -= size;
    }
  }

  #onFarEnd(): void {
    this.#connection.end();
    this.#finishIfDone();
  }

  /** The far end no longer reads. Its further data is still delivered to the local connection. */
  #onSendFailed(): void {
    if (this.#state !== 'open') return;
    this.#giveTime(performance.now());
    this.#finishIfDone();
    if (this.#state === 'open') this.#connection.resume();
  }

  #finishIfDone(): void {
    const xgress = this.#xgress;
    if (this.#state !== 'open' || !xgress.isSendDone || !xgress.isReceiveDone) return;
    // The far end ends cleanly only if it knows that its own end of data arrived.
    xgress.flushAcknowledgements();
    if (xgress.isSendBroken) {
      this.#close(false);
      return;
    }
    const nowMs = performance.now();
    xgress.sendCircuitEnd(nowMs);
    if (xgress.hasPeerEnded) {
      this.#close(false);
      return;
    }
    this.#state = 'lingering';
    this.#deadlineMs = nowMs + Math.min(LINGER_MS, this.#options.config.maxCloseWaitMs);
    this.#options.context.ticker.watch(this);
  }

  #onLocalError(error: Error): void {
    if (this.#state === 'over') return;
    if (this.#state === 'open') this.#abort(error.message);
  }

  #onLocalClosed(): void {
    if (this.#state === 'detached') this.#finish();
    // A connection closes itself after both directions ended, while the circuit may still wait for acknowledgements.
    else if (this.#state === 'open' && !(this.#hasLocalEnded && this.#xgress.isReceiveDone))
      this.#abort('the local connection closed');
  }

  #onDeadline(): void {
    this.#deadlineMs = 0;
    if (this.#state === 'lingering') this.#close(false);
    else if (this.#state === 'detached') this.#reset();
    else if (!this.#xgress.isStarted) this.#abort('the circuit was not started in time');
    else this.#abort('what was sent last was not acknowledged in time');
  }

  /**
   * Ends both directions. The far end is notified that there is no reader here, and the controller that the circuit
   * ended.
   */
  #abort(reason: string): void {
    if (this.#state === 'over') return;
    if (this.#state === 'open') {
      this.#options.context.log.info({ circuit: this.circuitId, reason }, 'circuit reset');
      if (!this.#xgress.isReceiveDone && this.#xgress.isStarted)
        this.#xgress.sendWriteFailed(performance.now());
    }
    this.#close(false);
    this.#reset();
  }

  /** Leaves the circuit, and gives the local connection time to accept the remaining data. */
  #close(byOverlay: boolean): void {
    if (this.#state === 'over' || this.#state === 'detached') return;
    this.#state = 'detached';
    this.#xgress.abandonSending();
    this.#options.onClosed(this, byOverlay);
    if (this.#connection.destroyed) {
      this.#finish();
      return;
    }
    this.#giveTime(performance.now());
    // Further data of the connection is read and discarded, so that its end is noticed.
    this.#connection.resume();
  }

  #giveTime(nowMs: number): void {
    this.#deadlineMs = nowMs + Math.max(1, this.#options.config.maxCloseWaitMs);
    this.#options.context.ticker.watch(this);
  }

  #finish(): void {
    this.#state = 'over';
    this.#xgress.release();
  }

  #reset(): void {
    this.#finish();
    if (this.#connection.destroyed) return;
    if (this.#connection.resetAndDestroy === undefined || 'encrypted' in this.#connection)
      this.#connection.destroy();
    else this.#connection.resetAndDestroy();
  }
}
