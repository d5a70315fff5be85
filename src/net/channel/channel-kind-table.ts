/**
 * The differences between kinds of channels: by protocol (ALPN), the maximum frame lengths and whether two
 * connections form a link; by type of a connection, the frames that are sent on it. Every connection accepts all
 * frames.
 */
import { contentType, type FrameLimits } from '#wire';

/** `control`: everything except payloads and acknowledgements; `acknowledgements`: only these; `all`: everything. */
export type UnderlayRole = 'all' | 'control' | 'acknowledgements';

const MIB = 1024 * 1024;
const MAX_HEADERS_BYTES = 64 * 1024;
/** Limit for one write of an application, which OpenZiti's SDKs send as one frame. */
const MAX_DATA_BYTES = 16 * MIB;
const DATA_TYPES: ReadonlySet<number> = new Set([contentType.data, contentType.payload]);

/** Limits for the resources of one peer, by protocol. */
export interface PeerLimits {
  /** Channels of one identity at a listener. A foreign SDK opens one for each of its contexts. */
  readonly maxChannels: number;
  /** Connections of all these channels. A link has up to 200. */
  readonly maxConnections: number;
  /** Memory for unfinished frames in bytes. */
  readonly maxUnfinishedBytes: number;
}

interface ChannelKind {
  /** Applies after the hello. */
  readonly frames: FrameLimits;
  readonly peer: PeerLimits;
}

/** Control channels carry whole data models. */
const CTRL: ChannelKind = {
  frames: { maxHeadersBytes: MAX_HEADERS_BYTES, maxBodyBytes: 64 * MIB },
  peer: { maxChannels: 64, maxConnections: 256, maxUnfinishedBytes: 80 * MIB },
};
const LINK: ChannelKind = {
  frames: {
    maxHeadersBytes: MAX_HEADERS_BYTES,
    maxBodyBytes: MAX_DATA_BYTES,
    largeTypes: DATA_TYPES,
    maxOtherBodyBytes: MIB,
  },
  // Twice the limit of a router for one peer, because the router itself refuses further ones.
  peer: { maxChannels: 256, maxConnections: 1_024, maxUnfinishedBytes: 64 * MIB },
};
/**
 * Allows two large payloads at once. SDKs send one write of an application, of any length, as one Data frame, which
 * routers pass on in parts, and describe all their circuits in one answer. Other bodies are only tokens and reasons.
 */
const EDGE: ChannelKind = {
  frames: {
    ...LINK.frames,
    largeTypes: new Set([...DATA_TYPES, contentType.edgeInspectResponse]),
    maxOtherBodyBytes: MIB / 4,
    streamedTypes: new Set([contentType.data]),
  },
  peer: { maxChannels: 64, maxConnections: 128, maxUnfinishedBytes: 36 * MIB },
};

function kindOf(alpn: string): ChannelKind {
  if (alpn === 'ziti-ctrl') return CTRL;
  return alpn === 'ziti-edge' ? EDGE : LINK;
}

export function frameLimitsOf(alpn: string): FrameLimits {
  return kindOf(alpn).frames;
}

export function peerLimitsOf(alpn: string): PeerLimits {
  return kindOf(alpn).peer;
}

/** Links before OpenZiti 1.6.6: one connection for payloads and one for acknowledgements, paired by header 0. */
export function isSplitAllowed(alpn: string): boolean {
  return alpn === 'ziti-link';
}

const ROLES: Readonly<Record<string, UnderlayRole>> = {
  'edge.control': 'control',
  'link.ack': 'acknowledgements',
  /** The acknowledgements of a split link. */
  ack: 'acknowledgements',
};

export function roleOfUnderlay(type: string): UnderlayRole {
  return ROLES[type] ?? 'all';
}

/** Header 1 of a split link's hello, one byte. */
export const SPLIT_TYPES: Readonly<Record<number, string>> = { 1: 'payload', 2: 'ack' };
/** A split link requires both connections. */
export const SPLIT_MINIMUMS: ReadonlyMap<string, number> = new Map([
  ['payload', 1],
  ['ack', 1],
]);
