/**
 * All known headers of OpenZiti's channels. The same number has different meanings in different messages, so a
 * header's key is its context and its id; `headerContexts` returns the contexts of a message, nearest first.
 * Header numbers are defined only here.
 */
import { contentType } from './message-table.ts';

export type HeaderType =
  | 'bool'
  | 'byte'
  | 'u16'
  | 'u32'
  | 'i32'
  | 'u64'
  | 'text'
  | 'bytes'
  | 'json'
  /** A list of texts. */
  | 'text list'
  /** u32 to bytes. */
  | 'u32 map'
  | 'text map'
  /** Big-endian bit mask. */
  | 'mask'
  | 'protobuf'
  /** Any value that the sender chose. */
  | 'any';

export interface HeaderRow {
  readonly id: number;
  readonly name: string;
  readonly type: HeaderType;
  readonly note: string;
}

export const HEADER_TABLE = {
  /** On any message of any channel. */
  channel: {
    connectionId: row(0, 'ConnectionId', 'text', 'Id of the channel or group.'),
    replyFor: row(1, 'ReplyFor', 'i32', 'Sequence of the request that this answers.'),
    resultSuccess: row(2, 'ResultSuccess', 'bool', 'On Result.'),
    routerAdvertisements: row(3, 'HelloRouterAdvertisements', 'text', 'Obsolete.'),
    helloVersion: row(4, 'HelloVersion', 'text', 'Five parts joined by |.'),
    heartbeat: row(5, 'Heartbeat', 'u64', 'Clock of the sender in ns; the receiver echoes it.'),
    heartbeatResponse: row(6, 'HeartbeatResponse', 'u64', 'The echo.'),
    type: row(7, 'Type', 'text', 'Kind of the underlying connection.'),
    id: row(8, 'Id', 'text', 'Identity of the listener.'),
    isGrouped: row(9, 'IsGrouped', 'bool', 'Part of a group of connections.'),
    groupSecret: row(10, 'GroupSecret', 'bytes', 'Made by the listener; joining connections send it.'),
    isFirstGroupConnection: row(11, 'IsFirstGroupConnection', 'bool', 'Makes a new group.'),
    underlayType: row(12, 'UnderlayType', 'text', 'Never on the wire.'),
    helloRejectClass: row(13, 'HelloRejectClass', 'u32', '1 busy, 2 not permitted.'),
    reflected: row(128, 'Reflected', 'any', 'Copied from a request into its answer.'),
  },
  /** On events that administrators follow. */
  streamEvents: {
    eventType: row(10, 'EventType', 'text', 'Kind of the event in the body.'),
  },
  /** Hello of a router to a controller. */
  ctrlHello: {
    legacyListeners: row(10, 'Listeners', 'protobuf', '1.x place of the link listeners.'),
    legacyMetadata: row(11, 'RouterMetadata', 'protobuf', '1.x place of the router metadata.'),
    listeners: row(1000, 'Listeners', 'protobuf', 'Link listeners.'),
    metadata: row(1001, 'RouterMetadata', 'protobuf', 'Router metadata.'),
    capabilities: row(1002, 'Capabilities', 'mask', 'What the router can do.'),
    ctrlListeners: row(1003, 'CtrlChanListeners', 'protobuf', 'Where controllers may dial the router.'),
  },
  /** Response of a controller to it. */
  ctrlHelloResult: {
    listenersEcho: row(10, 'ListenersEcho', 'bytes', 'A group secret, or the legacy listeners come back.'),
    legacyCapabilities: row(12, 'Capabilities', 'mask', '1.x place of the controller capabilities.'),
    apiAddresses: row(13, 'ApiAddresses', 'json', 'URLs of the web APIs.'),
    capabilities: row(1002, 'Capabilities', 'mask', 'What the controller can do.'),
    peerAddress: row(2000, 'PeerAddress', 'text', 'Clustered controllers only.'),
    clusterId: row(2002, 'ClusterId', 'text', 'Clustered controllers only.'),
    signingCert: row(2004, 'SigningCert', 'bytes', 'Clustered controllers only.'),
    clusterApiAddresses: row(2005, 'ApiAddresses', 'json', 'Clustered controllers only.'),
  },
  /** Hello of a router to a router. These shadow the channel's own headers. */
  linkHello: {
    connectionId: row(0, 'ConnectionId', 'text', 'Made by the dialer, one per dial.'),
    channelType: row(1, 'ChannelType', 'byte', '1 payload, 2 ack, on split links only.'),
    routerId: row(2, 'RouterId', 'text', 'The dialing router.'),
    routerVersion: row(3, 'RouterVersion', 'text', 'Version of the dialed router as the dialer knows it.'),
    binding: row(4, 'Binding', 'text', 'The dialer’s binding; may be empty.'),
    iteration: row(5, 'Iteration', 'u32', 'Counts the dials of a link.'),
    dialedRouterId: row(6, 'DialedRouterId', 'text', 'Refused if the dialed router has another id.'),
    linkId: row(100, 'LinkId', 'text', 'Preferred over the body.'),
  },
  /** Control messages that keep their content in headers. */
  ctrl: {
    ingressAddress: row(1100, 'CircuitSuccessAddress', 'text', 'On CircuitSuccess.'),
    routeAttempt: row(1101, 'RouteResultAttempt', 'u32', 'Which attempt is answered.'),
    routeSuccess: row(1102, 'RouteResultSuccess', 'bool', 'Present: success, whatever its value.'),
    routeError: row(1103, 'RouteResultError', 'text', 'Why routing failed.'),
    routeErrorCode: row(1104, 'RouteResultErrorCode', 'byte', 'Kind of that failure.'),
    terminatorsBusy: row(10, 'ErrorCode', 'u32', 'On a Result: 1 is busy, try again.'),
  },
  /** Data that the ends of a circuit exchange while it is made. */
  peerData: {
    publicKey: row(1003, 'PublicKey', 'bytes', 'For end-to-end encryption.'),
    callerId: row(1008, 'CallerId', 'text', 'Name of the dialing identity.'),
    cryptoMethod: row(1009, 'CryptoMethod', 'any', 'Never forwarded.'),
    appData: row(1011, 'AppData', 'bytes', 'Chosen by the application.'),
    connectionMarker: row(1025, 'ConnectionMarker', 'text', 'Eight characters, for logs.'),
    terminatorLocalAddress: row(1110, 'TerminatorLocalAddress', 'text', 'host:port'),
    terminatorRemoteAddress: row(1111, 'TerminatorRemoteAddress', 'text', 'host:port'),
    initiatorLocalAddress: row(1112, 'InitiatorLocalAddress', 'text', 'host:port'),
    initiatorRemoteAddress: row(1113, 'InitiatorRemoteAddress', 'text', 'host:port'),
    stickinessToken: row(1114, 'StickinessToken', 'bytes', 'Selects the same terminator again.'),
    dialerIdentityId: row(1115, 'DialerIdentityId', 'text', 'Id of the dialing identity.'),
    dialerIdentityName: row(1116, 'DialerIdentityName', 'text', 'Name of the dialing identity.'),
  },
  /** CreateCircuitV2 and V3. */
  createCircuit: {
    peerData: row(10, 'PeerData', 'u32 map', 'Data of the dialing end.'),
    sessionToken: row(11, 'SessionToken', 'text', 'V2: the service session.'),
    fingerprints: row(12, 'Fingerprints', 'text list', 'Fingerprints of the client certificate.'),
    terminatorInstanceId: row(13, 'TerminatorInstanceId', 'text', 'May be empty.'),
    apiSessionToken: row(14, 'ApiSessionToken', 'text', 'The session of the requester.'),
    identityId: row(15, 'IdentityId', 'text', 'V3.'),
    serviceId: row(16, 'ServiceId', 'text', 'V3.'),
    circuitId: row(17, 'CircuitId', 'text', 'V3; may be empty.'),
  },
  /** Responses to CreateCircuit. */
  createCircuitResult: {
    peerData: row(10, 'PeerData', 'u32 map', 'Data of the hosting end.'),
    circuitId: row(11, 'CircuitId', 'text', 'The new circuit.'),
    address: row(12, 'Address', 'text', 'The ingress address.'),
    tags: row(13, 'Tags', 'text map', 'serviceId, clientId, hostId.'),
  },
  /** Edge messages on the control channel. */
  edgeCtrl: {
    retryHint: row(18, 'RetryHint', 'u32', '0 none, 1 busy, 2 start over, 3 do not retry.'),
    errorCode: row(1014, 'ErrorCode', 'u32', 'On Error.'),
    circuitId: row(1026, 'CircuitId', 'text', 'On Error: the circuit that failed.'),
    routeErrorCode: row(
      1104,
      'RouteResultErrorCode',
      'byte',
      'On Error, ours only: why a router could not route.',
    ),
    terminatorId: row(1022, 'TerminatorId', 'text', 'On TunnelHealthEvent.'),
    checkPassed: row(1023, 'CheckPassed', 'bool', 'On TunnelHealthEvent.'),
    routerDataModel: row(1024, 'RouterDataModel', 'bool', 'On ServerHello and ClientHello.'),
    routerDataModelIndex: row(1025, 'RouterDataModelIndex', 'u64', 'On ClientHello and CurrentIndex.'),
  },
  /** The router data model's messages. */
  dataModel: {
    subscriptionId: row(1026, 'SubscriptionId', 'text', '2.x: the subscription that is answered.'),
    index: row(1025, 'Index', 'u64', 'On CurrentIndex.'),
    isContinued: row(
      102_500,
      'StateIsContinued',
      'bool',
      'Frontdoor: on each part of a state that has several, false on the last.',
    ),
  },
  /** ApiSessionAdded and ApiSessionUpdated. */
  apiSessions: {
    strategy: row(1013, 'SyncStrategyType', 'text', '"instant".'),
    state: row(1014, 'SyncStrategyState', 'json', 'Which chunk of which set this is.'),
    lastIndex: row(1015, 'SyncStrategyLastIndex', 'u64', 'Not used by the instant strategy.'),
  },
  /** Data of circuits, on links and on edge channels that use xgress. */
  xgress: {
    traceUuid: row(2000, 'TraceUuid', 'bytes', 'Payload header 0.'),
    capabilities: row(
      2001,
      'Capabilities',
      'mask',
      'Payload header 1, u32 big-endian: 0x100 understands EOF.',
    ),
    edgeFlags: row(2016, 'EdgeFlags', 'u32', 'Payload header 16: 1 is the end of the stream.'),
    circuitId: row(2256, 'CircuitId', 'text', 'Required.'),
    sequence: row(2257, 'Sequence', 'u64', 'Required on payloads.'),
    flags: row(2258, 'Flags', 'u32', 'Absent: 0.'),
    recvBufferSize: row(2259, 'RecvBufferSize', 'u32', 'On acknowledgements.'),
    rtt: row(2260, 'RTT', 'u16', 'Low 16 bits of a clock in ms.'),
    rawPayload: row(2261, 'RawPayload', 'bytes', 'Never on the wire.'),
  },
  /** Xgress control messages. */
  xgressControl: {
    hopCount: row(20, 'HopCount', 'u32', 'Hops left.'),
    hopType: row(21, 'HopType', 'text', 'Kind of the hop that answers.'),
    hopId: row(22, 'HopId', 'text', 'Id of the hop that answers.'),
    timestamp: row(23, 'Timestamp', 'u64', 'Time at the sender.'),
    userValue: row(24, 'UserValue', 'u32', 'A value of the sender’s choice.'),
    error: row(25, 'Error', 'text', 'What went wrong.'),
  },
  /** Between SDK and router. */
  edge: {
    uuid: row(128, 'UUID', 'bytes', 'Data tracing.'),
    connId: row(1000, 'ConnId', 'u32', 'Connection within the channel.'),
    seq: row(1001, 'Seq', 'u32', 'Ignored.'),
    sessionToken: row(1002, 'SessionToken', 'text', 'On Hello: the API session.'),
    publicKey: row(1003, 'PublicKey', 'bytes', '32 bytes.'),
    cost: row(1004, 'Cost', 'u16', 'Some send 4 bytes: the low 2 count.'),
    precedence: row(1005, 'Precedence', 'byte', 'Some send 4 bytes: the first counts.'),
    terminatorIdentity: row(1006, 'TerminatorIdentity', 'text', 'Empty means absent.'),
    terminatorIdentitySecret: row(1007, 'TerminatorIdentitySecret', 'text', 'Beside it.'),
    callerId: row(1008, 'CallerId', 'text', 'Name of the dialing identity.'),
    cryptoMethod: row(1009, 'CryptoMethod', 'any', 'Go: a byte; C: a text. Never forwarded.'),
    flags: row(1010, 'Flags', 'u32', 'On Data: 1 is the end of the stream.'),
    appData: row(1011, 'AppData', 'bytes', 'Chosen by the application.'),
    routerProvidedConnId: row(1012, 'RouterProvidedConnId', 'any', 'Bind: bool; Dial: u32.'),
    healthStatus: row(1013, 'HealthStatus', 'bool', 'On HealthEvent.'),
    errorCode: row(1014, 'ErrorCode', 'u32', 'On StateClosed.'),
    timestamp: row(1015, 'Timestamp', 'u64', 'Tracing.'),
    traceHopCount: row(1016, 'TraceHopCount', 'u32', 'Tracing.'),
    traceHopType: row(1017, 'TraceHopType', 'text', 'Tracing.'),
    traceHopId: row(1018, 'TraceHopId', 'text', 'Tracing.'),
    traceSourceRequestId: row(1019, 'TraceSourceRequestId', 'u32', 'Tracing.'),
    traceError: row(1020, 'TraceError', 'text', 'Tracing.'),
    listenerId: row(1021, 'ListenerId', 'text', 'On Bind: replaces a bind with the same id.'),
    connType: row(1022, 'ConnType', 'byte', '0 invalid, 1 dial, 2 bind, 3 unknown.'),
    supportsInspect: row(1023, 'SupportsInspect', 'bool', 'On Hello and Bind.'),
    supportsBindSuccess: row(1024, 'SupportsBindSuccess', 'bool', 'On Hello and Bind.'),
    connectionMarker: row(1025, 'ConnectionMarker', 'text', 'Eight characters, for logs.'),
    circuitId: row(1026, 'CircuitId', 'text', 'On StateConnected and Dial.'),
    stickinessToken: row(1027, 'StickinessToken', 'bytes', 'Selects the same terminator again.'),
    useXgressToSdk: row(1028, 'UseXgressToSdk', 'bool', 'Offer, and its acceptance.'),
    xgressCtrlId: row(1029, 'XgressCtrlId', 'text', 'The controller of the circuit.'),
    xgressAddress: row(1030, 'XgressAddress', 'text', 'Own address in the circuit.'),
    inspectRequestedValues: row(1031, 'InspectRequestedValues', 'text list', 'On InspectRequest.'),
    supportsPostureChecks: row(1032, 'SupportsPostureChecks', 'bool', 'On the hello result.'),
    structuredError: row(1033, 'StructuredError', 'json', '2.x, on StateClosed.'),
    dialerIdentityId: row(1034, 'DialerIdentityId', 'text', '2.x, on Dial.'),
    dialerIdentityName: row(1035, 'DialerIdentityName', 'text', '2.x, on Dial.'),
    serviceId: row(1036, 'ServiceId', 'text', '2.x, on ConnectV2.'),
    serviceIdentifierType: row(1037, 'ServiceIdentifierType', 'byte', '2.x: 0 id, 1 name.'),
    connectRequestId: row(1038, 'ConnectRequestId', 'any', 'Reserved.'),
    routerCapabilities: row(1039, 'RouterCapabilities', 'mask', '2.x, on the hello result.'),
    formerChannel: row(
      102_501,
      'FormerChannel',
      'text',
      'Frontdoor: on Hello, the id of the channel that this one replaces.',
    ),
    formerChannelIsOpen: row(
      102_502,
      'FormerChannelIsOpen',
      'bool',
      'Frontdoor: beside it, the former channel stays for the circuits that it has.',
    ),
    leakedRouteAttempt: row(1101, 'RouteResultAttempt', 'u32', 'Comes along with peer data; ignored.'),
  },
} as const;

export type HeaderContext = keyof typeof HEADER_TABLE;

type HeaderIds = {
  readonly [C in HeaderContext]: {
    readonly [K in keyof (typeof HEADER_TABLE)[C]]: (typeof HEADER_TABLE)[C][K] extends {
      readonly id: infer Id;
    }
      ? Id
      : never;
  };
};

/** Header numbers by context and name: `headerId.edge.connId` is 1000. */
export const headerId = Object.fromEntries(
  Object.entries(HEADER_TABLE).map(([context, rows]) => [
    context,
    Object.fromEntries(Object.entries(rows).map(([key, header]) => [key, header.id])),
  ]),
) as unknown as HeaderIds;

export type ChannelKind = 'ctrl' | 'link' | 'edge';

const NO_CONTEXT: readonly HeaderContext[] = [];

const CONTEXTS_OF: ReadonlyMap<number, readonly HeaderContext[]> = new Map<number, readonly HeaderContext[]>([
  [contentType.circuitSuccess, ['ctrl', 'peerData']],
  [contentType.routeResult, ['ctrl', 'peerData']],
  [contentType.createCircuitV2, ['createCircuit']],
  [contentType.createCircuitV2Response, ['createCircuitResult']],
  [contentType.createCircuitV3, ['createCircuit']],
  [contentType.createCircuitV3Response, ['createCircuitResult']],
  [contentType.serverHello, ['edgeCtrl']],
  [contentType.clientHello, ['edgeCtrl']],
  [contentType.error, ['edgeCtrl']],
  [contentType.tunnelHealthEvent, ['edgeCtrl']],
  [contentType.apiSessionAdded, ['apiSessions']],
  [contentType.apiSessionUpdated, ['apiSessions']],
  [contentType.dataState, ['dataModel']],
  [contentType.dataStateChangeSet, ['dataModel']],
  [contentType.currentIndex, ['dataModel']],
  [contentType.payload, ['xgress']],
  [contentType.acknowledgement, ['xgress']],
  [contentType.control, ['xgress', 'xgressControl']],
  [contentType.xgClose, ['xgress']],
  [contentType.streamEventsEvent, ['streamEvents']],
]);

/** Returns the contexts in which a message's headers are read, nearest first; `channel` always comes last. */
export function headerContexts(channel: ChannelKind, type: number): readonly HeaderContext[] {
  const own = CONTEXTS_OF.get(type) ?? NO_CONTEXT;
  if (channel === 'edge') return [...own, 'edge', 'channel'];
  if (type === contentType.hello) return [channel === 'ctrl' ? 'ctrlHello' : 'linkHello', 'channel'];
  if (type === contentType.result && channel === 'ctrl') return ['ctrlHelloResult', 'ctrl', 'channel'];
  return [...own, 'channel'];
}

/** Describes a header of a message. Returns undefined if it is not known. */
export function headerRow(channel: ChannelKind, type: number, id: number): HeaderRow | undefined {
  for (const context of headerContexts(channel, type)) {
    for (const header of Object.values<HeaderRow>(HEADER_TABLE[context])) if (header.id === id) return header;
  }
  return undefined;
}

function row<const Id extends number>(
  id: Id,
  name: string,
  type: HeaderType,
  note: string,
): HeaderRow & { readonly id: Id } {
  return { id, name, type, note };
}
