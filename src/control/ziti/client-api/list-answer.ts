/** Answers lists: filters, sorts and pages as the query asks. Refuses with OpenZiti's codes. */
import type { FastifyReply } from 'fastify';
import { pageOf, type ListProblem } from '../query/entity-list.ts';
import type { QuerySymbols } from '../query/query-symbol.ts';
import {
  invalidFilter,
  invalidParameter,
  invalidSort,
  sendList,
  type EdgeApiRefusal,
} from '../../overlay/clients/mod.ts';

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
