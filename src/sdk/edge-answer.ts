/** The checked content of answers of the edge API: what cannot be read is a `badGateway` failure that says which field. */
import type { TSchema } from 'typebox';
import { FrontdoorError } from '#base';
import { FORMAT_HEADER, type SchemaValue, type Shape, type ShapeOf } from '#base/shapes';
import type { JsonAnswer } from '#net/http';
import { failureOf } from './edge-failure.ts';

/** `hop`: who answered, for the reader. Throws the refusal when the status is not the expected one. */
export function checkStatus(answer: JsonAnswer, expected: number, hop: string): void {
  if (answer.status !== expected) throw failureOf(answer, hop);
}

/** The `data` of OpenZiti's envelope; undefined when there is none. */
export function dataOf(answer: JsonAnswer): unknown {
  const { json } = answer;
  return typeof json === 'object' && json !== null ? (json as { readonly data?: unknown }).data : undefined;
}

/** The content of an answer that has a shape of Frontdoor, with the entries that it lost. */
export function shapeOf<S extends TSchema>(
  answer: JsonAnswer,
  shape: Shape<S>,
  hop: string,
): SchemaValue<ShapeOf<S>> {
  const read = shape.read(dataOf(answer), answer.headers[FORMAT_HEADER]);
  if (!('problem' in read)) return read;
  if (read.isNewer)
    throw new FrontdoorError('badGateway', 'answer-of-newer-format', `${hop}: ${read.problem}`);
  throw unreadable(hop, read.problem);
}

export function unreadable(hop: string, problem: string): FrontdoorError {
  return new FrontdoorError(
    'badGateway',
    'answer-unreadable',
    `${hop} sent an answer that cannot be read: ${problem}`,
  );
}
