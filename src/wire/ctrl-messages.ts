/**
 * Control-channel messages whose body is a protobuf: one typed codec per message, derived from the generated
 * schemas and the message table. Messages that keep their content in headers are in ctrl-messages-circuit.ts.
 */
import {
  create,
  fromBinary,
  isMessage,
  toBinary,
  toJson,
  type DescMessage,
  type JsonValue,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { FrontdoorError } from '#base';
import { makeFrame, type Frame } from './frame-codec.ts';
import { FrameHeaders, type HeaderWriter } from './frame-headers.ts';
import * as ctrl from './gen/ctrl-pb.ts';
import * as edge from './gen/edge-ctrl-pb.ts';
import { ChannelMessageSchema, TogglePipeTracesRequestSchema } from './gen/trace-pb.ts';
import { contentType, messageName } from './message-table.ts';

export class ProtobufMessage<Desc extends DescMessage> {
  readonly contentType: number;
  readonly #schema: Desc;

  constructor(type: number, schema: Desc) {
    this.contentType = type;
    this.#schema = schema;
  }

  /** @throws FrontdoorError `protocol` if the bytes are not such a message. Absent fields have their defaults. */
  decode(body: Uint8Array): MessageShape<Desc> {
    try {
      return fromBinary(this.#schema, body);
    } catch (cause) {
      const message = `malformed body of ${messageName(this.contentType)}`;
      throw new FrontdoorError('protocol', 'malformed-body', message, { cause });
    }
  }

  /** The message of a frame, decoded unless its sender passed it on. Receivers do not change it. */
  of(frame: Frame): MessageShape<Desc> {
    const { message } = frame;
    return message !== undefined && isMessage(message, this.#schema) ? message : this.decode(frame.body);
  }

  /** For traces: protobuf's JSON form. */
  decodeJson(body: Uint8Array): JsonValue {
    return toJson(this.#schema, this.decode(body));
  }

  encode(value: MessageInitShape<Desc>): Uint8Array<ArrayBuffer> {
    return toBinary(this.#schema, create(this.#schema, value));
  }

  frame(value: MessageInitShape<Desc>, headers?: FrameHeaders | HeaderWriter): Frame {
    const body = this.encode(value);
    return makeFrame(this.contentType, headers === undefined ? { body } : { body, headers });
  }

  /**
   * A frame for one channel, whose receiver in this process gets the message as it is. The sender must not change it later,
   * and nobody may copy the frame by `...`, because its body is encoded when it is read.
   */
  passedFrame(value: MessageInitShape<Desc>): Frame {
    return new PassedFrame(this.contentType, this.#schema, create(this.#schema, value));
  }
}

class PassedFrame<Desc extends DescMessage> implements Frame {
  readonly contentType: number;
  sequence = 0;
  readonly headers = FrameHeaders.empty;
  readonly message: MessageShape<Desc>;
  readonly #schema: Desc;
  #body: Uint8Array | undefined;

  constructor(type: number, schema: Desc, value: MessageShape<Desc>) {
    this.contentType = type;
    this.#schema = schema;
    this.message = value;
  }

  get body(): Uint8Array {
    return (this.#body ??= toBinary(this.#schema, this.message));
  }
}

function message<Desc extends DescMessage>(type: number, schema: Desc): ProtobufMessage<Desc> {
  return new ProtobufMessage(type, schema);
}

/** Codecs by the names of the message table: `ctrlMessages.route.decode(frame.body)`. */
export const ctrlMessages = {
  circuitRequest: message(contentType.circuitRequest, ctrl.CircuitRequestSchema),
  fault: message(contentType.fault, ctrl.FaultSchema),
  route: message(contentType.route, ctrl.RouteSchema),
  unroute: message(contentType.unroute, ctrl.UnrouteSchema),
  togglePipeTraces: message(contentType.togglePipeTraces, TogglePipeTracesRequestSchema),
  traceEvent: message(contentType.traceEvent, ChannelMessageSchema),
  metrics: message(contentType.metrics, ctrl.MetricsMessageSchema),
  createTerminator: message(contentType.createTerminator, ctrl.CreateTerminatorRequestSchema),
  removeTerminator: message(contentType.removeTerminator, ctrl.RemoveTerminatorRequestSchema),
  removeTerminators: message(contentType.removeTerminators, ctrl.RemoveTerminatorsRequestSchema),
  updateTerminator: message(contentType.updateTerminator, ctrl.UpdateTerminatorRequestSchema),
  inspectRequest: message(contentType.inspectRequest, ctrl.InspectRequestSchema),
  inspectResponse: message(contentType.inspectResponse, ctrl.InspectResponseSchema),
  validateTerminators: message(contentType.validateTerminators, ctrl.ValidateTerminatorsRequestSchema),
  validateTerminatorsV2: message(contentType.validateTerminatorsV2, ctrl.ValidateTerminatorsV2RequestSchema),
  validateTerminatorsV2Response: message(
    contentType.validateTerminatorsV2Response,
    ctrl.ValidateTerminatorsV2ResponseSchema,
  ),
  settings: message(contentType.settings, ctrl.SettingsSchema),
  circuitConfirmation: message(contentType.circuitConfirmation, ctrl.CircuitConfirmationSchema),
  routerLinks: message(contentType.routerLinks, ctrl.RouterLinksSchema),
  linkState: message(contentType.linkState, ctrl.LinkStateUpdateSchema),
  verifyRouter: message(contentType.verifyRouter, ctrl.VerifyRouterSchema),
  updateCtrlAddresses: message(contentType.updateCtrlAddresses, ctrl.UpdateCtrlAddressesSchema),
  updateClusterLeader: message(contentType.updateClusterLeader, ctrl.UpdateClusterLeaderSchema),
  peerStateChanges: message(contentType.peerStateChanges, ctrl.PeerStateChangesSchema),
  updateLinkListeners: message(contentType.updateLinkListeners, ctrl.ListenersSchema),
  updateRouterInterfaces: message(contentType.updateRouterInterfaces, ctrl.RouterInterfacesUpdateSchema),
  alerts: message(contentType.alerts, ctrl.AlertsSchema),

  serverHello: message(contentType.serverHello, edge.ServerHelloSchema),
  clientHello: message(contentType.clientHello, edge.ClientHelloSchema),
  sessionRemoved: message(contentType.sessionRemoved, edge.SessionRemovedSchema),
  apiSessionAdded: message(contentType.apiSessionAdded, edge.ApiSessionAddedSchema),
  apiSessionUpdated: message(contentType.apiSessionUpdated, edge.ApiSessionUpdatedSchema),
  apiSessionRemoved: message(contentType.apiSessionRemoved, edge.ApiSessionRemovedSchema),
  apiSessionHeartbeat: message(contentType.apiSessionHeartbeat, edge.ApiSessionHeartbeatSchema),
  requestClientReSync: message(contentType.requestClientReSync, edge.RequestClientReSyncSchema),
  createCircuit: message(contentType.createCircuit, edge.CreateCircuitRequestSchema),
  createCircuitResponse: message(contentType.createCircuitResponse, edge.CreateCircuitResponseSchema),
  createEdgeTerminator: message(contentType.createEdgeTerminator, edge.CreateTerminatorRequestSchema),
  updateEdgeTerminator: message(contentType.updateEdgeTerminator, edge.UpdateTerminatorRequestSchema),
  removeEdgeTerminator: message(contentType.removeEdgeTerminator, edge.RemoveTerminatorRequestSchema),
  validateSessions: message(contentType.validateSessions, edge.ValidateSessionsRequestSchema),
  healthEvent: message(contentType.healthEvent, edge.HealthEventRequestSchema),
  createTerminatorV2: message(contentType.createTerminatorV2, edge.CreateTerminatorV2RequestSchema),
  createTerminatorV2Response: message(
    contentType.createTerminatorV2Response,
    edge.CreateTerminatorV2ResponseSchema,
  ),
  createTunnelCircuitV2: message(contentType.createTunnelCircuitV2, edge.CreateTunnelCircuitV2RequestSchema),
  createTunnelCircuitV2Response: message(
    contentType.createTunnelCircuitV2Response,
    edge.CreateTunnelCircuitV2ResponseSchema,
  ),
  updateTunnelTerminator: message(
    contentType.updateTunnelTerminator,
    edge.UpdateTunnelTerminatorRequestSchema,
  ),
  createTunnelTerminatorV2: message(
    contentType.createTunnelTerminatorV2,
    edge.CreateTunnelTerminatorRequestV2Schema,
  ),
  createTunnelTerminatorV2Response: message(
    contentType.createTunnelTerminatorV2Response,
    edge.CreateTunnelTerminatorResponseV2Schema,
  ),
  enrollmentExtendRouter: message(
    contentType.enrollmentExtendRouter,
    edge.EnrollmentExtendRouterRequestSchema,
  ),
  enrollmentCertsResponse: message(contentType.enrollmentCertsResponse, edge.EnrollmentCertsResponseSchema),
  enrollmentExtendRouterVerify: message(
    contentType.enrollmentExtendRouterVerify,
    edge.EnrollmentExtendRouterVerifyRequestSchema,
  ),
  /** The response to `enrollmentExtendRouterVerify`; an empty code means success. */
  enrollmentVerified: message(contentType.error, edge.ErrorSchema),
  connectEvents: message(contentType.connectEvents, edge.ConnectEventsSchema),
  dataState: message(contentType.dataState, edge.DataStateSchema),
  dataStateChangeSet: message(contentType.dataStateChangeSet, edge.DataState_ChangeSetSchema),
  validateDataState: message(contentType.validateDataState, edge.RouterDataModelValidateRequestSchema),
  validateDataStateResponse: message(
    contentType.validateDataStateResponse,
    edge.RouterDataModelValidateResponseSchema,
  ),
  subscribeToDataModel: message(contentType.subscribeToDataModel, edge.SubscribeToDataModelRequestSchema),
} as const;

/** Protobufs inside headers of the hello. */
export const helloMessages = {
  listeners: message(contentType.hello, ctrl.ListenersSchema),
  metadata: message(contentType.hello, ctrl.RouterMetadataSchema),
  ctrlListeners: message(contentType.hello, ctrl.CtrlChanListenersSchema),
} as const;

type BodyOf<M> = M extends ProtobufMessage<infer Desc> ? MessageShape<Desc> : never;
type InitOf<M> = M extends ProtobufMessage<infer Desc> ? MessageInitShape<Desc> : never;

export type CtrlMessageName = keyof typeof ctrlMessages;
/** The decoded body of a message: `CtrlBody<'route'>`. */
export type CtrlBody<Name extends CtrlMessageName> = BodyOf<(typeof ctrlMessages)[Name]>;
/** The argument of its `encode`; every field is optional. */
export type CtrlInit<Name extends CtrlMessageName> = InitOf<(typeof ctrlMessages)[Name]>;

export {
  DestType,
  FaultSubject,
  PeerState,
  RouterCapability,
  TerminatorInvalidReason,
  TerminatorPrecedence,
  type Listener,
  type Route_Egress,
  type Route_Forward,
  type RouterTerminatorState,
} from './gen/ctrl-pb.ts';
export {
  CreateTerminatorResult,
  DataState_Action,
  DataState_PolicyType,
  DataState_PublicKeyFormat,
  DataState_PublicKeyUsage,
  DataState_RelatedEntityType,
  type ApiSession as ApiSessionRecord,
  type DataState_Event,
  type DataState_PostureCheck,
  type DataState_PostureCheck_Process,
  type Listener as EdgeListener,
} from './gen/edge-ctrl-pb.ts';
