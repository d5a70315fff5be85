/** Reads a stream of events of the Management API. */
import { definedFields, FrontdoorError } from '#base';
import type { ManagementClient } from '../management-client.ts';
import { EventStreamDecoder, type StreamEvent } from './event-stream-decoder.ts';

/** The server sends something every 15 s. */
const SILENCE_MS = 45_000;
const MAX_EVENT_BYTES = 4 * 1_048_576;

/** Reads until the stream ends. `onEvents` is called with the events of each chunk, which may be none. */
export async function readEvents(
  client: ManagementClient,
  path: string,
  lastId: string | undefined,
  onEvents: (events: readonly StreamEvent[], lastId: string | undefined) => void,
): Promise<void> {
  const ending = new AbortController();
  const headers = definedFields({ accept: 'text/event-stream', 'last-event-id': lastId });
  const decoder = new EventStreamDecoder(MAX_EVENT_BYTES);
  try {
    for await (const bytes of await client.stream(path, headers, SILENCE_MS, ending.signal)) {
      onEvents(decoder.push(bytes), decoder.lastId ?? lastId);
      if (decoder.overflowed)
        throw new FrontdoorError('protocol', 'stream', 'an event is too long to be read');
    }
  } finally {
    ending.abort();
  }
}
