/** The comparisons of a query, as functions of an entity's value. Types are checked when the query is read. */
import { QueryProblem, type Operand } from './query-symbol.ts';

export type Constant =
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'number'; readonly value: number; readonly source: string }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'date'; readonly value: number }
  | { readonly type: 'null'; readonly value: null };

type Value = string | number | boolean | null;
export type Test<V = Value> = (value: V) => boolean;

const ORDERS: Readonly<Record<string, (left: string | number, right: string | number) => boolean>> = {
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

/** Tests `= != < <= > >=`. A missing value equals only `null`, and is in no order. @throws QueryProblem */
export function comparison(
  name: string,
  { type }: Pick<Operand<never>, 'type'>,
  operator: string,
  constant: Constant,
): Test {
  const isEquality = operator === '=' || operator === '!=';
  if (constant.type === 'null') {
    if (!isEquality) throw unsupported(name, type, operator, constant);
    return operator === '=' ? (value) => value === null : (value) => value !== null;
  }
  const wanted = converted(type, constant);
  if (wanted === undefined || (typeof wanted === 'boolean' && !isEquality))
    throw unsupported(name, type, operator, constant);
  if (operator === '=') return (value) => value === wanted;
  if (operator === '!=') return (value) => value !== wanted;
  const order = ORDERS[operator]!;
  return (value) =>
    typeof value === typeof wanted && order(value as string | number, wanted as string | number);
}

/** Tests `in [...]`. @throws QueryProblem */
export function membership(
  name: string,
  { type }: Pick<Operand<never>, 'type'>,
  constants: readonly Constant[],
): Test {
  const wanted = new Set<Value>();
  for (const constant of constants) {
    const value = converted(type, constant);
    if (value === undefined) throw unsupported(name, type, 'in', constant);
    wanted.add(value);
  }
  return (value) => value !== null && wanted.has(value);
}

/** Tests `between LOW and HIGH`: the low end is included, the high end is not. @throws QueryProblem */
export function range(
  name: string,
  { type }: Pick<Operand<never>, 'type'>,
  low: Constant,
  high: Constant,
): Test {
  const [from, to] = [low.value, high.value];
  const isRange = low.type === type && high.type === type && (type === 'number' || type === 'date');
  if (!isRange || typeof from !== 'number' || typeof to !== 'number')
    throw unsupported(name, type, 'between', low);
  return (value) => typeof value === 'number' && value >= from && value < to;
}

/** Tests `contains` and `icontains`, which ignores case. @throws QueryProblem */
export function containment(
  name: string,
  { type }: Pick<Operand<never>, 'type'>,
  constant: Constant,
  ignoresCase: boolean,
): Test {
  const wanted = type === 'text' ? converted(type, constant) : undefined;
  if (typeof wanted !== 'string')
    throw unsupported(name, type, ignoresCase ? 'icontains' : 'contains', constant);
  if (!ignoresCase) return (value) => typeof value === 'string' && value.includes(wanted);
  const folded = wanted.toLowerCase();
  return (value) => typeof value === 'string' && value.toLowerCase().includes(folded);
}

/** A number compares with a text field by its own text, as it stands in the query. */
function converted(type: Operand<never>['type'], constant: Constant): Value | undefined {
  if (constant.type === type) return constant.value;
  return type === 'text' && constant.type === 'number' ? constant.source : undefined;
}

function unsupported(name: string, type: string, operator: string, constant: Constant): QueryProblem {
  const operation = `${name} ${operator} ${constant.value}`;
  return new QueryProblem(
    `operation ${operation} is not supported with operands types ${spelled(type)}, ${spelled(constant.type)}`,
  );
}

function spelled(type: string): string {
  return type === 'text' ? 'string' : type === 'boolean' ? 'bool' : type;
}
