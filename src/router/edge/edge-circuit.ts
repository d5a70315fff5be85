/**
 * One end of a circuit at an SDK's channel, for an SDK that speaks xgress itself: frames pass through, the window is
 * the SDK's. The other kind, whose window the router holds, is in data-circuit.ts.
 */
import {
  contentType,
  FrameHeaders,
  HeaderWriter,
  headerId,
  makeFrame,
  PAYLOAD_FLAGS,
  PAYLOAD_TYPE,
  traceResponse,
  type ControlFrame,
  type DataFrame,
  type Frame,
  type PayloadFrame,
} from '#wire';
import type { Channel } from '#net';
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
  /** Own address in the circuit. */
  readonly address: string;
  /** The circuit's. */
  readonly controllerId: string;
  readonly connId: number;
  readonly isTerminator: boolean;
  readonly meters: SideMeters;
  /** Of the channel: payloads from the overlay go through it. */
  readonly gate: TransitGate;
  /** Of the channel. */
  readonly reading: FrameSource;
  /** The connection is over; called once. */
  onClosed(circuit: EdgeCircuit): void;
  /** Called when the circuit ended from this side, so that its controller is notified. */
  onEnded(circuit: EdgeCircuit): void;
}

export interface EdgeCircuit extends CircuitEnd {
  readonly circuitId: string;
  readonly address: string;
  readonly controllerId: string;
  readonly connId: number;
  readonly isTerminator: boolean;
  /** The SDK closed it, or its channel ended: the rest of the circuit is notified. */
  close(): void;
  /** The SDK's TraceRoute. */
  onTrace(request: Frame): void;
}

/** The SDK's frames pass through unchanged but for the connection id. */
export class XgressCircuit implements EdgeCircuit {
  readonly kind = 'xg-edge-fwd';
  readonly circuitId: string;
  readonly address: string;
  readonly controllerId: string;
  readonly connId: number;
  readonly isTerminator: boolean;
  readonly source: FrameSource;
  readonly #options: EdgeCircuitOptions;
  #isOver = false;

  constructor(options: EdgeCircuitOptions) {
    this.#options = options;
    this.circuitId = options.circuitId;
    this.address = options.address;
    this.controllerId = options.controllerId;
    this.connId = options.connId;
    this.isTerminator = options.isTerminator;
    this.source = options.reading;
  }

  get isWritable(): boolean {
    return this.#options.gate.isOpen;
  }

  /** From the overlay to the SDK. */
  deliver(frame: DataFrame): void {
    if (isNewData(frame)) this.#options.meters.sent(this.circuitId, frame.data.length);
    frame.connId = this.connId;
    this.#options.channel.sendData(frame);
  }

  /** The same while the SDK's channel is full: what found no room there would be dropped. */
  deliverLater(payload: PayloadFrame, source: FrameSource | undefined): void {
    if (isNewData(payload)) this.#options.meters.sent(this.circuitId, payload.data.length);
    payload.connId = this.connId;
    this.#options.gate.pass(payload, source);
  }

  /** From the SDK to the overlay. */
  onData(frame: DataFrame): void {
    if (isNewData(frame)) this.#options.meters.received(this.circuitId, frame.data.length);
    frame.connId = undefined;
    this.#options.forwarder.forward(this.circuitId, this.address, frame);
  }

  /** The SDK's own window decides; while a link is full, its channel is not read. */
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

  unrouted(): void {
    this.#end();
  }

  close(): void {
    if (this.#isOver) return;
    this.#options.forwarder.unregister(this.circuitId, this.address);
    this.#end();
    this.#options.onEnded(this);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.channel.send(stateClosed(this.connId, 'xgress unrouted'));
    this.#options.onClosed(this);
  }
}

export function stateClosed(connId: number, reason: string, codes = FrameHeaders.empty): Frame {
  const headers = new HeaderWriter().u32(edge.connId, connId).copy(codes);
  return makeFrame(contentType.stateClosed, { headers, body: reason });
}

/** A trace ends at the router, which speaks for the SDK; answers go to the SDK that asked. */
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

/** Bytes that count: what is sent again does not. */
function isNewData(frame: DataFrame): frame is Extract<DataFrame, { contentType: typeof PAYLOAD_TYPE }> {
  return frame.contentType === PAYLOAD_TYPE && (frame.flags & PAYLOAD_FLAGS.retransmit) === 0;
}
