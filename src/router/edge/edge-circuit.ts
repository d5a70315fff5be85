/**
 * One end of a circuit for an SDK that runs xgress itself: frames pass through, and the SDK controls the window. For
 * other SDKs the router controls the window, in data-circuit.ts.
 */
import {
  contentType,
  FrameHeaders,
  HeaderWriter,
  headerId,
  makeFrame,
  traceResponse,
  type ControlFrame,
  type Frame,
} from '#wire';
import { PAYLOAD_FLAGS, PAYLOAD_TYPE, type DataFrame, type PayloadFrame } from '#wire/xgress';
import { failAlone } from '#net';
import type { Channel } from '#net/channel';
import type { CircuitEnd, FrameSource } from '../forwarder/destination.ts';
import type { Forwarder } from '../forwarder/forwarder.ts';
import type { TransitGate } from '../forwarder/transit-gate.ts';
import type { SideMeters } from '../xgress/xgress-meters.ts';
import { edgeHop, traceOfSdk, traceResponseToSdk } from './edge-trace.ts';

const { edge } = headerId;

export interface EdgeCircuitOptions {
  readonly channel: Channel;
  readonly forwarder: Forwarder;
  readonly circuitId: string;
  /** The address of this end in the circuit. */
  readonly address: string;
  /** The controller of the circuit. */
  readonly controllerId: string;
  readonly connId: number;
  readonly isTerminator: boolean;
  /** Token of the service session that permits it. */
  readonly sessionToken: string;
  readonly meters: SideMeters;
  /** The gate of the channel, which payloads from the overlay pass. */
  readonly gate: TransitGate;
  /** Pauses and resumes reading of the channel. */
  readonly reading: FrameSource;
  /** Called once, when the connection is over. */
  onClosed(circuit: EdgeCircuit): void;
  /** Called when the circuit ended on this side, so that its controller is notified. */
  onEnded(circuit: EdgeCircuit): void;
}

/**
 * Sessions that controllers keep, and whose end they report, have UUIDs as tokens. Signed tokens are longer and end by the
 * data model, so they are not kept for each circuit.
 */
const MAX_KEPT_TOKEN_CHARACTERS = 128;

/** Returns the token of a session whose end controllers report, and an empty text for others. */
export function keptToken(token: string): string {
  return token.length <= MAX_KEPT_TOKEN_CHARACTERS ? token : '';
}

/** For an event of one circuit, or of one after the other: an exception removes this circuit alone. */
export function ofCircuit(circuit: EdgeCircuit, forwarder: Forwarder, work: () => void): void {
  try {
    work();
  } catch (error) {
    const { circuitId: id } = circuit;
    failAlone({ kind: 'circuit', id, fail: () => forwarder.unroute(id) }, error);
  }
}

export function eachCircuit<Circuit extends EdgeCircuit>(
  circuits: Iterable<Circuit>,
  forwarder: Forwarder,
  work: (circuit: Circuit) => void,
): void {
  for (const circuit of circuits) ofCircuit(circuit, forwarder, () => work(circuit));
}

export interface EdgeCircuit extends CircuitEnd {
  readonly circuitId: string;
  readonly address: string;
  readonly controllerId: string;
  readonly connId: number;
  readonly isTerminator: boolean;
  /** Empty unless controllers report the end of its session. */
  readonly sessionToken: string;
  /** Called when the SDK closed it or its channel ended. Notifies the rest of the circuit. */
  close(): void;
  /** Handles a TraceRoute frame of the SDK. */
  onTrace(request: Frame): void;
}

/** Each of these flags marks the last payload of its direction. */
const LAST_PAYLOAD = PAYLOAD_FLAGS.eof | PAYLOAD_FLAGS.circuitEnd;

/** Frames of the SDK pass through unchanged except for the connection id. */
export class XgressCircuit implements EdgeCircuit {
  readonly kind = 'xg-edge-fwd';
  readonly circuitId: string;
  readonly address: string;
  readonly controllerId: string;
  readonly connId: number;
  readonly isTerminator: boolean;
  readonly sessionToken: string;
  readonly source: FrameSource;
  readonly #options: EdgeCircuitOptions;
  #isOver = false;
  #hasLastPayload = false;
  #hasSdkEnded = false;

  constructor(options: EdgeCircuitOptions) {
    this.#options = options;
    this.circuitId = options.circuitId;
    this.address = options.address;
    this.controllerId = options.controllerId;
    this.connId = options.connId;
    this.isTerminator = options.isTerminator;
    this.sessionToken = keptToken(options.sessionToken);
    this.source = options.reading;
  }

  get isWritable(): boolean {
    return this.#options.gate.isOpen;
  }

  get hasLastPayload(): boolean {
    return this.#hasLastPayload;
  }

  /** Sends a frame from the overlay to the SDK. */
  deliver(frame: DataFrame): void {
    if (isNewData(frame)) this.#onPayload(frame);
    frame.connId = this.connId;
    this.#options.channel.sendData(frame);
  }

  /** Sends a payload while the SDK's channel is full, where `deliver` would drop it. */
  deliverLater(payload: PayloadFrame, source: FrameSource | undefined): void {
    if (isNewData(payload)) this.#onPayload(payload);
    payload.connId = this.connId;
    this.#options.gate.pass(payload, source);
  }

  /** Forwards a frame from the SDK to the overlay. */
  onData(frame: DataFrame): void {
    if (isNewData(frame)) {
      this.#options.meters.received(this.circuitId, frame.data.length);
      if ((frame.flags & LAST_PAYLOAD) !== 0) this.#hasSdkEnded = true;
    }
    frame.connId = undefined;
    this.#options.forwarder.forward(this.circuitId, this.address, frame);
  }

  /** Does nothing, because the SDK controls its own window. While a link is full, the SDK's channel is not read. */
  onWritable(): void {}

  onControl(control: ControlFrame): void {
    onControl(this, this.#options, control);
  }

  onTrace(request: Frame): void {
    onTrace(this, this.#options, request);
  }

  inspect(): object {
    return inspectEdge(this);
  }

  /** An SDK that has ended both directions is not notified, because a Go SDK would discard what it has not read. */
  unrouted(): void {
    if (this.#hasLastPayload && this.#hasSdkEnded) this.#leave();
    else this.#end();
  }

  close(): void {
    if (this.#isOver) return;
    this.#options.forwarder.unregister(this.circuitId, this.address);
    this.#end();
    this.#options.onEnded(this);
  }

  #onPayload({ data, flags }: PayloadFrame): void {
    this.#options.meters.sent(this.circuitId, data.length);
    if ((flags & LAST_PAYLOAD) !== 0) this.#hasLastPayload = true;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#options.channel.send(stateClosed(this.connId, 'xgress unrouted'));
    this.#leave();
  }

  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onClosed(this);
  }
}

export function stateClosed(connId: number, reason: string, codes = FrameHeaders.empty): Frame {
  const headers = new HeaderWriter().u32(edge.connId, connId).copy(codes);
  return makeFrame(contentType.stateClosed, { headers, body: reason });
}

/** A trace ends at the router, which answers for the SDK. Answers to the SDK's own traces go to the SDK. */
export function onControl(
  { address, connId }: EdgeCircuit,
  { channel, forwarder }: EdgeCircuitOptions,
  control: ControlFrame,
): void {
  if (control.isTrace) forwarder.control(address, traceResponse(control, edgeHop(control.hops)));
  else if (control.isResponse) channel.send(traceResponseToSdk(connId, control));
}

export function onTrace(
  { address, circuitId }: EdgeCircuit,
  { channel, forwarder }: EdgeCircuitOptions,
  request: Frame,
): void {
  const trace = traceOfSdk(request, circuitId);
  if (trace.kind === 'answer') channel.send(trace.frame);
  else forwarder.control(address, trace.frame);
}

export function inspectEdge({ connId, controllerId, isTerminator }: EdgeCircuit): Record<string, unknown> {
  return {
    originator: isTerminator ? 'Terminator' : 'Initiator',
    ctrlId: controllerId,
    edgeConnId: connId,
  };
}

/** Returns true for payload bytes that count. Retransmissions do not. */
function isNewData(frame: DataFrame): frame is Extract<DataFrame, { contentType: typeof PAYLOAD_TYPE }> {
  return frame.contentType === PAYLOAD_TYPE && (frame.flags & PAYLOAD_FLAGS.retransmit) === 0;
}
