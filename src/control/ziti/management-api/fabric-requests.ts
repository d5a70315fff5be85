/** Requests of administrators over the WebSocket that have one answer: inspections, and the request to trace channels. */
import { asReplyTo, contentType, makeResult, type Frame } from '#wire';
import { mgmtMessages } from '#wire/ctrl';
import type { ManagedOverlay } from './entity-resource.ts';
import type { FabricInspection } from './fabric-inspection.ts';

export interface FabricRequestParts {
  readonly inspection: FabricInspection;
  readonly diagnostics: Pick<ManagedOverlay['diagnostics'], 'toggleTraces'>;
}

/** Returns undefined for other requests. Rejects with a FrontdoorError `protocol` for a malformed body. */
export async function answerOf(
  { inspection, diagnostics }: FabricRequestParts,
  request: Frame,
): Promise<Frame | undefined> {
  if (request.contentType === contentType.togglePipeTracesRequest) {
    const { isSuccess, text } = await diagnostics.toggleTraces(request.body);
    return makeResult(request, isSuccess, text);
  }
  if (request.contentType !== contentType.fabricInspectRequest) return undefined;
  const wish = mgmtMessages.fabricInspectRequest.decode(request.body);
  const { success, errors, values } = await inspection.inspect(wish);
  const answer = mgmtMessages.fabricInspectResponse.frame({
    success,
    errors: [...errors],
    values: values.map(({ appId, name, value }) => ({ appId, name, value: textOfValue(value) })),
  });
  return asReplyTo(request, answer);
}

function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
