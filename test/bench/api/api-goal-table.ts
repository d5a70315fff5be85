/** The goals of the Management API; ratios are to a bare Fastify in the same run. */
import { between, figure, least, most, quotient, type Goal, type Value } from '../goal.ts';
import { GATEWAY_SCENARIO, WITH_WRITES, WITHOUT_WRITES } from './gateway-under-writes.ts';
import { HELLO } from './api-server.ts';
import { EMBEDDED, POSTGRESQL } from './bench-control.ts';

const depth = (server: string): Value =>
  quotient(figure('page 1 of 100,000 providers', server), figure('page 400 of 100,000 providers', server));

export const API_GOALS: readonly Goal[] = [
  least('get frontdoor, embedded, to bare Fastify', '×', 0.35, between('get frontdoor', EMBEDDED, HELLO)),
  least('get frontdoor, PostgreSQL, to bare Fastify', '×', 0.15, between('get frontdoor', POSTGRESQL, HELLO)),
  most('page 1 against page 400, embedded', '×', 1.5, depth(EMBEDDED)),
  most('page 1 against page 400, PostgreSQL', '×', 1.5, depth(POSTGRESQL)),
  least('acknowledged creates, embedded', '/s', 500, figure('create provider', EMBEDDED)),
  most(
    "gateway's p99 during 500 writes/s",
    '×',
    1.2,
    between(GATEWAY_SCENARIO, WITH_WRITES, WITHOUT_WRITES, 'p99Us'),
  ),
];
