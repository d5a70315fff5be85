/**
 * One end of a circuit at an SDK's channel. Two kinds: an SDK that speaks xgress itself (frames pass through, the
 * window is the SDK's), and one that exchanges Data frames (the router holds that end of xgress).
 */
import {
  contentType,
  FrameHeaders,
  HeaderWriter,
  headerId,
  makeFrame,
  PAYLOAD_HEADERS,
  PAYLOAD_TYPE,
  Xgress,
  XGRESS_DEFAULTS,
  type DataFrame,
  type Frame,
  type XgressPort,
} from '#wire';
import type { Channel } from '#net';
import type { Destination, Forwarder } from '../forwarder.ts';

const { edge } = headerId;
const FIN = 1;
/** A Data connection whose circuit takes no more stops its whole channel: that is how OpenZiti's Data flow is. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

export interface EdgeCircuitOptions {
  readonly channel: Channel;
  readonly forwarder: Forwarder;
  readonly circuitId: string;
  /** Own address in the circuit. */
  readonly address: string;
  readonly connId: number;
  readonly isTerminator: boolean;
  /** The end is over; called once. `byOverlay`: the overlay took the circuit away, it knows already. */
  onClosed(circuit: EdgeCircuit, byOverlay: boolean): void;
}

export interface EdgeCircuit extends Destination {
  readonly circuitId: string;
  readonly address: string;
  readonly connId: number;
  readonly isTerminator: boolean;
  /** The SDK closed it (or its channel went): the rest of the circuit is told. */
  close(): void;
}

/** The SDK's frames pass through unchanged but for the connection id. */
export class XgressCircuit implements EdgeCircuit {
  readonly circuitId: string;
  readonly address: string;
  readonly connId: number;
  readonly isTerminator: boolean;
  readonly #options: EdgeCircuitOptions;
  #isOver = false;

  constructor(options: EdgeCircuitOptions) {
    this.#options = options;
    this.circuitId = options.circuitId;
    this.address = options.address;
    this.connId = options.connId;
    this.isTerminator = options.isTerminator;
  }

  /** From the overlay to the SDK. */
  deliver(frame: DataFrame): void {
    frame.connId = this.connId;
    this.#options.channel.sendData(frame);
  }

  /** From the SDK to the overlay. */
  onData(frame: DataFrame): void {
    frame.connId = undefined;
    this.#options.forwarder.forward(this.circuitId, this.address, frame);
  }

  unrouted(): void {
    this.#end(true);
  }

  close(): void {
    if (this.#isOver) return;
    this.#options.forwarder.unregister(this.circuitId, this.address);
    this.#end(false);
  }

  #end(byOverlay: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.channel.send(stateClosed(this.connId, 'xgress unrouted'));
    this.#options.onClosed(this, byOverlay);
  }
}

/** The router's own end of xgress, for an SDK that exchanges Data frames. */
export class DataCircuit implements EdgeCircuit {
  readonly circuitId: string;
  readonly address: string;
  readonly connId: number;
  readonly isTerminator: boolean;
  readonly #options: EdgeCircuitOptions;
  readonly #xgress: Xgress;
  readonly #acknowledgeLater: (circuit: DataCircuit) => void;
  #isReadingStopped = false;
  #isOver = false;

  constructor(options: EdgeCircuitOptions, acknowledgeLater: (circuit: DataCircuit) => void) {
    this.#options = options;
    this.circuitId = options.circuitId;
    this.address = options.address;
    this.connId = options.connId;
    this.isTerminator = options.isTerminator;
    this.#acknowledgeLater = acknowledgeLater;
    this.#xgress = new Xgress(options.circuitId, options.isTerminator, XGRESS_DEFAULTS, this.#port());
  }

  /** After StateConnected, or once the host knows its connection. */
  start(): void {
    if (!this.isTerminator) this.#xgress.start(Date.now());
    this.#xgress.resume();
  }

  tick(nowMs: number): void {
    if (this.#xgress.isWaitingForAcks) this.#xgress.tick(nowMs);
  }

  flushAcknowledgements(): void {
    if (!this.#isOver) this.#xgress.flushAcknowledgements();
  }

  /** The SDK's channel has room again. */
  onDrain(): void {
    this.#xgress.resume();
  }

  /** From the overlay. */
  deliver(frame: DataFrame): void {
    if (frame.contentType === PAYLOAD_TYPE) this.#xgress.onPayload(frame, Date.now());
    else this.#xgress.onAcknowledgement(frame, Date.now());
  }

  /** A Data frame of the SDK. */
  onSdkData(frame: Frame): void {
    const flags = frame.headers.u32(edge.flags) ?? 0;
    const headers = payloadHeadersOf(frame);
    const isFin = (flags & FIN) !== 0;
    if (frame.body.length > 0 && !this.#xgress.write(frame.body, Date.now(), isFin ? undefined : headers)) {
      if (this.#xgress.bufferedBytes > MAX_BUFFERED_BYTES && !this.#isReadingStopped) {
        this.#isReadingStopped = true;
        this.#options.channel.pauseReading();
      }
    }
    if (isFin) this.#xgress.end(Date.now(), headers);
  }

  unrouted(): void {
    if (this.#isOver) return;
    // What is here already belongs to the SDK, whatever became of the circuit.
    this.#xgress.resume();
    this.#finish();
    this.#options.channel.send(stateClosed(this.connId, 'circuit closed'));
    this.#options.onClosed(this, true);
  }

  close(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#options.forwarder.unregister(this.circuitId, this.address);
    this.#options.onClosed(this, false);
  }

  #port(): XgressPort {
    const { channel, forwarder } = this.#options;
    const forward = (frame: DataFrame): void => forwarder.forward(this.circuitId, this.address, frame);
    return {
      canSend: () => true,
      sendPayload: forward,
      sendAcknowledgement: forward,
      acknowledgementDue: () => this.#acknowledgeLater(this),
      deliver: (data, headers) => this.#toSdk(data, headers),
      deliverEnd: () => {
        const headers = new HeaderWriter().u32(edge.connId, this.connId).u32(edge.flags, FIN);
        channel.send(makeFrame(contentType.data, { headers }));
      },
      drained: () => this.#readAgain(),
    };
  }

  #readAgain(): void {
    if (!this.#isReadingStopped) return;
    this.#isReadingStopped = false;
    this.#options.channel.resumeReading();
  }

  #finish(): void {
    this.#isOver = true;
    this.#readAgain();
  }

  #toSdk(data: Uint8Array, headers: Map<number, Uint8Array> | undefined): void {
    const writer = new HeaderWriter().u32(edge.connId, this.connId);
    const flags = headers?.get(PAYLOAD_HEADERS.edgeFlags);
    if (flags?.length === 4) writer.bytes(edge.flags, flags);
    const trace = headers?.get(PAYLOAD_HEADERS.traceId);
    if (trace !== undefined) writer.bytes(edge.uuid, trace);
    if (!this.#options.channel.send(makeFrame(contentType.data, { headers: writer, body: data })))
      this.#xgress.pause();
  }
}

export function stateClosed(connId: number, reason: string, codes = FrameHeaders.empty): Frame {
  const headers = new HeaderWriter().u32(edge.connId, connId).copy(codes);
  return makeFrame(contentType.stateClosed, { headers, body: reason });
}

/** What a Data frame's headers become on the overlay: flags and trace id, nothing else. */
function payloadHeadersOf(frame: Frame): Map<number, Uint8Array> | undefined {
  const flags = frame.headers.bytes(edge.flags);
  const trace = frame.headers.bytes(edge.uuid);
  if (flags === undefined && trace === undefined) return undefined;
  const headers = new Map<number, Uint8Array>();
  if (flags?.length === 4) headers.set(PAYLOAD_HEADERS.edgeFlags, flags);
  if (trace !== undefined) headers.set(PAYLOAD_HEADERS.traceId, trace);
  return headers;
}
