/** Messages between administrators and controllers whose body is a protobuf. */
import { ProtobufMessage } from './ctrl-messages.ts';
import {
  InspectRequestSchema,
  InspectResponseSchema,
  StreamTracesRequestSchema,
  TraceFilterType,
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
} as const;

export { TraceFilterType };
