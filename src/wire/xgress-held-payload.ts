/**
 * What a payload costs that waits for its turn or its reader, and how it is kept: without the read that brought it,
 * which also holds other frames. Plain functions, because slow readers and lossy ways bring many of these.
 */
import { keptBytes, keptSize } from '#base';
import type { PayloadFrame } from './payload-codec.ts';

/** Measured: frame, view and place in the map, in bytes. */
const PAYLOAD_COST = 512;
/** Measured: a map of headers, and each of its entries. */
const HEADERS_COST = 256;
const HEADER_COST = 160;

/** Makes a payload fit to be kept: data and headers that are a small part of their read are copied out of it. */
export function keepPayload(payload: PayloadFrame): void {
  payload.data = keptBytes(payload.data);
  // They were answered when they came.
  payload.heartbeat = undefined;
  payload.heartbeatResponse = undefined;
  const { headers } = payload;
  if (headers === undefined) return;
  for (const [key, value] of headers) headers.set(key, keptBytes(value));
}

/** The memory that a kept payload takes, in bytes. */
export function keptPayloadSize({ data, headers }: PayloadFrame): number {
  let bytes = PAYLOAD_COST + keptSize(data);
  if (headers === undefined) return bytes;
  bytes += HEADERS_COST;
  for (const value of headers.values()) bytes += HEADER_COST + keptSize(value);
  return bytes;
}
