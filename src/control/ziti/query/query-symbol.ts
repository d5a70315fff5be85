/** The fields of a kind of entity that queries may name, each with its type and how it is read. */
export type QuerySymbol<T> =
  | { readonly type: 'text'; readonly read: (entity: T) => string | null }
  | { readonly type: 'number'; readonly read: (entity: T) => number | null }
  | { readonly type: 'boolean'; readonly read: (entity: T) => boolean | null }
  /** In Unix milliseconds. */
  | { readonly type: 'date'; readonly read: (entity: T) => number | null }
  /** A set of texts, which queries read with `anyOf`, `allOf`, `count` and `isEmpty`. */
  | { readonly type: 'texts'; readonly read: (entity: T) => readonly string[] }
  | EntitySet<T>
  /** Named by key: `tags.owner`. */
  | { readonly type: 'tags'; readonly read: (entity: T) => Readonly<Record<string, unknown>> };

/**
 * Related entities, which sub-queries select (`from NAME where …`) and whose ids are a set of texts. `use` passes them to
 * the reader with their own fields, whose type only the maker of the symbol knows.
 */
export interface EntitySet<T> {
  readonly type: 'entities';
  readonly use: <R>(reader: <E extends object>(related: RelatedEntities<T, E>) => R) => R;
}

export interface RelatedEntities<T, E extends object> {
  readonly read: (entity: T) => readonly E[];
  readonly idOf: (related: E) => string;
  /** Entities that `read` looks through for one entity, found or not. */
  readonly cost: () => number;
  /** A function, because kinds are related to each other in circles. */
  readonly symbols: () => QuerySymbols<E>;
}

export function entitySet<T, E extends object>(related: RelatedEntities<T, E>): EntitySet<T> {
  return { type: 'entities', use: (reader) => reader(related) };
}

/** By name, as queries spell it. */
export type QuerySymbols<T> = Readonly<Record<string, QuerySymbol<T>>>;

/** What a comparison of one entity reads. */
export type Operand<T> = Exclude<QuerySymbol<T>, { type: 'texts' | 'tags' | 'entities' }>;

/** A query that cannot be read. The message goes to the caller, as OpenZiti words it where it has the case. */
export class QueryProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'QueryProblem';
  }
}

/** Returns the field that a comparison names. @throws QueryProblem */
export function operandOf<T>(symbols: QuerySymbols<T>, name: string): Operand<T> {
  const symbol = symbolOf(symbols, name);
  if (symbol.type === 'texts' || symbol.type === 'entities')
    throw new QueryProblem(`symbol '${name}' is a set symbol but is used in non-set function context`);
  if (symbol.type !== 'tags') return symbol;
  const key = name.slice(name.indexOf('.') + 1);
  return {
    type: 'text',
    read: (entity) => {
      const tags = symbol.read(entity);
      const value = Object.hasOwn(tags, key) ? tags[key] : null;
      return typeof value === 'string' ? value : isPlain(value) ? `${value}` : null;
    },
  };
}

/** Returns how the set that a function names is read. @throws QueryProblem */
export function setOf<T>(
  symbols: QuerySymbols<T>,
  name: string,
  budget: { spend(entities: number): void },
): (entity: T) => readonly string[] {
  const symbol = symbolOf(symbols, name);
  if (symbol.type === 'entities')
    return symbol.use(({ read, idOf, cost }) => (entity) => {
      budget.spend(cost());
      return read(entity).map(idOf);
    });
  if (symbol.type !== 'texts') throw new QueryProblem(`symbol '${name}' is not a set symbol`);
  return symbol.read;
}

/** Returns the related entities that a sub-query names. @throws QueryProblem */
export function entitiesOf<T>(symbols: QuerySymbols<T>, name: string): EntitySet<T> {
  const symbol = symbolOf(symbols, name);
  if (symbol.type !== 'entities') throw new QueryProblem(`symbol '${name}' is not a set of entities`);
  return symbol;
}

function isPlain(value: unknown): value is number | boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}

/** The name of a field may have a dot, as `service.name`; others with one name a tag. */
function symbolOf<T>(symbols: QuerySymbols<T>, name: string): QuerySymbol<T> {
  const own = Object.hasOwn(symbols, name) ? symbols[name] : undefined;
  if (own !== undefined && own.type !== 'tags') return own;
  const tagged = /^([A-Za-z_]+)\./.exec(name)?.[1] ?? '';
  const tags = Object.hasOwn(symbols, tagged) ? symbols[tagged] : undefined;
  if (tags?.type !== 'tags') throw new QueryProblem(`unknown symbol '${name}'`);
  return tags;
}
