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
  controlToPass,
  decodeControl,
  traceRequest,
  traceResponse,
  type ControlFrame,
  type TraceHop,
} from './control-codec.ts';
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
export { decodeTrustBundle, encodeTrustBundle, type TrustBundle } from './trust-bundle-codec.ts';
