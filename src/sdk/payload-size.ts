/**
 * How much data a payload of an edge channel has: its frame fits into one TLS record, so that the receiver need not join parts
 * of frames, which took a fifth of a download's CPU time at the router.
 */
import { EMPTY_BYTES } from '#base';
import { PAYLOAD_FLAGS, PayloadFrame, payloadHeadBytes } from '#wire/xgress';

const TLS_RECORD_BYTES = 16_384;

/** Returns how many bytes of data fit behind a head with every possible header. */
export function payloadRoomBytes(circuitId: string): number {
  const payload = new PayloadFrame(circuitId, 0, PAYLOAD_FLAGS.originator, EMPTY_BYTES);
  payload.connId = 0;
  return TLS_RECORD_BYTES - payloadHeadBytes(payload);
}
