/** The last steps before an operation's handler: media type and body. */
import type { IncomingMessage } from 'node:http';
import { isJsonObject } from '#base';
import type { Operation } from '#contract';
import { invalidValue } from '#domain';
import { hasBody } from '#net/http';
import { notJson } from './api-errors.ts';
import { bodyCheckOf, type BodyCheck } from '../checks/body-check.ts';
import { isMediaType, parseJson, type ReadBody } from './body-reader.ts';

/** Returns the body step of an operation: the checked value, or undefined if the operation reads no body. */
export function bodyStepOf(
  operation: Operation,
): (request: IncomingMessage, readBody: ReadBody) => Promise<unknown> {
  if (operation.body === 'own') return async () => undefined;
  const check: BodyCheck | undefined = operation.body === undefined ? undefined : bodyCheckOf(operation.body);
  return async (request, readBody) => {
    const contentType = request.headers['content-type'];
    const coding = request.headers['content-encoding'];
    const isJson = isMediaType(contentType, 'application/json');
    const mustBeJson = hasBody(request) || (check !== undefined && contentType !== undefined);
    if (mustBeJson && (!isJson || (coding !== undefined && coding !== 'identity'))) {
      throw notJson();
    }
    const bytes = await readBody();
    if (bytes.length === 0) {
      if (check === undefined) return undefined;
      if (operation.isBodyOptional === true) return {};
    }
    const json = parseJson(bytes);
    if (json === undefined) throw invalidValue('body', 'JSON');
    if (check === undefined) {
      if (!isEmptyObject(json.value)) throw invalidValue('body', 'empty object');
      return undefined;
    }
    check(json.value);
    return json.value;
  };
}

function isEmptyObject(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}
