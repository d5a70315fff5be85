export { CIRCUIT_ID_CHARACTERS } from './circuit-id-codec.ts';
export {
  asReplyTo,
  encodeFrame,
  FRAME_HEAD_BYTES,
  makeFrame,
  REPLY_FOR,
  replyForOf,
  textOfBody,
  UNKNOWN_VERSION_ANSWER,
  writeFrameHead,
  type Frame,
  type FrameParts,
} from './frame-codec.ts';
export {
  FrameDecoder,
  HELLO_LIMITS,
  type BodyPart,
  type BodyPartHandler,
  type DataFrameHandler,
  type DecodeFault,
  type FrameLimits,
} from './frame-decoder.ts';
export { checkHeaderBytes, FrameHeaders, HeaderWriter } from './frame-headers.ts';
export {
  decodeBytesMap,
  decodeTextList,
  decodeTextMap,
  encodeBytesMap,
  encodeCapabilities,
  encodeTextList,
  encodeTextMap,
  hasCapability,
} from './header-values.ts';
export {
  acceptHello,
  CHANNEL_HEADERS,
  HEARTBEAT_TYPE,
  HELLO_TYPE,
  LATENCY_TYPE,
  makeHello,
  makeResult,
  ownRelease,
  parseVersionHeader,
  PING_TYPE,
  rejectHello,
  RESULT_TYPE,
  versionHeader,
  WIRE_VERSION,
  type HelloAnswer,
} from './hello-codec.ts';
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
export {
  controlToPass,
  decodeControl,
  traceRequest,
  traceResponse,
  type ControlFrame,
  type TraceHop,
} from './control-codec.ts';
export { Xgress, XGRESS_TICK_MS, type XgressPort } from './xgress-machine.ts';
export { XgressCounters } from './xgress-counters.ts';
export { XGRESS_DEFAULTS, type XgressOptions } from './xgress-options.ts';
export { keepPayload, keptPayloadSize } from './xgress-held-payload.ts';
export { CircuitBudget } from './xgress-budget.ts';
export { formatAddress, parseAddress, type OverlayAddress } from './address.ts';
export {
  contentType,
  MESSAGE_TABLE,
  messageName,
  messageRow,
  type BodyKind,
  type MessageKey,
  type MessageRow,
} from './message-table.ts';
export {
  HEADER_TABLE,
  headerContexts,
  headerId,
  headerRow,
  type ChannelKind,
  type HeaderContext,
  type HeaderRow,
} from './header-table.ts';
export {
  decodeCircuitAnswer,
  encodeCircuitFailed,
  encodeCircuitSuccess,
  type CircuitGranted,
} from './circuit-request-codec.ts';
export {
  decodeCircuitCreated,
  decodeCreateCircuitV2,
  decodeCreateCircuitV3,
  decodeEdgeRefusal,
  decodeRouteResult,
  EdgeErrorCode,
  encodeCircuitCreated,
  encodeCreateCircuitV2,
  encodeEdgeRefusal,
  encodeRouteResult,
  peerDataEntries,
  peerDataOfEntries,
  RetryHint,
  RouteErrorCode,
  type CircuitCreated,
  type CircuitRequestV2,
  type CircuitRequestV3,
  type EdgeRefusal,
  type PeerData,
  type PeerDataEntry,
  type RouteResult,
} from './ctrl-messages-circuit.ts';
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
export { decodeTrustBundle, encodeTrustBundle, type TrustBundle } from './trust-bundle-codec.ts';
