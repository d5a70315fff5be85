/** Traceroutes: converts between edge messages of an SDK and control frames of a circuit. */
import {
  contentType,
  HeaderWriter,
  headerId,
  makeFrame,
  REPLY_FOR,
  traceRequest,
  type ControlFrame,
  type Frame,
} from '#wire';

const { edge, xgressControl } = headerId;
const EDGE_HOP = 'xgress/edge';

/** The result of an SDK's TraceRoute: an answer if it ends here, or a trace of the circuit. */
export type SdkTrace =
  | { readonly kind: 'answer'; readonly frame: Frame }
  | { readonly kind: 'trace'; readonly frame: Frame };

/** `circuitId` is undefined if the connection has no circuit. */
export function traceOfSdk(request: Frame, circuitId: string | undefined): SdkTrace {
  const { headers } = request;
  const hops = Math.max(0, (headers.u32(edge.traceHopCount) ?? 0) - 1);
  const timestamp = headers.u64(edge.timestamp) ?? 0n;
  if (hops > 0 && circuitId !== undefined)
    return { kind: 'trace', frame: traceRequest(circuitId, hops, request.sequence >>> 0, timestamp) };
  const answer = hopHeaders(headers.u32(edge.connId) ?? 0, hops, timestamp, EDGE_HOP, '');
  const uuid = headers.bytes(edge.uuid);
  if (uuid !== undefined) answer.bytes(edge.uuid, uuid);
  const frame = makeFrame(contentType.traceRouteResponse, {
    headers: new HeaderWriter().u32(REPLY_FOR, request.sequence).copy(answer.build()),
  });
  return { kind: 'answer', frame };
}

/** Returns the answer for the SDK that sent the trace. */
export function traceResponseToSdk(connId: number, { frame, hops }: ControlFrame): Frame {
  const { headers } = frame;
  const timestamp = headers.u64(xgressControl.timestamp) ?? 0n;
  const type = headers.text(xgressControl.hopType) ?? '';
  const id = headers.text(xgressControl.hopId) ?? '';
  const answer = hopHeaders(connId, hops, timestamp, type, id);
  answer.u32(REPLY_FOR, headers.u32(xgressControl.userValue) ?? 0);
  const error = headers.text(xgressControl.error);
  if (error !== undefined) answer.text(edge.traceError, error);
  return makeFrame(contentType.traceRouteResponse, { headers: answer });
}

/** Creates the router's answer to a trace that reached this end of the circuit. */
export function edgeHop(hops: number): { readonly type: string; readonly id: string; readonly hops: number } {
  return { type: EDGE_HOP, id: '', hops: Math.max(0, hops - 1) };
}

function hopHeaders(connId: number, hops: number, timestamp: bigint, type: string, id: string): HeaderWriter {
  return new HeaderWriter()
    .u32(edge.connId, connId)
    .u32(edge.traceHopCount, hops)
    .u64(edge.timestamp, timestamp)
    .text(edge.traceHopType, type)
    .text(edge.traceHopId, id);
}
