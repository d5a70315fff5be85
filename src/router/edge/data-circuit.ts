/**
 * One end of a circuit for an SDK that exchanges Data frames: the router runs xgress for this end. In an encrypted
 * circuit each Data frame is one message and remains one, although it can be sent in chunks. In others the bytes of a
 * long one are passed on as they arrive, and SDKs get frames that each of them can read.
 */
import type { Log } from '#base';
import {
  contentType,
  HeaderWriter,
  headerId,
  makeFrame,
  type BodyPart,
  type ControlFrame,
  type Frame,
} from '#wire';
import { PAYLOAD_HEADERS, PAYLOAD_TYPE, Xgress, type DataFrame, type XgressPort } from '#wire/xgress';
import type { XgressConfig } from '../config/router-config.ts';
import type { XgressEnds } from '../xgress/xgress-ends.ts';
import type { TickingEnd } from '../xgress/xgress-ticker.ts';
import {
  inspectEdge,
  keptToken,
  onControl,
  onTrace,
  stateClosed,
  type EdgeCircuit,
  type EdgeCircuitOptions,
} from './edge-circuit.ts';

const { edge } = headerId;
const FIN = 1;
/** The body consists of several messages, each with its length. */
const MULTIPART_MESSAGE = 16;
/** The Java SDK loses bytes of longer bodies. */
const MAX_BODY_BYTES = 32 * 1024;
/**
 * A Data connection with this much unsent data pauses its whole channel, because OpenZiti's Data frames have no flow
 * control.
 */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

export interface DataCircuitOptions extends EdgeCircuitOptions {
  readonly config: XgressConfig;
  /** Resources that all ends of the router share. */
  readonly ends: SharedByEnds;
  readonly log: Log;
}

type SharedByEnds = Pick<XgressEnds, 'ticker' | 'counters' | 'budget' | 'random'>;

/** `draining`: the SDK has disconnected, and its data is still in transit. */
type State = 'open' | 'draining' | 'over';

export class DataCircuit implements EdgeCircuit, TickingEnd {
  readonly kind = 'xgress';
  readonly isWritable = true;
  readonly circuitId: string;
  readonly address: string;
  readonly controllerId: string;
  readonly connId: number;
  readonly isTerminator: boolean;
  readonly sessionToken: string;
  readonly #options: DataCircuitOptions;
  readonly #xgress: Xgress;
  /** Data frames that the SDK's channel accepted beyond its high-water mark. */
  #waiting = 0;
  #isReadingStopped = false;
  /** True while the remaining data is passed to the SDK regardless of its channel. */
  #isLast = false;
  #state: State = 'open';
  /** Milliseconds since the epoch; 0 for no deadline. */
  #deadlineMs = 0;
  /** The frame of the SDK whose body is arriving in parts. */
  #streamed: Frame | undefined;
  /** Each body is one encrypted message. */
  #isEncrypted = false;

  constructor(options: DataCircuitOptions) {
    this.#options = options;
    this.circuitId = options.circuitId;
    this.address = options.address;
    this.controllerId = options.controllerId;
    this.connId = options.connId;
    this.isTerminator = options.isTerminator;
    this.sessionToken = keptToken(options.sessionToken);
    const { config, ends } = options;
    this.#xgress = new Xgress(
      options.circuitId,
      options.isTerminator,
      config,
      this.#port(),
      ends.counters,
      ends.budget,
    );
  }

  /**
   * Called after StateConnected was sent, or once the host knows its connection. `isEncrypted`: both SDKs sent a public
   * key.
   */
  start(isEncrypted: boolean): void {
    this.#isEncrypted = isEncrypted;
    const nowMs = performance.now();
    const { circuitStartTimeoutMs } = this.#options.config;
    if (!this.isTerminator) this.#xgress.start(nowMs);
    else if (!this.#xgress.isStarted && circuitStartTimeoutMs > 0)
      this.#deadlineMs = nowMs + circuitStartTimeoutMs;
    this.#xgress.resume();
    this.#options.ends.ticker.watch(this);
  }

  tick(nowMs: number): boolean {
    if (this.#state === 'over') return false;
    this.#xgress.tick(nowMs);
    if (this.#state === 'open' && this.#xgress.isStarted) this.#deadlineMs = 0;
    if (this.#deadlineMs > 0 && nowMs >= this.#deadlineMs) this.#onDeadline();
    return !this.#isOver && (!this.#xgress.isEverythingSent || this.#deadlineMs > 0);
  }

  flushAcknowledgements(): void {
    if (!this.#isOver) this.#xgress.flushAcknowledgements();
  }

  /** Called when the SDK's channel has room again. */
  onDrain(): void {
    this.#waiting = 0;
    this.#xgress.resume();
  }

  onWritable(): void {
    if (!this.#isOver) this.#xgress.resumeSending(performance.now());
  }

  /** Handles a frame from the overlay. */
  deliver(frame: DataFrame): void {
    if (this.#isOver) return;
    const { config, ends } = this.#options;
    if (frame.contentType !== PAYLOAD_TYPE) {
      this.#xgress.onAcknowledgement(frame, performance.now());
      if (this.#state === 'draining') this.#leaveIfSent();
    } else if (config.randomDrops && ends.random() * config.drop1InN < 1) {
      ends.counters.droppedPayloads += 1;
    } else {
      this.#xgress.onPayload(frame, performance.now());
    }
  }

  onControl(control: ControlFrame): void {
    onControl(this, this.#options, control);
  }

  onTrace(request: Frame): void {
    onTrace(this, this.#options, request);
  }

  /** Handles a Data frame of the SDK. */
  onSdkData(frame: Frame): void {
    const { config, ends, meters } = this.#options;
    const headers = payloadHeadersOf(frame);
    const isFin = (flagsOf(frame) & FIN) !== 0;
    const nowMs = performance.now();
    ends.ticker.watch(this);
    if (frame.body.length > 0) {
      meters.received(this.circuitId, frame.body.length);
      this.#afterWrite(this.#xgress.writeMessage(frame.body, nowMs, isFin ? undefined : headers, config.mtu));
    }
    if (isFin) this.#xgress.end(nowMs, headers);
  }

  /** Handles a part of a Data frame of the SDK that is too long to be kept. */
  onSdkPart({ frame, bodyBytes, at, bytes }: BodyPart): void {
    if (at === 0) this.#streamed = frame;
    else if (this.#streamed !== frame) return;
    const { config, ends, meters } = this.#options;
    const flags = flagsOf(frame);
    const isFin = (flags & FIN) !== 0;
    const headers = payloadHeadersOf(frame);
    const nowMs = performance.now();
    ends.ticker.watch(this);
    meters.received(this.circuitId, bytes.length);
    const firstHeaders = at > 0 || isFin ? undefined : headers;
    const isMessage = this.#isEncrypted || (flags & MULTIPART_MESSAGE) !== 0;
    const messageBytes = at === 0 ? bodyBytes : undefined;
    this.#afterWrite(
      isMessage
        ? this.#xgress.writePart(bytes, nowMs, firstHeaders, config.mtu, messageBytes)
        : this.#xgress.writeMessage(bytes, nowMs, firstHeaders, config.mtu),
    );
    if (at + bytes.length < bodyBytes) return;
    this.#streamed = undefined;
    if (isFin) this.#xgress.end(nowMs, headers);
  }

  inspect(): object {
    return { ...inspectEdge(this), ...this.#xgress.inspect() };
  }

  unrouted(): void {
    if (this.#isOver) return;
    // Received data belongs to the SDK, even if the circuit has ended.
    this.#isLast = true;
    this.#xgress.resume();
    const wasOpen = this.#state === 'open';
    this.#leave();
    if (!wasOpen) return;
    this.#options.channel.send(stateClosed(this.connId, 'circuit closed'));
    this.#options.onClosed(this);
  }

  destroy(reason: string): void {
    this.#breakOff(reason);
  }

  close(): void {
    if (this.#state !== 'open') return;
    this.#state = 'draining';
    this.#readAgain();
    this.#options.onClosed(this);
    this.#deadlineMs = performance.now() + Math.max(1, this.#options.config.maxCloseWaitMs);
    this.#options.ends.ticker.watch(this);
    this.#leaveIfSent();
  }

  get #isOver(): boolean {
    return this.#state === 'over';
  }

  #port(): XgressPort {
    const { channel, ends, forwarder } = this.#options;
    const forward = (frame: DataFrame): void => forwarder.forward(this.circuitId, this.address, frame);
    return {
      canSend: () => forwarder.isWritable(this.circuitId, this.address),
      sendPayload: forward,
      sendAcknowledgement: forward,
      acknowledgementDue: () => ends.ticker.acknowledgeLater(this),
      deliver: (data, headers) => this.#toSdk(data, headers),
      deliverEnd: () => {
        if (this.#state !== 'open') return;
        const headers = new HeaderWriter().u32(edge.connId, this.connId).u32(edge.flags, FIN);
        channel.send(makeFrame(contentType.data, { headers }));
      },
      drained: () => this.#readAgain(),
      broken: (reason) => this.#breakOff(reason),
    };
  }

  #afterWrite(mayGoOn: boolean): void {
    if (mayGoOn || this.#xgress.bufferedBytes <= MAX_BUFFERED_BYTES || this.#isReadingStopped) return;
    this.#isReadingStopped = true;
    this.#options.reading.pauseReading();
  }

  #readAgain(): void {
    if (!this.#isReadingStopped) return;
    this.#isReadingStopped = false;
    this.#options.reading.resumeReading();
  }

  #onDeadline(): void {
    this.#deadlineMs = 0;
    if (this.#state === 'draining') this.#end();
    else this.#breakOff('the circuit was not started in time');
  }

  #breakOff(reason: string): void {
    if (this.#state !== 'open') return;
    this.#options.log.info({ circuit: this.circuitId, reason }, 'circuit reset');
    this.#options.channel.send(stateClosed(this.connId, reason));
    this.#xgress.abandonSending();
    this.close();
  }

  #leaveIfSent(): void {
    if (this.#xgress.isEverythingSent) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#leave();
    this.#options.forwarder.unregister(this.circuitId, this.address);
    this.#options.onEnded(this);
  }

  #leave(): void {
    this.#xgress.flushAcknowledgements();
    this.#state = 'over';
    this.#xgress.abandonSending();
    this.#xgress.release();
    this.#readAgain();
  }

  /** An unencrypted body that is too long for an SDK is sent in several frames. */
  #toSdk(data: Uint8Array, headers: Map<number, Uint8Array> | undefined): void {
    if (this.#state === 'draining') return;
    this.#options.meters.sent(this.circuitId, data.length);
    const flags = headers?.get(PAYLOAD_HEADERS.edgeFlags);
    const isMessage = this.#isEncrypted || ((flags?.[0] ?? 0) & MULTIPART_MESSAGE) !== 0;
    const size = isMessage ? data.length : MAX_BODY_BYTES;
    let hasRoom = true;
    for (let at = 0; at < data.length; at += size) {
      const writer = new HeaderWriter().u32(edge.connId, this.connId);
      const isLast = at + size >= data.length;
      if (flags?.length === 4) writer.bytes(edge.flags, isLast ? flags : withoutFin(flags));
      const trace = headers?.get(PAYLOAD_HEADERS.traceId);
      if (trace !== undefined) writer.bytes(edge.uuid, trace);
      const body = isMessage ? data : data.subarray(at, at + size);
      hasRoom = this.#options.channel.send(makeFrame(contentType.data, { headers: writer, body }));
    }
    if (hasRoom || this.#isLast) return;
    this.#waiting += 1;
    if (this.#waiting >= this.#options.config.txQueueSize) this.#xgress.pause();
  }
}

function flagsOf(frame: Frame): number {
  return frame.headers.u32(edge.flags) ?? 0;
}

/** Flags of four bytes, of which the first contains the end of the stream. */
function withoutFin(flags: Uint8Array): Uint8Array {
  return Uint8Array.of(flags[0]! & ~FIN, flags[1]!, flags[2]!, flags[3]!);
}

/** Converts the headers of a Data frame to those of the overlay: only flags and trace id. */
function payloadHeadersOf(frame: Frame): Map<number, Uint8Array> | undefined {
  const flags = frame.headers.bytes(edge.flags);
  const trace = frame.headers.bytes(edge.uuid);
  if (flags === undefined && trace === undefined) return undefined;
  const headers = new Map<number, Uint8Array>();
  if (flags?.length === 4) headers.set(PAYLOAD_HEADERS.edgeFlags, flags);
  if (trace !== undefined) headers.set(PAYLOAD_HEADERS.traceId, trace);
  return headers;
}
