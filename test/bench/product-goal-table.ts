/** The goals of `up` with its agent; ratios are to the hand-built pair of nginx in the same run. */
import type { Measured } from './bench-result.ts';
import {
  between,
  fact,
  least,
  most,
  ratio,
  type Goal,
  type MeasuredField,
  type Statistic,
  type Value,
} from './goal.ts';
import { SERVICE } from './nginx-peer.ts';
import { OPENZITI } from './openziti-peer.ts';
import { NGINX_PAIR } from './outside-peers.ts';

/** The table of the product's processes, by shape, and its columns. */
export const PROCESSES = 'processes';
export const FIRST_ANSWER = 'start to first request, s';
export const PER_IDLE_CONNECTION = 'per idle connection, KiB';
export const idleColumn = (part: string): string => `${part} idle, MB`;
export const loadedColumn = (part: string): string => `${part} after load, MB`;

/** The scenarios that every target has a part in. */
export const KEEP_ALIVE = 'keep-alive';
export const MANY_CONNECTIONS = 'keep-alive, 128 connections';
export const ONE_CONNECTION = 'one connection';
export const NEW_CONNECTIONS = 'new connections';
export const DOWNLOAD = 'download';
export const DOWNLOADS_AT_ONCE = '32 downloads at once';

/** The table of starts, a row for each; `FIRST_RATIO` is the rate in the first seconds to that once warm. */
export const STARTS = 'the first 2 s after a start, 32 connections';
export const FIRST_RATE = 'first, requests/s';
export const WARM_RATE = 'warm, requests/s';
export const FIRST_RATIO = 'first to warm, ×';
export const ALL_STARTS = 'median';

/** The scenarios with and without end-to-end encryption, and the name of `up` in them. */
export const ENCRYPTION_REQUESTS = 'encryption, keep-alive';
export const ENCRYPTION_DOWNLOAD = 'encryption, download';
export const UP_IN_CLEAR = 'up, in clear';

/** The measured ways: `private share, encrypted`. */
export type Way = 'public' | 'private';
export type Secrecy = 'encrypted' | 'in clear';
export const targetName = (way: Way, secrecy: Secrecy): string => `${way} share, ${secrecy}`;

/** Encrypted circuits to those in clear, through the same parts. */
export const ENCRYPTION_GOALS: readonly Goal[] = (['private', 'public'] as const).flatMap((way) => {
  const ratioOf = (scenario: string) =>
    between(scenario, targetName(way, 'encrypted'), targetName(way, 'in clear'));
  return [
    least(`100 MB download of a ${way} share`, '×', 0.75, ratioOf(ENCRYPTION_DOWNLOAD)),
    least(`requests/s of a ${way} share, 32 connections`, '×', 0.75, ratioOf(ENCRYPTION_REQUESTS)),
  ];
});

/** The goals for one shape of the product. */
export function productGoals(shape: string): readonly Goal[] {
  const ofProcess = (column: string): Value => fact(PROCESSES, shape, column);
  const toPair = (scenario: string, field?: MeasuredField, statistic?: Statistic) =>
    between(scenario, shape, NGINX_PAIR, field, statistic);
  return [
    least('requests/s, 32 connections', '×', 1.2, toPair(KEEP_ALIVE)),
    least('requests/s, 128 connections', '×', 1.2, toPair(MANY_CONNECTIONS)),
    most('CPU per request, both sides', '×', 0.9, ({ scenarios }) =>
      ratio(cpuOf(scenarios[KEEP_ALIVE]?.[shape]), cpuOf(scenarios[KEEP_ALIVE]?.[NGINX_PAIR])),
    ),
    // The best round of each side: with one connection the median depends on where the scheduler placed the
    // processes.
    most('p50, one connection', '×', 1.5, toPair(ONE_CONNECTION, 'p50Us', 'min')),
    most('p99, 32 connections', '×', 1.2, toPair(KEEP_ALIVE, 'p99Us')),
    least('new connections/s', '×', 0.8, toPair(NEW_CONNECTIONS)),
    least("circuits/s, to OpenZiti's", '×', 5, between('circuits', shape, OPENZITI)),
    least('100 MB download', '×', 1, toPair(DOWNLOAD)),
    least('32 downloads at once', '×', 0.8, toPair(DOWNLOADS_AT_ONCE)),
    least(
      'requests/s, the first 2 s to later ones',
      '×',
      0.7,
      fact(STARTS, `${shape}, ${ALL_STARTS}`, FIRST_RATIO),
    ),
    most('memory of up, idle', 'MB', 110, ofProcess(idleColumn('up'))),
    most('memory of the agent, idle', 'MB', 60, ofProcess(idleColumn('agent'))),
    most('memory per idle client connection', 'KiB', 8, ofProcess(PER_IDLE_CONNECTION)),
    most('start to first request, state present', 's', 1, ofProcess(FIRST_ANSWER)),
  ];
}

/** Without the private service, which is the same for all. */
function cpuOf(measured: Measured | undefined): number | undefined {
  if (measured === undefined) return undefined;
  const parts = Object.entries(measured.cpuUs).filter(([name]) => name !== SERVICE);
  return parts.reduce((sum, [, us]) => sum + us, 0);
}
