/**
 * Frames around a dial: the data that a dialing SDK gives about itself, the answer to it, the Dial that offers the
 * circuit to the hosting SDK, and the connection id in that SDK's answer.
 */
import { FrontdoorError, utf8 } from '#base';
import { contentType, HeaderWriter, headerId, makeFrame, type Frame } from '#wire';
import type { CircuitCreated } from '#wire/circuits';
import type { EdgeTerminator } from './edge-terminator-registry.ts';

const { edge, peerData: peer } = headerId;

export interface IncomingCircuit {
  readonly circuitId: string;
  /** The address of the egress end. */
  readonly address: string;
  readonly controllerId: string;
  readonly peerData: ReadonlyMap<number, Uint8Array>;
}

/** `connId` is an id that the router assigns, for hosts that accept one. */
export function dialFrame(
  terminator: EdgeTerminator,
  incoming: IncomingCircuit,
  connId: number | undefined,
): Frame {
  const headers = new HeaderWriter()
    .u32(edge.connId, terminator.connId)
    .text(edge.circuitId, incoming.circuitId);
  for (const [key, value] of incoming.peerData) {
    if (key === peer.dialerIdentityId) headers.bytes(edge.dialerIdentityId, value);
    else if (key === peer.dialerIdentityName) headers.bytes(edge.dialerIdentityName, value);
    else if (DIAL_KEYS.has(key)) headers.bytes(key, value);
  }
  if (connId !== undefined) headers.u32(edge.routerProvidedConnId, connId);
  if (connId !== undefined && terminator.takesXgress) {
    headers
      .bool(edge.useXgressToSdk, true)
      .text(edge.xgressCtrlId, incoming.controllerId)
      .text(edge.xgressAddress, incoming.address);
  }
  return makeFrame(contentType.dial, { headers, body: terminator.token });
}

const DIAL_KEYS: ReadonlySet<number> = new Set([
  edge.publicKey,
  edge.callerId,
  edge.appData,
  edge.connectionMarker,
]);

/** @throws FrontdoorError `protocol` when the body is not a u32. */
export function connIdOfBody(frame: Frame): number {
  const { body } = frame;
  if (body.length !== 4) throw new FrontdoorError('protocol', 'malformed-body', 'malformed DialSuccess');
  return (body[0]! | (body[1]! << 8) | (body[2]! << 16) | (body[3]! << 24)) >>> 0;
}

/** Returns the peer data that the host receives about the dialer. */
export function dialerData(connect: Frame, identityId: string): Map<number, Uint8Array> {
  const data = new Map<number, Uint8Array>();
  for (const key of DIAL_KEYS) {
    const value = connect.headers.bytes(key);
    if (value !== undefined) data.set(key, value);
  }
  const stickiness = connect.headers.bytes(edge.stickinessToken);
  if (stickiness !== undefined) data.set(peer.stickinessToken, stickiness);
  data.set(peer.dialerIdentityId, utf8(identityId));
  return data;
}

/**
 * Creates the answer to a Connect whose circuit is established. `controllerId` is the circuit's controller, for a
 * dialer that uses xgress.
 */
export function connectedFrame(
  connId: number,
  { circuitId, address, peerData }: CircuitCreated,
  controllerId: string | undefined,
): Frame {
  const headers = new HeaderWriter().u32(edge.connId, connId).text(edge.circuitId, circuitId);
  if (controllerId !== undefined) {
    headers
      .bool(edge.useXgressToSdk, true)
      .text(edge.xgressCtrlId, controllerId)
      .text(edge.xgressAddress, address);
  }
  for (const [key, value] of peerData) {
    if (key === peer.stickinessToken) headers.bytes(edge.stickinessToken, value);
    else if (key >= edge.connId && key !== edge.leakedRouteAttempt) headers.bytes(key, value);
  }
  return makeFrame(contentType.stateConnected, { headers });
}
