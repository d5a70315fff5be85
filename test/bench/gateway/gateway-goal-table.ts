/** The goals of the gateway, for `up` with its agent. Ratios are to nginx as reverse proxy in the same run. */
import { UP, UP_KEY, UP_SESSION } from './front-names.ts';
import { NGINX_PROXY } from './bench-front.ts';
import { smallestShare } from './connection-spread.ts';
import type { GatewayBenchResult } from './gateway-bench-result.ts';
import { DOWNLOAD, scenarioName } from './gateway-scenario-table.ts';

export interface GatewayGoal {
  readonly name: string;
  readonly unit: '×' | '%' | 'KiB' | 'MiB';
  readonly limit: number;
  /** `least`: reached when the value is the limit or more. */
  readonly sense: 'least' | 'most';
  /** Whether the run measured it over TLS, on both sides, because there is no plain way; never when absent. */
  readonly overTls?: (result: GatewayBenchResult) => boolean;
  /** Undefined when the run did not measure it. */
  value(result: GatewayBenchResult): number | undefined;
}

type Field = 'rate' | 'p50Us' | 'p99Us';
type Value = GatewayGoal['value'];

const PLAIN_32 = scenarioName(false, false, 32);
const TLS_32 = scenarioName(true, false, 32);

/** `statistic` is the median; `min` for one connection, where the middle round says where the scheduler put processes. */
function figure(
  result: GatewayBenchResult,
  scenario: string,
  front: string,
  field: Field,
  statistic: 'median' | 'min' = 'median',
): number | undefined {
  return result.scenarios[scenario]?.[front]?.[field]?.[statistic];
}

function ratio(over: number | undefined, under: number | undefined): number | undefined {
  return over === undefined || under === undefined || under === 0 ? undefined : over / under;
}

const toNginx =
  (scenario: string, front: string, field: Field, statistic: 'median' | 'min' = 'median'): Value =>
  (result) =>
    ratio(
      figure(result, scenario, front, field, statistic),
      figure(result, scenario, NGINX_PROXY, field, statistic),
    );

/** Percent of the requests/s that `up` has without authentication; negative when it was faster with it. */
const cost =
  (scenario: string, front: string): Value =>
  (result) => {
    const kept = ratio(figure(result, scenario, front, 'rate'), figure(result, scenario, UP, 'rate'));
    return kept === undefined ? undefined : (1 - kept) * 100;
  };

const least = (name: string, unit: GatewayGoal['unit'], limit: number, value: Value): GatewayGoal => {
  return { name, unit, limit, sense: 'least', value };
};
const most = (name: string, unit: GatewayGoal['unit'], limit: number, value: Value): GatewayGoal => {
  return { name, unit, limit, sense: 'most', value };
};

/** The goals of speed are for requests with an API key: what is guarded is what is published. */
export const GATEWAY_GOALS: readonly GatewayGoal[] = [
  least('requests/s, 32 connections, API key', '×', 0.8, toNginx(PLAIN_32, UP_KEY, 'rate')),
  { ...least('requests/s, 32 connections, session', '×', 0.8, sessionRate), overTls: isSessionOverTls },
  most(
    'p50, one connection, API key',
    '×',
    3.5,
    toNginx(scenarioName(false, false, 1), UP_KEY, 'p50Us', 'min'),
  ),
  most('p99, 32 connections, API key', '×', 2, toNginx(PLAIN_32, UP_KEY, 'p99Us')),
  least(
    'new connections/s, 32 at once, API key',
    '×',
    0.5,
    toNginx(scenarioName(false, true, 32), UP_KEY, 'rate'),
  ),
  least('100 MB download, API key', '×', 0.6, toNginx(DOWNLOAD.plain, UP_KEY, 'rate')),
  most('what an API key costs, of requests/s', '%', 10, cost(PLAIN_32, UP_KEY)),
  { ...most('what a session costs, of requests/s', '%', 10, sessionCost), overTls: isSessionOverTls },
  least('TLS to clients, requests/s, 32 connections', '×', 0.8, toNginx(TLS_32, UP, 'rate')),
  most('memory per idle plain connection', 'KiB', 12, idlePlainKib),
  most('memory with 10,000 idle TLS connections', 'MiB', 1024, idleSecureMib),
  most('CPU per request, two workers to one', '×', 1.1, ({ workers }) =>
    ratio(workers?.twoWorkersUs, workers?.oneWorkerUs),
  ),
  least('connections at the worker that has fewer', '%', 40, ({ workers }) =>
    workers === undefined ? undefined : smallestShare(workers.spread) * 100,
  ),
];

/** Where a session does not count on plain HTTP. */
function isSessionOverTls({ scenarios }: GatewayBenchResult): boolean {
  const isMeasured = (scenario: string): boolean => scenarios[scenario]?.[UP_SESSION] !== undefined;
  return !isMeasured(PLAIN_32) && isMeasured(TLS_32);
}

function sessionRate(result: GatewayBenchResult): number | undefined {
  return toNginx(isSessionOverTls(result) ? TLS_32 : PLAIN_32, UP_SESSION, 'rate')(result);
}

function sessionCost(result: GatewayBenchResult): number | undefined {
  return cost(isSessionOverTls(result) ? TLS_32 : PLAIN_32, UP_SESSION)(result);
}

function idlePlainKib({ idle }: GatewayBenchResult): number | undefined {
  const facts = idle['plain']?.[UP];
  if (facts === undefined) return undefined;
  return Math.max(0, facts.heldBytes - facts.beforeBytes) / facts.connections / 1024;
}

/** All that the process holds then, not only what connections added. Fewer connections prove nothing. */
function idleSecureMib({ idle }: GatewayBenchResult): number | undefined {
  const facts = idle['TLS']?.[UP];
  return facts === undefined || facts.connections < 10_000 ? undefined : facts.heldBytes / 1024 / 1024;
}

export function isReached(goal: GatewayGoal, value: number): boolean {
  return goal.sense === 'least' ? value >= goal.limit : value <= goal.limit;
}
