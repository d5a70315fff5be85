/** The application data of a dial: a JSON object by which tunnelers describe the intercepted connection. */
import { FrontdoorError, textOf } from '#base';
import { compileReader, Part } from '#base/shapes';
import type { AppData } from './far-end-policy.ts';

const MAX_APP_DATA_BYTES = 64 * 1024;
const NONE: AppData = {};
const readObject = compileReader(Part.anyObject());

/** @throws FrontdoorError `invalid-app-data` if it is not a JSON object, or too long. */
export function decodeAppData(bytes: Uint8Array | undefined): AppData {
  if (bytes === undefined || bytes.length === 0) return NONE;
  if (bytes.length > MAX_APP_DATA_BYTES) throw invalid(`it has ${bytes.length} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(textOf(bytes));
  } catch {
    throw invalid('it is not JSON');
  }
  const read = readObject(value);
  if (!('value' in read)) throw invalid('it is not an object');
  return read.value;
}

function invalid(why: string): FrontdoorError {
  return new FrontdoorError(
    'invalid',
    'invalid-app-data',
    `cannot decode the application data of the dial: ${why}`,
  );
}
