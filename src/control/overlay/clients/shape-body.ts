/**
 * Bodies and answers of our own routes (`/gateway/v1`, `/agent/v1`), as their shapes have them. The number of a format
 * travels in `FORMAT_HEADER`, which clients and control planes of before it do not send: they mean the first one.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { Log } from '#base';
import { FORMAT_HEADER, type SchemaValue, type Shape, type ShapeOf } from '#base/shapes';
import { couldNotValidate, sendData } from './edge-answer.ts';
import { jsonBody } from './edge-request.ts';

/** The checked body, with the entries that it lost. Throws `COULD_NOT_VALIDATE` with what is wrong, and no part of it. */
export function readBody<S extends TSchema>(
  request: FastifyRequest,
  shape: Shape<S>,
): SchemaValue<ShapeOf<S>> {
  const read = shape.read(jsonBody(request), request.headers[FORMAT_HEADER]);
  if ('problem' in read) throw couldNotValidate(read.problem);
  return read;
}

export interface ReportSource {
  /** Id of the gateway. */
  readonly gateway: string;
  readonly log: Log;
}

/**
 * The same of a list of reports: the entries that cannot be read are logged in one line and left out. A list of which
 * none can be read is refused, so that its sender learns of it. `countOf` counts the entries that were read.
 */
export function readReport<S extends TSchema>(
  request: FastifyRequest,
  shape: Shape<S>,
  countOf: (value: ShapeOf<S>) => number,
  { gateway, log }: ReportSource,
): ShapeOf<S> {
  const { value, lost } = readBody(request, shape);
  const first = lost[0];
  if (first === undefined) return value;
  const { list, index, field, rule } = first;
  const path = [list, index, ...(field === '' ? [] : [field])].join('.');
  if (countOf(value) === 0) throw couldNotValidate(`${shape.name}: ${path} ${rule}`);
  const fields = { gateway, lost: lost.length, field: path, rule };
  log.warn(fields, `${shape.name}: entries cannot be read and are left out`);
  return value;
}

export function sendShape<S extends TSchema>(
  reply: FastifyReply,
  shape: Shape<S>,
  data: ShapeOf<S>,
  status = 200,
): FastifyReply {
  return sendData(reply.header(FORMAT_HEADER, String(shape.format)), data, status);
}
