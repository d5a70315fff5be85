/** The goals of the gateway, for `up` with its agent. Ratios are to nginx as reverse proxy in the same run. */
import type { BenchResult } from '../bench-result.ts';
import {
  between,
  fact,
  figure,
  least,
  most,
  type MeasuredField,
  type Goal,
  type Statistic,
  type Value,
} from '../goal.ts';
import { NGINX_PROXY } from '../nginx-peer.ts';
import { UP, UP_KEY, UP_SESSION } from './bench-front.ts';
import { NGINX_PAIR } from './http2-pairs.ts';
import {
  CONNECTIONS_COLUMN,
  DOWNLOAD,
  EACH_COLUMN,
  HELD_COLUMN,
  HTTP2_SCENARIOS,
  IDLE_TABLES,
  scenarioName,
} from './gateway-scenario-table.ts';

const PLAIN_1 = scenarioName(false, false, 1);
const PLAIN_32 = scenarioName(false, false, 32);
const PLAIN_32_NEW = scenarioName(false, true, 32);
const TLS_32 = scenarioName(true, false, 32);
/** Fewer idle connections prove nothing about so many. */
const MANY_IDLE = 10_000;

const toNginx = (scenario: string, front: string, field?: MeasuredField, statistic?: Statistic): Value =>
  between(scenario, front, NGINX_PROXY, field, statistic);

/** Percent of the requests/s that `up` has without authentication; negative when it was faster with it. */
const cost =
  (scenario: string, front: string): Value =>
  (result) => {
    const kept = between(scenario, front, UP)(result);
    return kept === undefined ? undefined : (1 - kept) * 100;
  };

/** The goals of speed are for requests with an API key: what is guarded is what is published. */
export const GATEWAY_GOALS: readonly Goal[] = [
  least('requests/s, 32 connections, API key', '×', 0.8, toNginx(PLAIN_32, UP_KEY)),
  { ...least('requests/s, 32 connections, session', '×', 0.8, sessionRate), qualifier: overTls },
  most('p50, one connection, API key', '×', 3.5, toNginx(PLAIN_1, UP_KEY, 'p50Us', 'min')),
  most('p99, 32 connections, API key', '×', 2, toNginx(PLAIN_32, UP_KEY, 'p99Us')),
  least('new connections/s, 32 at once, API key', '×', 0.5, toNginx(PLAIN_32_NEW, UP_KEY)),
  least('100 MB download, API key', '×', 0.6, toNginx(DOWNLOAD.plain, UP_KEY)),
  most('what an API key costs, of requests/s', '%', 10, cost(PLAIN_32, UP_KEY)),
  { ...most('what a session costs, of requests/s', '%', 10, sessionCost), qualifier: overTls },
  least('TLS to clients, requests/s, 32 connections', '×', 0.8, toNginx(TLS_32, UP)),
  ...HTTP2_SCENARIOS.map(({ name }) =>
    least(`${name}, to the pair`, '×', 0.5, between(name, UP, NGINX_PAIR)),
  ),
  most('memory per idle plain connection', 'KiB', 12, fact(IDLE_TABLES.plain, UP, EACH_COLUMN)),
  most('memory with 10,000 idle TLS connections', 'MiB', 1024, idleSecureMib),
];

/** Whether a session was measured over TLS alone, on both sides: where it does not count on plain HTTP. */
function isSessionOverTls(result: BenchResult): boolean {
  const isMeasured = (scenario: string): boolean => figure(scenario, UP_SESSION)(result) !== undefined;
  return !isMeasured(PLAIN_32) && isMeasured(TLS_32);
}

function overTls(result: BenchResult): string {
  return isSessionOverTls(result) ? ', over TLS' : '';
}

function sessionRate(result: BenchResult): number | undefined {
  return toNginx(isSessionOverTls(result) ? TLS_32 : PLAIN_32, UP_SESSION)(result);
}

function sessionCost(result: BenchResult): number | undefined {
  return cost(isSessionOverTls(result) ? TLS_32 : PLAIN_32, UP_SESSION)(result);
}

/** All that the process holds then, not only what connections added. */
function idleSecureMib(result: BenchResult): number | undefined {
  const idle = (column: string) => fact(IDLE_TABLES.secure, UP, column)(result);
  return (idle(CONNECTIONS_COLUMN) ?? 0) < MANY_IDLE ? undefined : idle(HELD_COLUMN);
}
