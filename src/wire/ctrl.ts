/**
 * The separate entry point for the control channel's protobufs. Agents and gateways never load them, because the
 * generated schemas cost time and memory at start.
 */
export {
  CreateTerminatorResult,
  ctrlMessages,
  DataState_Action,
  DataState_PolicyType,
  DataState_PublicKeyFormat,
  DataState_PublicKeyUsage,
  DataState_RelatedEntityType,
  DestType,
  FaultSubject,
  helloMessages,
  PeerState,
  ProtobufMessage,
  RouterCapability,
  TerminatorInvalidReason,
  TerminatorPrecedence,
  type ApiSessionRecord,
  type CtrlBody,
  type CtrlInit,
  type CtrlMessageName,
  type DataState_Event,
  type DataState_PostureCheck,
  type DataState_PostureCheck_Process,
  type EdgeListener,
  type Listener,
  type Route_Egress,
  type Route_Forward,
  type RouterTerminatorState,
} from './ctrl-messages.ts';
export {
  ControllerCapability,
  CtrlRouterCapability,
  decodeControllerHello,
  decodeRouterHello,
  encodeControllerHello,
  encodeRouterHello,
  type AdvertisedCtrlListener,
  type AdvertisedListener,
  type ApiAddresses,
  type ControllerHello,
  type RouterHello,
} from './ctrl-messages-hello.ts';
export {
  decodeTraceRecords,
  encodePipeTrace,
  encodeTraceMessage,
  encodeTraceState,
  traceOfFrame,
  type TraceMessage,
  type TraceRecord,
  type TraceState,
} from './ctrl-trace.ts';
export { TraceToggleVerbosity } from './gen/trace-pb.ts';
export { toggledLine, traceToggleOf, type TraceToggle } from './trace-toggle.ts';
export { LinkState, mgmtMessages, TerminatorState, TraceFilterType, type MgmtInit } from './mgmt-messages.ts';
export {
  parseRefusedHello,
  REFUSED_HELLO,
  refusedHelloAlert,
  type RefusedHello,
} from './refused-hello-codec.ts';
export {
  sdkMessages,
  type PostureResponse,
  type PostureResponse_Process,
  type PostureResponses,
} from './sdk-messages.ts';
