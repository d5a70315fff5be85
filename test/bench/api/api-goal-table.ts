/** The goals of the Management API; ratios are to a bare Fastify in the same run. */
import { HELLO, type ApiResults } from './api-result.ts';

export interface ApiGoal {
  readonly name: string;
  readonly unit: '×' | '/s';
  readonly limit: number;
  /** `least`: reached when the value is the limit or more. */
  readonly sense: 'least' | 'most';
  value(results: ApiResults, gatewayP99Ratio: number | undefined): number | undefined;
}

const toHello =
  (scenario: string, server: string) =>
  (results: ApiResults): number | undefined => {
    const targets = results.get(scenario);
    const ours = targets?.get(server)?.rate.median;
    const hello = targets?.get(HELLO)?.rate.median;
    return ours === undefined || hello === undefined ? undefined : ours / hello;
  };

const depth =
  (server: string) =>
  (results: ApiResults): number | undefined => {
    const first = results.get('page 1 of 100,000 providers')?.get(server)?.rate.median;
    const deep = results.get('page 400 of 100,000 providers')?.get(server)?.rate.median;
    return first === undefined || deep === undefined ? undefined : first / deep;
  };

const least = (name: string, unit: ApiGoal['unit'], limit: number, value: ApiGoal['value']): ApiGoal => ({
  name,
  unit,
  limit,
  sense: 'least',
  value,
});
const most = (name: string, unit: ApiGoal['unit'], limit: number, value: ApiGoal['value']): ApiGoal => ({
  name,
  unit,
  limit,
  sense: 'most',
  value,
});

export const API_GOALS: readonly ApiGoal[] = [
  least('get frontdoor, embedded, to bare Fastify', '×', 0.35, toHello('get frontdoor', 'embedded')),
  least('get frontdoor, PostgreSQL, to bare Fastify', '×', 0.15, toHello('get frontdoor', 'postgresql')),
  most('page 1 against page 400, embedded', '×', 1.5, depth('embedded')),
  most('page 1 against page 400, PostgreSQL', '×', 1.5, depth('postgresql')),
  least(
    'acknowledged creates, embedded',
    '/s',
    500,
    (results) => results.get('create provider')?.get('embedded')?.rate.median,
  ),
  most("gateway's p99 during 500 writes/s", '×', 1.2, (_results, ratio) => ratio),
];
