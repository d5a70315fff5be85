/** Parses requests: JSON bodies and the parameters of lists. Refuses with OpenZiti's codes. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject } from '#base';
import { pageOf, type ListProblem, type QuerySymbols } from '../entity-query/mod.ts';
import {
  couldNotValidate,
  invalidFilter,
  invalidParameter,
  invalidSort,
  sendList,
  type EdgeApiRefusal,
} from './edge-answer.ts';

/** Returns undefined for an empty body. */
export function jsonBody(request: FastifyRequest): unknown {
  const text = textBody(request);
  if (text.trim() === '') return undefined;
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

/**
 * Sends one page of a list, as the query's `filter`, `sort`, `limit` and `offset` ask for it. Throws with OpenZiti's
 * codes if one of them cannot be read.
 */
export function sendPage<T>(
  reply: FastifyReply,
  query: URLSearchParams,
  entities: readonly T[],
  symbols: QuerySymbols<T>,
  viewOf: (entity: T) => unknown,
): FastifyReply {
  const [filter, sort] = [query.get('filter'), query.get('sort')];
  const [limit, offset] = [query.get('limit'), query.get('offset')];
  const answer = pageOf(entities, { filter, sort, limit, offset }, symbols);
  if ('problem' in answer) throw refusalOf(answer.problem);
  const { found, ...pagination } = answer.page;
  return sendList(reply, found.map(viewOf), pagination, Object.keys(symbols));
}

function refusalOf(problem: ListProblem): EdgeApiRefusal {
  if ('value' in problem) return invalidParameter(problem.parameter, problem.reason, problem.value);
  return problem.parameter === 'filter' ? invalidFilter(problem.reason) : invalidSort(problem.reason);
}
