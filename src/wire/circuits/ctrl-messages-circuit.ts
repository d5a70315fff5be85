/**
 * Control-channel messages about circuits that keep their content in headers: CreateCircuitV2 and V3 with their
 * responses and refusals, RouteResult. Decoders treat absent headers as empty and refuse malformed ones.
 */
import { EMPTY_BYTES, FrontdoorError, textOf } from '#base';
import { asReplyTo, makeFrame, type Frame } from '../frame-codec.ts';
import { HeaderWriter } from '../frame-headers.ts';
import { headerId } from '../header-table.ts';
import {
  decodeBytesMap,
  decodeTextList,
  decodeTextMap,
  encodeBytesMap,
  encodeTextList,
  encodeTextMap,
} from '../header-values.ts';
import { contentType, messageName } from '../message-table.ts';

/** Edge header id to value: data that the two ends of a circuit exchange while it is made. */
export type PeerData = ReadonlyMap<number, Uint8Array>;

/** An entry of peer data in its protobuf form. */
export interface PeerDataEntry {
  readonly key: number;
  readonly value: Uint8Array;
}

/** Why a router could not carry out a Route. */
export const RouteErrorCode = {
  generic: 0,
  /** The terminator no longer exists; the controller deletes it. */
  invalidTerminator: 1,
  misconfiguredTerminator: 2,
  dialTimeout: 3,
  connectionRefused: 4,
  rejectedByApplication: 5,
  dnsFailed: 6,
  portNotAllowed: 7,
  invalidLinkDestination: 8,
  resourcesNotAvailable: 9,
} as const;

/** Why an edge request was refused. */
export const EdgeErrorCode = {
  internal: 1,
  invalidApiSession: 2,
  invalidSession: 3,
  wrongSessionType: 4,
  invalidEdgeRouterForSession: 5,
  invalidService: 6,
  tunnelingNotEnabled: 7,
  invalidTerminator: 8,
  invalidPrecedence: 9,
  invalidCost: 10,
  encryptionDataMissing: 11,
  /** Our own code, from a router to a client of Frontdoor: no control plane responds. */
  noController: 61_001,
} as const;

export const RetryHint = { none: 0, tooBusy: 1, startOver: 2, notRetriable: 3 } as const;

export interface CircuitRequestV2 {
  readonly sessionToken: string;
  readonly apiSessionToken: string;
  readonly fingerprints: readonly string[];
  readonly terminatorInstanceId: string;
  readonly peerData: PeerData;
}

export interface CircuitRequestV3 extends Omit<CircuitRequestV2, 'sessionToken'> {
  readonly identityId: string;
  readonly serviceId: string;
  /** Empty if the controller is to make one. */
  readonly circuitId: string;
}

export interface CircuitCreated {
  readonly circuitId: string;
  /** The ingress address. */
  readonly address: string;
  readonly peerData: PeerData;
  readonly tags: ReadonlyMap<string, string>;
}

export interface EdgeRefusal {
  readonly text: string;
  readonly code: number;
  readonly retryHint: number;
  readonly circuitId?: string | undefined;
  /** Set if a router could not route (header of RouteResult; OpenZiti sends none here). */
  readonly routeErrorCode?: number | undefined;
}

export interface RouteResult {
  readonly circuitId: string;
  readonly attempt: number;
  readonly isSuccess: boolean;
  /** Empty on success. */
  readonly error: string;
  readonly errorCode: number;
  readonly peerData: PeerData;
}

const { createCircuit, createCircuitResult, ctrl, edgeCtrl } = headerId;

export function encodeCreateCircuitV2(request: CircuitRequestV2): Frame {
  const headers = new HeaderWriter()
    .text(createCircuit.sessionToken, request.sessionToken)
    .text(createCircuit.apiSessionToken, request.apiSessionToken)
    .bytes(createCircuit.fingerprints, encodeTextList(request.fingerprints))
    .text(createCircuit.terminatorInstanceId, request.terminatorInstanceId)
    .bytes(createCircuit.peerData, encodeBytesMap(request.peerData));
  return makeFrame(contentType.createCircuitV2, { headers });
}

/** @throws FrontdoorError `protocol` */
export function decodeCreateCircuitV2(frame: Frame): CircuitRequestV2 {
  const { headers } = frame;
  return {
    sessionToken: headers.text(createCircuit.sessionToken) ?? '',
    apiSessionToken: headers.text(createCircuit.apiSessionToken) ?? '',
    fingerprints: known(frame, decodeTextList(headers.bytes(createCircuit.fingerprints) ?? EMPTY_BYTES)),
    terminatorInstanceId: headers.text(createCircuit.terminatorInstanceId) ?? '',
    peerData: known(frame, decodeBytesMap(headers.bytes(createCircuit.peerData) ?? EMPTY_BYTES)),
  };
}

/** @throws FrontdoorError `protocol` */
export function decodeCreateCircuitV3(frame: Frame): CircuitRequestV3 {
  const { sessionToken: _none, ...shared } = decodeCreateCircuitV2(frame);
  return {
    ...shared,
    identityId: frame.headers.text(createCircuit.identityId) ?? '',
    serviceId: frame.headers.text(createCircuit.serviceId) ?? '',
    circuitId: frame.headers.text(createCircuit.circuitId) ?? '',
  };
}

/** Returns the response to CreateCircuitV2 or V3, whichever `request` is. */
export function encodeCircuitCreated(request: Frame, created: CircuitCreated): Frame {
  const isV3 = request.contentType === contentType.createCircuitV3;
  const type = isV3 ? contentType.createCircuitV3Response : contentType.createCircuitV2Response;
  const headers = new HeaderWriter()
    .text(createCircuitResult.circuitId, created.circuitId)
    .text(createCircuitResult.address, created.address)
    .bytes(createCircuitResult.peerData, encodeBytesMap(created.peerData))
    .bytes(createCircuitResult.tags, encodeTextMap(created.tags));
  return asReplyTo(request, makeFrame(type, { headers }));
}

/** @throws FrontdoorError `protocol`, also if circuit id or address is absent. */
export function decodeCircuitCreated(frame: Frame): CircuitCreated {
  const { headers } = frame;
  return {
    circuitId: known(frame, nonEmpty(headers.text(createCircuitResult.circuitId))),
    address: known(frame, nonEmpty(headers.text(createCircuitResult.address))),
    peerData: known(frame, decodeBytesMap(headers.bytes(createCircuitResult.peerData) ?? EMPTY_BYTES)),
    tags: known(frame, decodeTextMap(headers.bytes(createCircuitResult.tags) ?? EMPTY_BYTES)),
  };
}

export function encodeEdgeRefusal(request: Frame, refusal: EdgeRefusal): Frame {
  const headers = new HeaderWriter()
    .u32(edgeCtrl.errorCode, refusal.code)
    .u32(edgeCtrl.retryHint, refusal.retryHint);
  if (refusal.circuitId !== undefined) headers.text(edgeCtrl.circuitId, refusal.circuitId);
  if (refusal.routeErrorCode !== undefined) headers.u8(ctrl.routeErrorCode, refusal.routeErrorCode);
  return asReplyTo(request, makeFrame(contentType.error, { headers, body: refusal.text }));
}

export function decodeEdgeRefusal(frame: Frame): EdgeRefusal {
  const circuitId = frame.headers.text(edgeCtrl.circuitId);
  const routeErrorCode = frame.headers.u8(ctrl.routeErrorCode);
  return {
    text: textOf(frame.body),
    code: frame.headers.u32(edgeCtrl.errorCode) ?? 0,
    retryHint: frame.headers.u32(edgeCtrl.retryHint) ?? RetryHint.none,
    circuitId,
    routeErrorCode,
  };
}

/** Answers a Route. `peerData` is included on success only. */
export function encodeRouteResult(route: Frame, result: RouteResult): Frame {
  const headers = new HeaderWriter().u32(ctrl.routeAttempt, result.attempt);
  if (result.isSuccess) {
    headers.bool(ctrl.routeSuccess, true);
    for (const [key, value] of result.peerData) headers.bytes(key, value);
  } else {
    headers.text(ctrl.routeError, result.error).u8(ctrl.routeErrorCode, result.errorCode);
  }
  return asReplyTo(route, makeFrame(contentType.routeResult, { headers, body: result.circuitId }));
}

/** @throws FrontdoorError `protocol` without a circuit id or with an attempt that is not a u32. */
export function decodeRouteResult(frame: Frame): RouteResult {
  const { headers } = frame;
  const circuitId = known(frame, nonEmpty(textOf(frame.body)));
  // Channel headers end at 128; OpenZiti's controllers forward all others to the dialer.
  const peerData = new Map<number, Uint8Array>();
  for (const [key, value] of headers.entries()) {
    if (key > headerId.channel.reflected && (key < ctrl.routeAttempt || key > ctrl.routeErrorCode)) {
      peerData.set(key, value);
    }
  }
  const hasAttempt = headers.has(ctrl.routeAttempt);
  return {
    circuitId,
    attempt: hasAttempt ? known(frame, headers.u32(ctrl.routeAttempt)) : 0,
    isSuccess: headers.has(ctrl.routeSuccess),
    error: headers.text(ctrl.routeError) ?? '',
    errorCode: headers.u8(ctrl.routeErrorCode) ?? RouteErrorCode.generic,
    peerData,
  };
}

/** Peer data in its protobuf form. */
export function peerDataEntries(peerData: PeerData): PeerDataEntry[] {
  return Array.from(peerData, ([key, value]) => ({ key, value }));
}

/** Peer data from its protobuf form. */
export function peerDataOfEntries(entries: readonly PeerDataEntry[]): Map<number, Uint8Array> {
  const peerData = new Map<number, Uint8Array>();
  for (const { key, value } of entries) peerData.set(key, value);
  return peerData;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function known<T>(frame: Frame, value: T | undefined): T {
  if (value !== undefined) return value;
  throw new FrontdoorError('protocol', 'malformed-headers', `malformed ${messageName(frame.contentType)}`);
}
