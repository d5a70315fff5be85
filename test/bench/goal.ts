/** What a goal is, and how the goals of all benchmarks read a result. Ratios are between figures of one run. */
import type { BenchResult } from './bench-result.ts';

export type Value = (result: BenchResult) => number | undefined;

export interface Goal {
  readonly name: string;
  /** Empty for a number of things. */
  readonly unit: '×' | '%' | '/s' | 'MB' | 'KiB' | 'MiB' | 'ms' | 's' | '';
  readonly limit: number;
  /** `least`: reached when the value is the limit or more. */
  readonly sense: 'least' | 'most';
  /** A text about this result that is appended to the name; none when absent. */
  readonly qualifier?: ((result: BenchResult) => string) | undefined;
  /** Undefined when the run did not measure it. */
  readonly value: Value;
}

export type MeasuredField = 'rate' | 'p50Us' | 'p99Us';
export type Statistic = 'median' | 'min';

export function least(name: string, unit: Goal['unit'], limit: number, value: Value): Goal {
  return { name, unit, limit, sense: 'least', value };
}

export function most(name: string, unit: Goal['unit'], limit: number, value: Value): Goal {
  return { name, unit, limit, sense: 'most', value };
}

export function isReached({ sense, limit }: Goal, value: number): boolean {
  return sense === 'least' ? value >= limit : value <= limit;
}

/** A target's figure in a scenario. */
export function figure(
  scenario: string,
  target: string,
  field: MeasuredField = 'rate',
  statistic: Statistic = 'median',
): Value {
  return ({ scenarios }) => scenarios[scenario]?.[target]?.[field]?.[statistic];
}

/** A figure of a table. */
export function fact(table: string, row: string, column: string): Value {
  return ({ tables }) => tables[table]?.[row]?.[column];
}

/** Undefined where one of the two was not measured. */
export function ratio(over: number | undefined, under: number | undefined): number | undefined {
  return over === undefined || under === undefined || under === 0 ? undefined : over / under;
}

/** One value as a multiple of another one. */
export function quotient(over: Value, under: Value | number): Value {
  return (result) => ratio(over(result), typeof under === 'number' ? under : under(result));
}

/** A target's figure as a multiple of another target's in the same scenario. */
export function between(
  scenario: string,
  target: string,
  other: string,
  field?: MeasuredField,
  statistic?: Statistic,
): Value {
  return quotient(figure(scenario, target, field, statistic), figure(scenario, other, field, statistic));
}
