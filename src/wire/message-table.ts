/**
 * All known content types of OpenZiti's channels: control channel, links, edge (SDK) channels. Type numbers are
 * defined only here; codecs, traces and documents derive from the table. Unknown types are ignored. `body` is the
 * encoding of the body; header-table.ts has the headers of each message.
 */
import { ADMINISTRATION_MESSAGES } from './administration-message-table.ts';
import { row, type MessageRow } from './message-row.ts';
import { VALIDATION_MESSAGES } from './validation-message-table.ts';

export type { BodyKind, MessageRow, Sender } from './message-row.ts';

const CHANNEL_MESSAGES = {
  hello: row(
    0,
    'Hello',
    'dialer',
    'text',
    'First frame of a connection; the body is the identity or link id.',
  ),
  ping: row(1, 'Ping', 'router', 'empty', 'The controller answers Result "ok".'),
  result: row(2, 'Result', 'both', 'text', 'Answers many requests and the Hello.'),
  latency: row(3, 'Latency', 'both', 'empty', 'Probe; answered by Result with header 128 reflected.'),
  latencyResponse: row(4, 'LatencyResponse', 'both', 'empty', 'Unused response form of the probe.'),
  heartbeat: row(5, 'Heartbeat', 'both', 'empty', 'Carries headers 5 and 6 when nothing else does.'),
  raw: row(6, 'Raw', 'both', 'bytes', 'Never sent on a stream connection.'),
  reconnectPing: row(-33, 'ReconnectPing', 'dialer', 'empty', 'From the 1.x reconnecting dialer; ignored.'),
} as const;

const CTRL_MESSAGES = {
  circuitRequest: row(1000, 'CircuitRequest', 'router', 'protobuf', 'Circuit for a service by id or name.'),
  circuitSuccess: row(
    1001,
    'CircuitSuccess',
    'controller',
    'text',
    'Circuit id; ingress address in a header.',
  ),
  fault: row(1004, 'Fault', 'both', 'protobuf', 'A circuit, link or entry was removed.'),
  route: row(1005, 'Route', 'controller', 'protobuf', 'Forwarding entries of a circuit, and its egress.'),
  unroute: row(1006, 'Unroute', 'controller', 'protobuf', 'Drops a circuit, at once or when it is idle.'),
  metrics: row(1007, 'Metrics', 'router', 'protobuf', 'Counters and histograms, each minute.'),
  togglePipeTraces: row(
    1008,
    'TogglePipeTraces',
    'controller',
    'protobuf',
    'Starts or ends traces of channels; answered by Result.',
  ),
  traceEvent: row(1010, 'TraceEvent', 'router', 'protobuf', 'A message of a traced channel.'),
  createTerminator: row(1011, 'CreateTerminatorRequest', 'router', 'protobuf', 'Terminator of the fabric.'),
  removeTerminator: row(1012, 'RemoveTerminatorRequest', 'router', 'protobuf', 'Removes one terminator.'),
  inspectRequest: row(1013, 'InspectRequest', 'both', 'protobuf', 'Asks for named diagnostics.'),
  inspectResponse: row(1014, 'InspectResponse', 'both', 'protobuf', 'JSON texts by name.'),
  circuitFailed: row(1016, 'CircuitFailed', 'controller', 'text', 'Why a CircuitRequest failed.'),
  validateTerminators: row(
    1017,
    'ValidateTerminatorsRequest',
    'controller',
    'protobuf',
    'Old form, no reply.',
  ),
  updateTerminator: row(1018, 'UpdateTerminatorRequest', 'router', 'protobuf', 'Cost and precedence.'),
  settings: row(1020, 'Settings', 'controller', 'protobuf', 'New control address.'),
  routeResult: row(1022, 'RouteResult', 'router', 'text', 'Circuit id; success is a header being present.'),
  circuitConfirmation: row(1034, 'CircuitConfirmation', 'router', 'protobuf', 'Checks idle circuits.'),
  routerLinks: row(1035, 'RouterLinks', 'router', 'protobuf', 'Links that the router dialed.'),
  verifyRouter: row(1036, 'VerifyRouter', 'router', 'protobuf', 'Checks a router’s certificate.'),
  updateCtrlAddresses: row(
    1037,
    'UpdateCtrlAddresses',
    'controller',
    'protobuf',
    'All controllers of the cluster.',
  ),
  removeTerminators: row(1038, 'RemoveTerminatorsRequest', 'router', 'protobuf', 'Removes terminators.'),
  quiesceRouter: row(1039, 'QuiesceRouter', 'router', 'empty', 'Requests no new circuits.'),
  dequiesceRouter: row(1040, 'DequiesceRouter', 'router', 'empty', 'Allows new circuits again.'),
  validateTerminatorsV2: row(
    1041,
    'ValidateTerminatorsV2Request',
    'controller',
    'protobuf',
    'Asks whether these are alive.',
  ),
  validateTerminatorsV2Response: row(
    1042,
    'ValidateTerminatorsV2Response',
    'router',
    'protobuf',
    'State of each.',
  ),
  decommissionRouter: row(1043, 'DecommissionRouter', 'router', 'empty', 'Removes the router itself.'),
  peerStateChanges: row(
    1050,
    'PeerStateChangeRequest',
    'controller',
    'protobuf',
    'Other routers and listeners.',
  ),
  updateClusterLeader: row(1051, 'UpdateClusterLeader', 'controller', 'protobuf', 'The sender leads.'),
  updateRouterInterfaces: row(
    1052,
    'UpdateRouterInterfaces',
    'router',
    'protobuf',
    'Network interfaces.',
    '1.6',
  ),
  linkState: row(1053, 'LinkState', 'router', 'protobuf', 'All connections of one link.', '1.6'),
  alerts: row(1054, 'Alerts', 'router', 'protobuf', 'Alerts for the operator.', '1.7'),
  requestClusterMembers: row(1055, 'RequestClusterMembers', 'router', 'empty', 'Answered by 1037.', '2.0'),
  updateLinkListeners: row(
    1056,
    'UpdateLinkListeners',
    'router',
    'protobuf',
    'Changed link listeners.',
    '2.1',
  ),
} as const;

const XGRESS_MESSAGES = {
  payload: row(1100, 'Payload', 'both', 'bytes', 'Data of a circuit.'),
  acknowledgement: row(
    1101,
    'Acknowledgement',
    'both',
    'i32BE list',
    'Sequences that arrived, and the window.',
  ),
  control: row(1102, 'Control', 'both', 'control', 'Trace route through a circuit.'),
  xgClose: row(1103, 'XgClose', 'sdk', 'text', 'The SDK no longer uses a circuit.', '1.6'),
} as const;

const EDGE_CTRL_MESSAGES = {
  serverHello: row(20000, 'ServerHello', 'controller', 'protobuf', 'To routers with an edge part.'),
  clientHello: row(20001, 'ClientHello', 'router', 'protobuf', 'The response: addresses for SDKs.'),
  error: row(20002, 'Error', 'controller', 'text', 'Refusal of an edge request.'),
  sessionRemoved: row(20102, 'SessionRemoved', 'controller', 'protobuf', 'Ended service sessions.'),
  apiSessionAdded: row(20200, 'ApiSessionAdded', 'controller', 'protobuf', 'New log-ins, or all in chunks.'),
  apiSessionUpdated: row(20201, 'ApiSessionUpdated', 'controller', 'protobuf', 'Changed log-ins.'),
  apiSessionRemoved: row(20202, 'ApiSessionRemoved', 'controller', 'protobuf', 'Ended log-ins.'),
  apiSessionHeartbeat: row(20203, 'ApiSessionHeartbeat', 'router', 'protobuf', 'Tokens in use on channels.'),
  requestClientReSync: row(20204, 'RequestClientReSync', 'router', 'protobuf', 'Send all log-ins again.'),
  createCircuit: row(20205, 'CreateCircuitRequest', 'router', 'protobuf', 'Old form of 20218.'),
  createCircuitResponse: row(20206, 'CreateCircuitResponse', 'controller', 'protobuf', 'Old form of 20219.'),
  createEdgeTerminator: row(20207, 'CreateTerminatorRequest', 'router', 'protobuf', 'Old form of 20216.'),
  createEdgeTerminatorResponse: row(
    20208,
    'CreateTerminatorResponse',
    'controller',
    'text',
    'Terminator id.',
  ),
  updateEdgeTerminator: row(20209, 'UpdateTerminatorRequest', 'router', 'protobuf', 'Cost and precedence.'),
  updateEdgeTerminatorResponse: row(20210, 'UpdateTerminatorResponse', 'controller', 'empty', 'Done.'),
  removeEdgeTerminator: row(20211, 'RemoveTerminatorRequest', 'router', 'protobuf', 'Removes one.'),
  removeEdgeTerminatorResponse: row(20212, 'RemoveTerminatorResponse', 'controller', 'empty', 'Done.'),
  validateSessions: row(
    20213,
    'ValidateSessionsRequest',
    'router',
    'protobuf',
    'Answered by SessionRemoved.',
  ),
  healthEvent: row(20214, 'HealthEventRequest', 'router', 'protobuf', 'A host checked its service.'),
  createTerminatorV2: row(
    20216,
    'CreateTerminatorV2Request',
    'router',
    'protobuf',
    'An SDK hosts a service.',
  ),
  createTerminatorV2Response: row(
    20217,
    'CreateTerminatorV2Response',
    'controller',
    'protobuf',
    'By terminator id.',
  ),
  createCircuitV2: row(20218, 'CreateCircuitV2Request', 'router', 'empty', 'An SDK dials; all in headers.'),
  createCircuitV2Response: row(20219, 'CreateCircuitV2Response', 'controller', 'empty', 'All in headers.'),
  createTunnelCircuitV2: row(
    20220,
    'CreateTunnelCircuitV2Request',
    'router',
    'protobuf',
    'The router dials.',
  ),
  createTunnelCircuitV2Response: row(
    20221,
    'CreateTunnelCircuitV2Response',
    'controller',
    'protobuf',
    'Circuit.',
  ),
  createCircuitV3: row(
    20222,
    'CreateCircuitV3Request',
    'router',
    'empty',
    'As V2, by identity and service.',
    '2.0',
  ),
  createCircuitV3Response: row(20223, 'CreateCircuitV3Response', 'controller', 'empty', 'As V2.', '2.0'),
  enrollmentCertsResponse: row(
    20301,
    'EnrollmentCertsResponse',
    'controller',
    'protobuf',
    'New certificates.',
  ),
  enrollmentExtendRouter: row(
    20302,
    'EnrollmentExtendRouterRequest',
    'router',
    'protobuf',
    'CSRs to renew with.',
  ),
  enrollmentExtendRouterVerify: row(
    20303,
    'EnrollmentExtendRouterVerifyRequest',
    'router',
    'protobuf',
    'Got it.',
  ),
  updateTunnelTerminator: row(
    20408,
    'UpdateTunnelTerminatorRequest',
    'router',
    'protobuf',
    'Cost, precedence.',
  ),
  updateTunnelTerminatorResponse: row(
    20409,
    'UpdateTunnelTerminatorResponse',
    'controller',
    'empty',
    'Done.',
  ),
  removeTunnelTerminator: row(20410, 'RemoveTunnelTerminatorRequest', 'router', 'text', 'Terminator id.'),
  removeTunnelTerminatorResponse: row(
    20411,
    'RemoveTunnelTerminatorResponse',
    'controller',
    'empty',
    'Done.',
  ),
  tunnelHealthEvent: row(
    20412,
    'TunnelHealthEvent',
    'router',
    'empty',
    'The router checked a hosted service.',
  ),
  createTunnelTerminatorV2: row(
    20413,
    'CreateTunnelTerminatorRequestV2',
    'router',
    'protobuf',
    'Router hosts.',
  ),
  createTunnelTerminatorV2Response: row(
    20414,
    'CreateTunnelTerminatorResponseV2',
    'controller',
    'protobuf',
    'By id.',
  ),
  connectEvents: row(20415, 'ConnectEvents', 'router', 'protobuf', 'Connected identities.', '1.1'),
  dataState: row(20500, 'DataState', 'controller', 'protobuf', 'The whole router data model.'),
  dataStateChangeSet: row(20501, 'DataStateChangeSet', 'controller', 'protobuf', 'Changes of that model.'),
  validateDataState: row(
    20503,
    'RouterDataModelValidateRequest',
    'controller',
    'protobuf',
    'Compares the model.',
  ),
  validateDataStateResponse: row(
    20504,
    'RouterDataModelValidateResponse',
    'router',
    'protobuf',
    'Differences.',
  ),
  subscribeToDataModel: row(
    20505,
    'SubscribeToDataModelRequest',
    'router',
    'protobuf',
    'Sends the model.',
    '1.6',
  ),
  currentIndex: row(20506, 'CurrentIndexMessage', 'controller', 'empty', 'Index of the model.', '1.6'),
} as const;

const EDGE_MESSAGES = {
  connect: row(60783, 'Connect', 'sdk', 'text', 'Dial a service; the body is the service session.'),
  stateConnected: row(60784, 'StateConnected', 'router', 'empty', 'Connect or Bind worked.'),
  stateClosed: row(60785, 'StateClosed', 'both', 'text', 'Ends a connection, with the reason.'),
  data: row(60786, 'Data', 'both', 'bytes', 'Bytes of a connection.'),
  dial: row(60787, 'Dial', 'router', 'text', 'A client dials; the body is the Bind token.'),
  dialSuccess: row(60788, 'DialSuccess', 'sdk', 'u32', 'Accepted, with a new connection id.'),
  dialFailed: row(60789, 'DialFailed', 'sdk', 'text', 'Refused, with the reason.'),
  bind: row(60790, 'Bind', 'sdk', 'text', 'Host a service; the body is the service session.'),
  unbind: row(60791, 'Unbind', 'sdk', 'text', 'Stop hosting.'),
  stateSessionEnded: row(60792, 'StateSessionEnded', 'router', 'empty', 'The session has ended.'),
  probe: row(60793, 'Probe', 'sdk', 'empty', 'Ignored.'),
  updateBind: row(60794, 'UpdateBind', 'sdk', 'text', 'New cost or precedence.'),
  edgeHealthEvent: row(60795, 'HealthEvent', 'sdk', 'text', 'The host checked its service.'),
  traceRoute: row(60796, 'TraceRoute', 'both', 'empty', 'Diagnostics.'),
  traceRouteResponse: row(60797, 'TraceRouteResponse', 'both', 'empty', 'Diagnostics.'),
  connInspectRequest: row(60798, 'ConnInspectRequest', 'router', 'empty', 'Checks a connection.'),
  connInspectResponse: row(
    60799,
    'ConnInspectResponse',
    'sdk',
    'text',
    'Its kind; Go SDKs answer with 60805.',
  ),
  bindSuccess: row(60800, 'BindSuccess', 'router', 'empty', 'The terminator exists.'),
  updateTokenSuccess: row(60801, 'UpdateTokenSuccess', 'router', 'empty', 'The new token was accepted.'),
  updateTokenFailure: row(60802, 'UpdateTokenFailure', 'router', 'text', 'The new token was refused.'),
  updateToken: row(60803, 'UpdateToken', 'sdk', 'text', 'New access token.'),
  edgeInspectRequest: row(60804, 'InspectRequest', 'both', 'empty', 'Asks for named diagnostics.'),
  edgeInspectResponse: row(60805, 'InspectResponse', 'both', 'json', 'Diagnostics.'),
  connectV2: row(60806, 'ConnectV2', 'sdk', 'empty', 'Dial with the service in headers.', '2.0'),
  routeCircuit: row(60807, 'RouteCircuit', 'router', 'empty', 'Unused.', '2.0'),
  postureResponse: row(10800, 'PostureResponse', 'sdk', 'protobuf', 'State of the device.'),
  servicePostureRequest: row(108001, 'ServicePostureStateRequest', 'sdk', 'protobuf', 'Posture.', '2.0'),
  servicePostureResponse: row(108002, 'ServicePostureStateResponse', 'router', 'protobuf', 'Posture.', '2.0'),
  subscribeToServiceUpdates: row(10900, 'SubscribeToServiceUpdates', 'sdk', 'protobuf', 'Push.', '2.0'),
  unsubscribeFromServiceUpdates: row(
    10901,
    'UnsubscribeFromServiceUpdates',
    'sdk',
    'protobuf',
    'Push.',
    '2.0',
  ),
  resyncPostureState: row(10902, 'ResyncPostureState', 'sdk', 'protobuf', 'Push.', '2.0'),
  serviceChangeSet: row(10903, 'ServiceChangeSet', 'router', 'protobuf', 'Push.', '2.0'),
  postureStateChange: row(10904, 'PostureStateChange', 'router', 'protobuf', 'Push.', '2.0'),
} as const;

/** Sent only to a peer whose hello contains a release of Frontdoor. */
const OWN_MESSAGES = {
  stopping: row(61000, 'Stopping', 'both', 'empty', 'The sender stops soon: dial elsewhere.'),
  circuitsLeaving: row(61001, 'CircuitsLeaving', 'both', 'text', 'Circuits whose far end stops.'),
  trustBundle: row(
    61002,
    'TrustBundle',
    'controller',
    'text',
    'The authorities to trust, and those that ended.',
  ),
} as const;

export const MESSAGE_TABLE = {
  ...CHANNEL_MESSAGES,
  ...CTRL_MESSAGES,
  ...XGRESS_MESSAGES,
  ...EDGE_CTRL_MESSAGES,
  ...EDGE_MESSAGES,
  ...ADMINISTRATION_MESSAGES,
  ...VALIDATION_MESSAGES,
  ...OWN_MESSAGES,
} as const;

export type MessageKey = keyof typeof MESSAGE_TABLE;

type ContentTypes = { readonly [K in MessageKey]: (typeof MESSAGE_TABLE)[K]['id'] };

/** Content type numbers by name: `contentType.route` is 1005. */
export const contentType = Object.fromEntries(
  Object.entries(MESSAGE_TABLE).map(([key, { id }]) => [key, id]),
) as ContentTypes;

const BY_ID = new Map<number, MessageRow>(Object.values(MESSAGE_TABLE).map((row) => [row.id, row]));

/** Describes a content type. Returns undefined for an unknown one, which is then ignored. */
export function messageRow(id: number): MessageRow | undefined {
  return BY_ID.get(id);
}

/** Returns the message's name for logs, or its number. */
export function messageName(id: number): string {
  return BY_ID.get(id)?.name ?? `type ${String(id)}`;
}
