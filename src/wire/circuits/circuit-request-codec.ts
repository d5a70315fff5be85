/**
 * Responses to a CircuitRequest, with which a router requests a circuit of its own. A success keeps its content
 * in headers.
 */
import { FrontdoorError, textOf } from '#base';
import type { PeerData } from './ctrl-messages-circuit.ts';
import { asReplyTo, makeFrame, type Frame } from '../frame-codec.ts';
import { HeaderWriter } from '../frame-headers.ts';
import { headerId } from '../header-table.ts';
import { contentType } from '../message-table.ts';

export interface CircuitGranted {
  readonly circuitId: string;
  /** The ingress address. */
  readonly address: string;
  readonly peerData: PeerData;
}

const { ctrl, channel } = headerId;

export function encodeCircuitSuccess(
  request: Frame,
  { circuitId, address, peerData }: CircuitGranted,
): Frame {
  const headers = new HeaderWriter().text(ctrl.ingressAddress, address);
  for (const [key, value] of peerData) headers.bytes(key, value);
  return asReplyTo(request, makeFrame(contentType.circuitSuccess, { headers, body: circuitId }));
}

export function encodeCircuitFailed(request: Frame, reason: string): Frame {
  return asReplyTo(request, makeFrame(contentType.circuitFailed, { body: reason }));
}

/**
 * @throws FrontdoorError `badGateway` with the controller's reason; `protocol` if the response is neither a
 * success nor a refusal.
 */
export function decodeCircuitAnswer(answer: Frame): CircuitGranted {
  if (answer.contentType === contentType.circuitFailed) {
    const reason = textOf(answer.body) || 'no reason given';
    throw new FrontdoorError('badGateway', 'circuit-refused', `the controller refused: ${reason}`);
  }
  const circuitId = textOf(answer.body);
  const address = answer.headers.text(ctrl.ingressAddress) ?? '';
  if (answer.contentType !== contentType.circuitSuccess || circuitId === '' || address === '') {
    throw new FrontdoorError('protocol', 'malformed-body', 'malformed answer to a CircuitRequest');
  }
  const peerData = new Map<number, Uint8Array>();
  for (const [key, value] of answer.headers.entries()) {
    if (key > channel.reflected && key !== ctrl.ingressAddress) peerData.set(key, value);
  }
  return { circuitId, address, peerData };
}
