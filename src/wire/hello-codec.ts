/**
 * The hello of a channel: the first frame of each connection and its response, with OpenZiti's rules for plain
 * and grouped channels. The caller interprets a peer's own hello headers (session token, version, listeners).
 */
import { asReplyTo, makeFrame, REPLY_FOR, type Frame } from './frame-codec.ts';
import { HeaderWriter, type FrameHeaders } from './frame-headers.ts';

export const HELLO_TYPE = 0;
export const PING_TYPE = 1;
export const RESULT_TYPE = 2;
export const LATENCY_TYPE = 3;
export const HEARTBEAT_TYPE = 5;

/** Ids of channel headers. */
export const CHANNEL_HEADERS = {
  connectionId: 0,
  replyFor: REPLY_FOR,
  resultSuccess: 2,
  version: 4,
  heartbeat: 5,
  heartbeatResponse: 6,
  underlayType: 7,
  id: 8,
  isGrouped: 9,
  groupSecret: 10,
  isFirstGroupConnection: 11,
  rejectClass: 13,
  /** Copied from a request into its reply. */
  reflected: 128,
} as const;

/** The version that all our parts send on the wire. The product's own version appears only in its own APIs. */
export const WIRE_VERSION = 'v1.7.2';

const OWN_REVISION = 'frontdoor';

/** Returns the five parts of header 4; the second one contains our release. */
export function versionHeader(os: string, architecture: string, release = ''): string {
  const revision = release === '' ? OWN_REVISION : `${OWN_REVISION} ${release}`;
  return [WIRE_VERSION, revision, '2026-01-01 00:00:00', os, architecture].join('|');
}

/** Returns our release that a peer runs, '' if its header 4 does not state it, or undefined if the peer is not ours. */
export function ownRelease(text: string | undefined): string | undefined {
  const parts = text?.split('|');
  const [name, release = ''] = (parts?.length === 5 ? parts[1]! : '').split(' ');
  return name === OWN_REVISION ? release : undefined;
}

/** Returns the version part of header 4, or undefined unless it has exactly five parts. */
export function parseVersionHeader(text: string | undefined): string | undefined {
  const parts = text?.split('|');
  return parts?.length === 5 ? parts[0] : undefined;
}

export interface HelloAnswer {
  readonly connectionId: string;
  /** The listener's own id, header 8. */
  readonly ownId: string;
  /** Present if the channel is grouped; echoed as headers 7, 9, 10. */
  readonly group?: { readonly underlayType: string; readonly secret: Uint8Array } | undefined;
  readonly extra?: FrameHeaders | undefined;
}

export function makeHello(id: string, headers: FrameHeaders, sequence = -1): Frame {
  return makeFrame(HELLO_TYPE, { body: id, headers, sequence });
}

export function acceptHello(hello: Frame, answer: HelloAnswer): Frame {
  const headers = new HeaderWriter()
    .bool(CHANNEL_HEADERS.resultSuccess, true)
    .text(CHANNEL_HEADERS.connectionId, answer.connectionId)
    .text(CHANNEL_HEADERS.id, answer.ownId);
  if (answer.group !== undefined) {
    headers
      .text(CHANNEL_HEADERS.underlayType, answer.group.underlayType)
      .bool(CHANNEL_HEADERS.isGrouped, true)
      .bytes(CHANNEL_HEADERS.groupSecret, answer.group.secret);
  }
  if (answer.extra !== undefined) headers.copy(answer.extra);
  return asReplyTo(hello, makeFrame(RESULT_TYPE, { headers, sequence: -1 }));
}

export function rejectHello(hello: Frame, reason: string): Frame {
  const headers = new HeaderWriter().bool(CHANNEL_HEADERS.resultSuccess, false);
  return asReplyTo(hello, makeFrame(RESULT_TYPE, { headers, body: reason, sequence: -1 }));
}

/** Returns a Result with header 2 that answers `request`; header 128 is reflected. */
export function makeResult(request: Frame, isSuccess: boolean, text = ''): Frame {
  const headers = new HeaderWriter().bool(CHANNEL_HEADERS.resultSuccess, isSuccess);
  const reflected = request.headers.bytes(CHANNEL_HEADERS.reflected);
  if (reflected !== undefined) headers.bytes(CHANNEL_HEADERS.reflected, reflected);
  return asReplyTo(request, makeFrame(RESULT_TYPE, { headers, body: text }));
}
