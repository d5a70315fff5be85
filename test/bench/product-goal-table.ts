/** The goals of the first version, for `up` with its agent; ratios are to nginx as reverse proxy in the same run. */
import type { BenchResult } from './bench-result.ts';
import { targetName } from './encryption/target-name.ts';
import { between, factIn, figureIn, least, most, ratio, type Goal } from './goal.ts';
import { NGINX_PROXY } from './nginx-peer.ts';
import { OPENZITI } from './openziti-peer.ts';

/**
 * Circuits per second that OpenZiti 1.7.2 made on a machine of two cores in an earlier measurement: between 47 and
 * 84. The upper one is what we compare with when no OpenZiti takes part in the run.
 */
export const OPENZITI_CIRCUITS_PER_SECOND = { least: 47, most: 84 };

/** The table of the product's processes, by shape, and its columns. */
export const PROCESSES = 'processes';
export const FIRST_ANSWER = 'start to first request, s';
export const PER_IDLE_CONNECTION = 'per idle connection, KiB';
export const idleColumn = (part: string): string => `${part} idle, MB`;
export const loadedColumn = (part: string): string => `${part} after load, MB`;

/** The scenarios with and without end-to-end encryption, and the name of `up` in them. */
export const ENCRYPTION_REQUESTS = 'encryption, keep-alive';
export const ENCRYPTION_DOWNLOAD = 'encryption, download';
export const UP_IN_CLEAR = 'up, in clear';

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
  const fact = (column: string) => (result: BenchResult) => factIn(result, PROCESSES, shape, column);
  const keepAlive = (field: 'rate' | 'p99Us') => between('keep-alive', shape, NGINX_PROXY, field);
  return [
    least('requests/s, 32 connections', '×', 0.5, keepAlive('rate')),
    // The best round of each side: with one connection the median depends on where the scheduler placed the
    // processes.
    most('p50, one connection', '×', 5, between('one connection', shape, NGINX_PROXY, 'p50Us', 'min')),
    most('p99, 32 connections', '×', 3, keepAlive('p99Us')),
    least('new connections/s', '×', 0.3, between('new connections', shape, NGINX_PROXY)),
    {
      ...least("circuits/s, to OpenZiti's", '×', 5, (result) =>
        ratio(circuitRate(result, shape), circuitRate(result, OPENZITI) ?? OPENZITI_CIRCUITS_PER_SECOND.most),
      ),
      qualifier: (result) =>
        circuitRate(result, OPENZITI) === undefined
          ? ` ${OPENZITI_CIRCUITS_PER_SECOND.most}/s of an earlier run`
          : ' in this run',
    },
    least('100 MB download', '×', 0.3, between('download', shape, NGINX_PROXY)),
    most('memory of up, idle', 'MB', 200, fact(idleColumn('up'))),
    most('memory of the agent, idle', 'MB', 90, fact(idleColumn('agent'))),
    most('memory per idle client connection', 'KiB', 24, fact(PER_IDLE_CONNECTION)),
    most('start to first request, state present', 's', 3, fact(FIRST_ANSWER)),
  ];
}

function circuitRate(result: BenchResult, target: string): number | undefined {
  return figureIn(result, 'circuits', target);
}
