/**
 * Control frames of circuits (1102): a traceroute that counts down hop by hop, and its response on the way back.
 * The body is a type byte and the circuit's id; everything else is in headers.
 */
import { concatBytes, textOf, utf8 } from '#base';
import { makeFrame, type Frame } from './frame-codec.ts';
import { HeaderWriter } from './frame-headers.ts';
import { headerId } from './header-table.ts';
import { contentType } from './message-table.ts';

const TRACE_ROUTE = 1;
const TRACE_ROUTE_RESPONSE = 2;
const MAX_CIRCUIT_ID_BYTES = 64;

const { xgressControl } = headerId;
/** Headers that belong to the channel of the frame, not to the circuit. */
const CHANNEL_HEADERS: ReadonlySet<number> = new Set([
  headerId.channel.replyFor,
  headerId.channel.heartbeat,
  headerId.channel.heartbeatResponse,
  headerId.edge.connId,
]);

export interface ControlFrame {
  readonly isTrace: boolean;
  readonly isResponse: boolean;
  readonly circuitId: string;
  readonly hops: number;
  readonly frame: Frame;
}

/** Returns undefined if there is no circuit id. Types other than traces are forwarded unchanged. */
export function decodeControl(frame: Frame): ControlFrame | undefined {
  const { body } = frame;
  if (body.length < 2 || body.length > MAX_CIRCUIT_ID_BYTES + 1) return undefined;
  return {
    isTrace: body[0] === TRACE_ROUTE,
    isResponse: body[0] === TRACE_ROUTE_RESPONSE,
    circuitId: textOf(body.subarray(1)),
    hops: frame.headers.u32(xgressControl.hopCount) ?? 0,
    frame,
  };
}

/** Returns the frame for the next address: without the headers of the received channel, with the remaining hops. */
export function controlToPass({ frame }: ControlFrame, hops?: number): Frame {
  const headers = new HeaderWriter();
  for (const [key, value] of frame.headers.entries()) {
    if (CHANNEL_HEADERS.has(key) || (hops !== undefined && key === xgressControl.hopCount)) continue;
    headers.bytes(key, value);
  }
  if (hops !== undefined) headers.u32(xgressControl.hopCount, hops);
  return makeFrame(contentType.control, { headers, body: frame.body });
}

export interface TraceHop {
  /** `forwarder`, `xgress/transport`, … */
  readonly type: string;
  readonly id: string;
  readonly hops: number;
  readonly error?: string | undefined;
}

/** Returns the response to a trace, with the trace's own data and the responding hop. */
export function traceResponse({ frame, circuitId }: ControlFrame, hop: TraceHop): Frame {
  const headers = new HeaderWriter();
  for (const [key, value] of frame.headers.entries()) {
    const isOfHop = key >= xgressControl.hopCount && key <= xgressControl.hopId;
    if (!CHANNEL_HEADERS.has(key) && !isOfHop) headers.bytes(key, value);
  }
  headers.u32(xgressControl.hopCount, hop.hops).text(xgressControl.hopType, hop.type);
  headers.text(xgressControl.hopId, hop.id);
  if (hop.error !== undefined) headers.text(xgressControl.error, hop.error);
  return makeFrame(contentType.control, { headers, body: bodyOf(TRACE_ROUTE_RESPONSE, circuitId) });
}

/** Returns a trace of a circuit that begins here. `userValue` and `timestamp` (ns) are returned with the response. */
export function traceRequest(circuitId: string, hops: number, userValue: number, timestamp: bigint): Frame {
  const headers = new HeaderWriter()
    .u32(xgressControl.hopCount, hops)
    .u32(xgressControl.userValue, userValue)
    .u64(xgressControl.timestamp, timestamp);
  return makeFrame(contentType.control, { headers, body: bodyOf(TRACE_ROUTE, circuitId) });
}

function bodyOf(type: number, circuitId: string): Uint8Array {
  return concatBytes([Uint8Array.of(type), utf8(circuitId)]);
}
