/** Parses the bodies and queries of requests. Refuses with OpenZiti's codes. */
import type { FastifyRequest } from 'fastify';
import { isJsonObject } from '#base';
import type { JsonObject } from '../model/edge-entity.ts';
import { couldNotValidate } from './edge-answer.ts';

/** An empty body is an object without fields. */
export function jsonBody(request: FastifyRequest): JsonObject {
  const text = textBody(request);
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Refused below.
  }
  throw couldNotValidate('the body is not a JSON object');
}

/** Returns the items of a JSON array of at most `maxCount`. */
export function jsonList(request: FastifyRequest, maxCount: number): readonly unknown[] {
  const text = textBody(request);
  try {
    const value: unknown = text.trim() === '' ? [] : JSON.parse(text);
    if (Array.isArray(value) && value.length <= maxCount) return value;
  } catch {
    // Refused below.
  }
  throw couldNotValidate(`the body is not a JSON array of at most ${maxCount} items`);
}

/** Returns the decoded query. */
export function queryOf(request: FastifyRequest): URLSearchParams {
  return request.query as URLSearchParams;
}

export function textBody(request: FastifyRequest): string {
  return typeof request.body === 'string' ? request.body : '';
}
