/** The traces that a request of `ziti fabric stream traces` selects, by content type. */
import { FrontdoorError } from '#base';
import { mgmtMessages, TraceFilterType } from '#wire/ctrl';

const MAX_TYPES = 1_000;

/** Returns undefined for a malformed request. */
export function tracesOf(body: Uint8Array): ((contentType: number) => boolean) | undefined {
  try {
    const { enabledFilter, filterType, contentTypes } = mgmtMessages.streamTracesRequest.decode(body);
    if (!enabledFilter) return () => true;
    if (contentTypes.length > MAX_TYPES) return undefined;
    const listed = new Set(contentTypes);
    const isIncluded = filterType === TraceFilterType.INCLUDE;
    return (type) => listed.has(type) === isIncluded;
  } catch (error) {
    if (error instanceof FrontdoorError) return undefined;
    throw error;
  }
}
