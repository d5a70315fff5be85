import { FrontdoorError, isJsonObject } from '#base';

/** Reads the data of an event of the Management API. Throws `protocol` if it is not a JSON object. */
export function eventObject(data: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(data);
    if (isJsonObject(value)) return value;
  } catch {
    // The error below says it.
  }
  throw new FrontdoorError('protocol', 'stream', 'the Management API sent an event that is not JSON');
}
