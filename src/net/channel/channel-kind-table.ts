/**
 * What differs between kinds of channels: by protocol (ALPN) how long frames may be and whether two connections make
 * one link; by type of a connection what is sent on it. Frames of any kind are taken on any connection.
 */
import type { FrameLimits } from '#wire';

/** `control`: everything but payloads and acknowledgements; `acknowledgements`: these alone; `all`: everything. */
export type UnderlayRole = 'all' | 'control' | 'acknowledgements';

const MIB = 1024 * 1024;
const MAX_HEADERS_BYTES = 64 * 1024;

/** After the hello. Control channels carry whole data models. */
export function frameLimitsOf(alpn: string): FrameLimits {
  return { maxHeadersBytes: MAX_HEADERS_BYTES, maxBodyBytes: (alpn === 'ziti-ctrl' ? 64 : 16) * MIB };
}

/** Links before OpenZiti 1.6.6: one connection for payloads, one for acknowledgements, paired by header 0. */
export function isSplitAllowed(alpn: string): boolean {
  return alpn === 'ziti-link';
}

const ROLES: Readonly<Record<string, UnderlayRole>> = {
  'edge.control': 'control',
  'link.ack': 'acknowledgements',
  /** Of split links. */
  ack: 'acknowledgements',
};

export function roleOfUnderlay(type: string): UnderlayRole {
  return ROLES[type] ?? 'all';
}

/** Header 1 of a split link's hello, one byte. */
export const SPLIT_TYPES: Readonly<Record<number, string>> = { 1: 'payload', 2: 'ack' };
/** A split link needs both. */
export const SPLIT_MINIMUMS: ReadonlyMap<string, number> = new Map([
  ['payload', 1],
  ['ack', 1],
]);
