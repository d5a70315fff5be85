/**
 * Reads OpenZiti's query language: `name contains "web" and not isSystem sort by name desc skip 10 limit 5`. A query
 * becomes one function, with the types of all fields checked. Length, nesting and the number of terms have limits,
 * so that a query costs little to read and little for each entity. Sub-queries (`not isEmpty(from identities where …)`) share
 * the limits, and one of their own for the entities that they look through.
 */
import { comparison, containment, membership, range, type Constant, type Test } from './query-comparison.ts';
import { QueryLexer, textOf, timeOf, type Token } from './query-lexer.ts';
import { QueryBudget } from './query-budget.ts';
import {
  entitiesOf,
  operandOf,
  QueryProblem,
  setOf,
  type Operand,
  type QuerySymbols,
} from './query-symbol.ts';

export const MAX_QUERY_CHARS = 4_096;
/** Brackets and `not` within each other. */
export const MAX_QUERY_DEPTH = 64;
/** Comparisons, constants of lists, and fields to sort by. */
export const MAX_QUERY_TERMS = 256;

export interface SortField<T> {
  readonly read: (entity: T) => string | number | boolean | null;
  readonly isDescending: boolean;
}

export interface EntityQuery<T> {
  /** Throws `QueryProblem` when sub-queries look through too many entities. */
  readonly matches: (entity: T) => boolean;
  /** Empty if the query names no order. */
  readonly sort: readonly SortField<T>[];
  readonly skip: number | undefined;
  readonly limit: number | 'none' | undefined;
}

type Predicate<T> = (entity: T) => boolean;

const SET_FUNCTIONS: ReadonlySet<string> = new Set(['isempty', 'count', 'anyof', 'allof']);
const COMPARISONS: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>=']);

/** Reads a whole query. Its sizes are checked before anything else. @throws QueryProblem */
export function parseQuery<T>(text: string, symbols: QuerySymbols<T>): EntityQuery<T> {
  return new QueryParser(textSource(text), symbols).query();
}

/** Reads the value of a `sort` parameter: what stands after `sort by`. @throws QueryProblem */
export function parseSort<T>(text: string, symbols: QuerySymbols<T>): readonly SortField<T>[] {
  return new QueryParser(textSource(text), symbols).sortAlone();
}

/** The place in the text, and what its limits have left: a query shares them with its sub-queries. */
interface QuerySource {
  readonly lexer: QueryLexer;
  readonly budget: QueryBudget;
  token: Token;
  depth: number;
  terms: number;
}

function textSource(text: string): QuerySource {
  if (text.length > MAX_QUERY_CHARS)
    throw new QueryProblem(`the query is longer than ${MAX_QUERY_CHARS} characters`);
  const lexer = new QueryLexer(text);
  return { lexer, budget: new QueryBudget(), token: lexer.next(), depth: 0, terms: 0 };
}

class QueryParser<T> {
  readonly #symbols: QuerySymbols<T>;
  readonly #source: QuerySource;

  constructor(source: QuerySource, symbols: QuerySymbols<T>) {
    this.#symbols = symbols;
    this.#source = source;
  }

  query(): EntityQuery<T> {
    const query = this.part();
    this.#end();
    return query;
  }

  /** Reads a query up to a token that belongs to none. */
  part(): EntityQuery<T> {
    const startsWithClause = this.#isWord('sort') || this.#isWord('skip') || this.#isWord('limit');
    const matches = startsWithClause ? () => true : this.#either();
    const sort = this.#takeWord('sort') ? this.#sortFields() : [];
    const skip = this.#takeWord('skip') ? this.#whole() : undefined;
    const limit = this.#takeWord('limit') ? (this.#takeWord('none') ? 'none' : this.#whole()) : undefined;
    return { matches, sort, skip, limit };
  }

  sortAlone(): readonly SortField<T>[] {
    const fields = this.#listedFields();
    this.#end();
    return fields;
  }

  #either(): Predicate<T> {
    const terms = [this.#both()];
    while (this.#takeWord('or')) terms.push(this.#both());
    return terms.length === 1 ? terms[0]! : (entity) => terms.some((term) => term(entity));
  }

  #both(): Predicate<T> {
    const terms = [this.#one()];
    while (this.#takeWord('and')) terms.push(this.#one());
    return terms.length === 1 ? terms[0]! : (entity) => terms.every((term) => term(entity));
  }

  #one(): Predicate<T> {
    if (this.#takeSign('(')) {
      const inner = this.#nested(() => this.#either());
      this.#sign(')');
      return inner;
    }
    if (this.#takeWord('not')) {
      // `not` reaches as far as it can: `not a and b` is `not (a and b)`.
      const inner = this.#nested(() => this.#either());
      return (entity) => !inner(entity);
    }
    this.#term();
    if (this.#takeWord('true')) return () => true;
    if (this.#takeWord('false')) return () => false;
    const name = this.#name();
    return this.#takeSign('(') ? this.#call(name) : this.#operation(name);
  }

  #operation(name: string): Predicate<T> {
    const operand = operandOf(this.#symbols, name);
    const { read } = operand;
    if (this.#isOperator()) {
      const test = this.#test(name, operand);
      return (entity) => test(read(entity));
    }
    if (operand.type !== 'boolean')
      throw new QueryProblem(`query expr predicate must be a boolean expr, and '${name}' is not`);
    return (entity) => read(entity) === true;
  }

  /** After the opening bracket. */
  #call(source: string): Predicate<T> {
    const called = source.toLowerCase();
    if (!SET_FUNCTIONS.has(called)) throw new QueryProblem(`unknown function '${source}'`);
    if (called === 'isempty' || called === 'count') {
      const count = this.#takeWord('from') ? this.#subQuery() : this.#setSize();
      this.#sign(')');
      if (called === 'isempty') return (entity) => count(entity) === 0;
      const test = this.#test(called, { type: 'number' });
      return (entity) => test(count(entity));
    }
    const name = this.#name();
    const read = setOf(this.#symbols, name, this.#source.budget);
    this.#sign(')');
    const test = this.#test(name, { type: 'text' });
    return called === 'anyof'
      ? (entity) => read(entity).some((one) => test(one))
      : (entity) => read(entity).every((one) => test(one));
  }

  #setSize(): (entity: T) => number {
    const read = setOf(this.#symbols, this.#name(), this.#source.budget);
    return (entity) => read(entity).length;
  }

  /**
   * After `from`. Whether a related entity matches does not depend on the entity of the list, so that each is examined once,
   * however deep sub-queries are nested.
   */
  #subQuery(): (entity: T) => number {
    const source = this.#source;
    const set = entitiesOf(this.#symbols, this.#name());
    if (!this.#takeWord('where')) throw this.#unexpected();
    return set.use((related) => {
      const query = this.#nested(() => new QueryParser(source, related.symbols()).part());
      const { matches, skip = 0, limit = 'none' } = query;
      const results = new WeakMap<object, boolean>();
      const isMatch = (one: object & Parameters<typeof matches>[0]): boolean => {
        let result = results.get(one);
        if (result === undefined) results.set(one, (result = matches(one)));
        return result;
      };
      return (entity) => {
        source.budget.spend(related.cost());
        const found = Math.max(0, related.read(entity).filter(isMatch).length - Math.max(0, skip));
        return limit === 'none' || limit <= 0 ? found : Math.min(found, limit);
      };
    });
  }

  /** The operator at the current token, and its constants. */
  #test(name: string, operand: Pick<Operand<never>, 'type'>): Test {
    const { kind, source } = this.#source.token;
    if (kind === 'sign' && COMPARISONS.has(source)) {
      this.#next();
      return comparison(name, operand, source, this.#constant());
    }
    const isNegated = this.#takeWord('not');
    const test = this.#wordTest(name, operand);
    return isNegated ? (value) => !test(value) : test;
  }

  #wordTest(name: string, operand: Pick<Operand<never>, 'type'>): Test {
    if (this.#takeWord('in')) return membership(name, operand, this.#constants());
    if (this.#takeWord('contains')) return containment(name, operand, this.#constant(), false);
    if (this.#takeWord('icontains')) return containment(name, operand, this.#constant(), true);
    if (!this.#takeWord('between')) throw this.#unexpected();
    const low = this.#constant();
    if (!this.#takeWord('and')) throw this.#unexpected();
    return range(name, operand, low, this.#constant());
  }

  #constants(): readonly Constant[] {
    this.#sign('[');
    const constants: Constant[] = [];
    do {
      this.#term();
      constants.push(this.#constant());
    } while (this.#takeSign(','));
    this.#sign(']');
    if (constants.some(({ type }) => type !== constants[0]!.type || type === 'null' || type === 'boolean'))
      throw new QueryProblem('a list has values of one type: strings, numbers or dates');
    return constants;
  }

  #constant(): Constant {
    const { kind, source } = this.#source.token;
    const constant = this.#constantOf(kind, source);
    if (constant === undefined) throw this.#unexpected();
    this.#next();
    return constant;
  }

  #constantOf(kind: Token['kind'], source: string): Constant | undefined {
    if (kind === 'text') return { type: 'text', value: textOf(source) };
    if (kind === 'number') return { type: 'number', value: Number(source), source };
    if (kind === 'time') {
      const value = timeOf(source);
      return Number.isNaN(value) ? undefined : { type: 'date', value };
    }
    if (this.#isWord('true') || this.#isWord('false'))
      return { type: 'boolean', value: source.toLowerCase() === 'true' };
    return this.#isWord('null') ? { type: 'null', value: null } : undefined;
  }

  #sortFields(): readonly SortField<T>[] {
    if (!this.#takeWord('by')) throw this.#unexpected();
    return this.#listedFields();
  }

  #listedFields(): readonly SortField<T>[] {
    const fields: SortField<T>[] = [];
    do {
      this.#term();
      const { read } = operandOf(this.#symbols, this.#name());
      const isDescending = this.#takeWord('desc');
      if (!isDescending) this.#takeWord('asc');
      fields.push({ read, isDescending });
    } while (this.#takeSign(','));
    return fields;
  }

  #whole(): number {
    const { kind, source } = this.#source.token;
    if (kind !== 'number' || !/^-?\d{1,15}$/.test(source)) throw this.#unexpected();
    this.#next();
    return Number(source);
  }

  #name(): string {
    const { kind, source } = this.#source.token;
    if (kind !== 'name') throw this.#unexpected();
    const isQuoted = source.startsWith("'");
    if (isQuoted !== source.endsWith("'")) throw this.#unexpected();
    this.#next();
    return isQuoted ? source.slice(1, -1) : source;
  }

  #isOperator(): boolean {
    const { kind, source } = this.#source.token;
    if (kind === 'sign') return COMPARISONS.has(source);
    return ['not', 'in', 'contains', 'icontains', 'between'].some((word) => this.#isWord(word));
  }

  #nested<R>(read: () => R): R {
    this.#source.depth += 1;
    if (this.#source.depth > MAX_QUERY_DEPTH)
      throw new QueryProblem(`the query is nested deeper than ${MAX_QUERY_DEPTH}`);
    const result = read();
    this.#source.depth -= 1;
    return result;
  }

  #term(): void {
    this.#source.terms += 1;
    if (this.#source.terms > MAX_QUERY_TERMS)
      throw new QueryProblem(`the query has more than ${MAX_QUERY_TERMS} terms`);
  }

  #isWord(word: string): boolean {
    return this.#source.token.kind === 'name' && this.#source.token.source.toLowerCase() === word;
  }

  #takeWord(word: string): boolean {
    const isHere = this.#isWord(word);
    if (isHere) this.#next();
    return isHere;
  }

  #takeSign(sign: string): boolean {
    const isHere = this.#source.token.kind === 'sign' && this.#source.token.source === sign;
    if (isHere) this.#next();
    return isHere;
  }

  #sign(sign: string): void {
    if (!this.#takeSign(sign)) throw this.#unexpected();
  }

  #end(): void {
    if (this.#source.token.kind !== 'end') throw this.#unexpected();
  }

  #next(): void {
    this.#source.token = this.#source.lexer.next();
  }

  #unexpected(): QueryProblem {
    const { source, at } = this.#source.token;
    return new QueryProblem(`Unexpected symbol: "${source}" at line: 1 column: ${at}`);
  }
}
