/** The goals of the Management API; ratios are to a bare Fastify in the same run. */
import { PAINT_COLUMN } from '../browser-paint.ts';
import { between, fact, figure, least, most, quotient, type Goal, type Value } from '../goal.ts';
import { GATEWAY_SCENARIO, WITH_WRITES, WITHOUT_WRITES } from './gateway-under-writes.ts';
import { STREAMS_COLUMN, STREAMS_TABLE } from './console-streams.ts';
import { STREAMS_SCENARIO, WITH_STREAMS, WITHOUT_STREAMS } from './gateway-beside-streams.ts';
import { LOG_IN_PAGE } from './log-in-page.ts';
import {
  GUESSES_COLUMN,
  GUESSES_TABLE,
  guessesScenario,
  LOG_INS_COLUMN,
  LOG_INS_TABLE,
  logInScenario,
  WITH_GUESSES,
} from './password-guesses.ts';
import { HELLO } from './api-server.ts';
import { EMBEDDED, POSTGRESQL } from './bench-control.ts';

const US_PER_MS = 1_000;

const depth = (server: string): Value =>
  quotient(figure('page 1 of 100,000 providers', server), figure('page 400 of 100,000 providers', server));

export const API_GOALS: readonly Goal[] = [
  least('get frontdoor, embedded, to bare Fastify', '×', 0.35, between('get frontdoor', EMBEDDED, HELLO)),
  least('get frontdoor, PostgreSQL, to bare Fastify', '×', 0.15, between('get frontdoor', POSTGRESQL, HELLO)),
  most('page 1 against page 400, embedded', '×', 1.5, depth(EMBEDDED)),
  most('page 1 against page 400, PostgreSQL', '×', 1.5, depth(POSTGRESQL)),
  least('acknowledged creates, embedded', '/s', 500, figure('create provider', EMBEDDED)),
  ...[EMBEDDED, POSTGRESQL].map((server) => {
    const memory = fact(STREAMS_TABLE, server, STREAMS_COLUMN);
    return most(`memory of 200 open streams of changes, ${server}`, 'MiB', 32, memory);
  }),
  most(
    "gateway's p99 during 500 writes/s",
    '×',
    1.2,
    between(GATEWAY_SCENARIO, WITH_WRITES, WITHOUT_WRITES, 'p99Us'),
  ),
  most(
    "gateway's p99 beside 200 open streams",
    '×',
    1.2,
    between(STREAMS_SCENARIO, WITH_STREAMS, WITHOUT_STREAMS, 'p99Us'),
  ),
  ...[EMBEDDED, POSTGRESQL].flatMap((server) => {
    const requestMs = quotient(figure(guessesScenario(server), WITH_GUESSES, 'p99Us'), US_PER_MS);
    const logInMs = quotient(figure(logInScenario(server), WITH_GUESSES, 'p50Us'), US_PER_MS);
    const refused = fact(LOG_INS_TABLE, server, LOG_INS_COLUMN);
    const memory = fact(GUESSES_TABLE, server, GUESSES_COLUMN);
    return [
      most(`p99 of the API beside 1,000 guessed passwords/s, ${server}`, 'ms', 250, requestMs),
      most(`median log-in beside guesses of 200 networks, ${server}`, 'ms', 500, logInMs),
      most(`log-ins refused beside guesses of 200 networks, ${server}`, '', 0, refused),
      most(`memory of 1,000 guessed passwords/s, ${server}`, 'MiB', 128, memory),
    ];
  }),
  ...[EMBEDDED, POSTGRESQL].map((server) => {
    const paint = fact(LOG_IN_PAGE, server, PAINT_COLUMN);
    return most(`first contentful paint of the log-in page, ${server}`, 'ms', 300, paint);
  }),
];
