/** Messages between SDKs and routers whose body is a protobuf. */
import type { MessageShape } from '@bufbuild/protobuf';
import { ProtobufMessage } from './ctrl-messages.ts';
import {
  PostureResponsesSchema,
  type PostureResponse,
  type PostureResponse_Process,
} from './gen/edge-client-pb.ts';
import { contentType } from './message-table.ts';

export const sdkMessages = {
  postureResponse: new ProtobufMessage(contentType.postureResponse, PostureResponsesSchema),
} as const;

export type PostureResponses = MessageShape<typeof PostureResponsesSchema>;
export type { PostureResponse, PostureResponse_Process };
