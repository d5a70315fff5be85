/** OpenZiti's query language for lists of entities. */
export { pageOf, selectedOf, type EntityPage, type ListParameters, type ListProblem } from './entity-list.ts';
export { entitySet } from './query-symbol.ts';
export type { QuerySymbol, QuerySymbols } from './query-symbol.ts';
