/** Limits how many related entities one query looks through, over all entities of the list and all its sub-queries. */
import { QueryProblem } from './query-symbol.ts';

export const MAX_QUERY_RELATED = 2_000_000;

export class QueryBudget {
  #left = MAX_QUERY_RELATED;

  /** Throws `QueryProblem` when the limit is passed. */
  spend(entities: number): void {
    this.#left -= 1 + entities;
    if (this.#left < 0)
      throw new QueryProblem(`the query looks through more than ${MAX_QUERY_RELATED} related entities`);
  }
}
