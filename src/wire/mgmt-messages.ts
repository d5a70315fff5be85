/** Messages between administrators and controllers whose body is a protobuf. */
import { ProtobufMessage } from './ctrl-messages.ts';
import {
  ComponentDetailsSchema,
  InspectRequestSchema,
  InspectResponseSchema,
  LinkState,
  RouterCircuitDetailsSchema,
  RouterLinkDetailsSchema,
  RouterTerminatorsDetailsSchema,
  StreamTracesRequestSchema,
  TerminatorDetailSchema,
  TerminatorState,
  TraceFilterType,
  ValidateRouterDataModelRequestSchema,
  ValidateRoutersRequestSchema,
  ValidateRoutersResponseSchema,
  ValidateTerminatorsRequestSchema,
  ValidateTerminatorsResponseSchema,
} from './gen/mgmt-pb.ts';
import { TogglePipeTracesRequestSchema } from './gen/trace-pb.ts';
import { contentType } from './message-table.ts';

export const mgmtMessages = {
  togglePipeTracesRequest: new ProtobufMessage(
    contentType.togglePipeTracesRequest,
    TogglePipeTracesRequestSchema,
  ),
  streamTracesRequest: new ProtobufMessage(contentType.streamTracesRequest, StreamTracesRequestSchema),
  fabricInspectRequest: new ProtobufMessage(contentType.fabricInspectRequest, InspectRequestSchema),
  fabricInspectResponse: new ProtobufMessage(contentType.fabricInspectResponse, InspectResponseSchema),
  validateTerminatorsRequest: new ProtobufMessage(
    contentType.validateTerminatorsRequest,
    ValidateTerminatorsRequestSchema,
  ),
  validateTerminatorsResponse: new ProtobufMessage(
    contentType.validateTerminatorsResponse,
    ValidateTerminatorsResponseSchema,
  ),
  validateTerminatorsResult: new ProtobufMessage(
    contentType.validateTerminatorsResult,
    TerminatorDetailSchema,
  ),
  validateRouterLinksRequest: new ProtobufMessage(
    contentType.validateRouterLinksRequest,
    ValidateRoutersRequestSchema,
  ),
  validateRouterLinksResponse: new ProtobufMessage(
    contentType.validateRouterLinksResponse,
    ValidateRoutersResponseSchema,
  ),
  validateRouterLinksResult: new ProtobufMessage(
    contentType.validateRouterLinksResult,
    RouterLinkDetailsSchema,
  ),
  validateSdkTerminatorsRequest: new ProtobufMessage(
    contentType.validateSdkTerminatorsRequest,
    ValidateRoutersRequestSchema,
  ),
  validateSdkTerminatorsResponse: new ProtobufMessage(
    contentType.validateSdkTerminatorsResponse,
    ValidateRoutersResponseSchema,
  ),
  validateSdkTerminatorsResult: new ProtobufMessage(
    contentType.validateSdkTerminatorsResult,
    RouterTerminatorsDetailsSchema,
  ),
  validateDataModelRequest: new ProtobufMessage(
    contentType.validateDataModelRequest,
    ValidateRouterDataModelRequestSchema,
  ),
  validateDataModelResponse: new ProtobufMessage(
    contentType.validateDataModelResponse,
    ValidateRoutersResponseSchema,
  ),
  validateDataModelResult: new ProtobufMessage(contentType.validateDataModelResult, ComponentDetailsSchema),
  validateConnectionsRequest: new ProtobufMessage(
    contentType.validateConnectionsRequest,
    ValidateRoutersRequestSchema,
  ),
  validateConnectionsResponse: new ProtobufMessage(
    contentType.validateConnectionsResponse,
    ValidateRoutersResponseSchema,
  ),
  validateConnectionsResult: new ProtobufMessage(
    contentType.validateConnectionsResult,
    ComponentDetailsSchema,
  ),
  validateTunnelTerminatorsRequest: new ProtobufMessage(
    contentType.validateTunnelTerminatorsRequest,
    ValidateRoutersRequestSchema,
  ),
  validateTunnelTerminatorsResponse: new ProtobufMessage(
    contentType.validateTunnelTerminatorsResponse,
    ValidateRoutersResponseSchema,
  ),
  validateTunnelTerminatorsResult: new ProtobufMessage(
    contentType.validateTunnelTerminatorsResult,
    RouterTerminatorsDetailsSchema,
  ),
  validateCircuitsRequest: new ProtobufMessage(
    contentType.validateCircuitsRequest,
    ValidateRoutersRequestSchema,
  ),
  validateCircuitsResponse: new ProtobufMessage(
    contentType.validateCircuitsResponse,
    ValidateRoutersResponseSchema,
  ),
  validateCircuitsResult: new ProtobufMessage(contentType.validateCircuitsResult, RouterCircuitDetailsSchema),
} as const;

export type MgmtInit<Name extends keyof typeof mgmtMessages> = Parameters<
  (typeof mgmtMessages)[Name]['encode']
>[0];

export { LinkState, TerminatorState, TraceFilterType };
