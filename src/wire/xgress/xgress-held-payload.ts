/**
 * The memory cost of a payload that waits for its turn or its reader, and how it is kept: without the read that
 * it arrived in, which contains other frames too. Plain functions, because slow readers and lossy networks cause
 * many of these.
 */
import { keptBytes, keptSize } from '#base';
import type { PayloadFrame } from './payload-codec.ts';

/** Measured in bytes: frame, view and map entry. */
export const PAYLOAD_COST = 512;
/** Measured in bytes: a map of headers, and each of its entries. */
const HEADERS_COST = 256;
const HEADER_COST = 160;

/** Prepares a payload for being kept: data and headers that are a small part of their read are copied. */
export function keepPayload(payload: PayloadFrame): void {
  payload.data = keptBytes(payload.data);
  // Heartbeats were answered when they arrived.
  payload.heartbeat = undefined;
  payload.heartbeatResponse = undefined;
  const { headers } = payload;
  if (headers === undefined) return;
  for (const [key, value] of headers) headers.set(key, keptBytes(value));
}

/** Returns the memory of a kept payload in bytes. */
export function keptPayloadSize({ data, headers }: PayloadFrame): number {
  let bytes = PAYLOAD_COST + keptSize(data);
  if (headers === undefined) return bytes;
  bytes += HEADERS_COST;
  for (const value of headers.values()) bytes += HEADER_COST + keptSize(value);
  return bytes;
}
