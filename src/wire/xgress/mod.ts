/** The ends of circuits: payloads, their order and their encryption. */
export {
  ACKNOWLEDGEMENT_TYPE,
  acknowledgementBytes,
  AcknowledgementFrame,
  decodeAcknowledgement,
  decodePayload,
  encodeAcknowledgement,
  encodePayloadHead,
  MAX_SEQUENCES_PER_ACK,
  PAYLOAD_FLAGS,
  PAYLOAD_HEADERS,
  PAYLOAD_TYPE,
  PayloadFrame,
  payloadHeadBytes,
  writeAcknowledgement,
  writePayloadHead,
  type DataFrame,
} from './payload-codec.ts';
export { Xgress, XGRESS_TICK_MS, type XgressPort } from './xgress-machine.ts';
export { XgressCounters } from './xgress-counters.ts';
export { XGRESS_DEFAULTS, type XgressOptions } from './xgress-options.ts';
export { keepPayload, keptPayloadSize } from './xgress-held-payload.ts';
export { CircuitBudget, LEAST_PART_BYTES, SharedBytes } from './xgress-budget.ts';
export {
  FAST_MULTIPLE_BYTES,
  SecretStreamPull,
  SecretStreamPush,
  STREAM_HEADER_BYTES,
  STREAM_KEY_BYTES,
  STREAM_OVERHEAD_BYTES,
  STREAM_TAGS,
  type BulkCipher,
  type SealedParts,
} from './secret-stream-codec.ts';
