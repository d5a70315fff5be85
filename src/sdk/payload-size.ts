/**
 * How much data a payload of an edge channel has. Its frame fits into one TLS record, so that the receiver need not join parts
 * of frames, which took a fifth of a download's CPU time at the router. Sealing a message costs both ends more than that, so a
 * large read is sealed as one (ADR 0099).
 */
import { EMPTY_BYTES } from '#base';
import { PAYLOAD_FLAGS, PayloadFrame, payloadHeadBytes } from '#wire/xgress';

export const TLS_RECORD_BYTES = 16_384;
export const LONG_FRAME_BYTES = 4 * TLS_RECORD_BYTES;
/** Less data is sealed in messages that fit into one TLS record each. `payload-memory.ts` keeps memory for more. */
export const LONG_FROM_BYTES = 3 * TLS_RECORD_BYTES;

export interface PayloadRoom {
  /** Bytes of data in a frame that fits into one TLS record. */
  readonly usual: number;
  /** Bytes of data in a long frame. */
  readonly long: number;
}

/** Returns how much data fits behind a head with every possible header. */
export function payloadRoomOf(circuitId: string): PayloadRoom {
  const payload = new PayloadFrame(circuitId, 0, PAYLOAD_FLAGS.originator, EMPTY_BYTES);
  payload.connId = 0;
  const headBytes = payloadHeadBytes(payload);
  return { usual: TLS_RECORD_BYTES - headBytes, long: LONG_FRAME_BYTES - headBytes };
}
