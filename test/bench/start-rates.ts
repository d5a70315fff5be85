/** How a program serves that has just started, compared with itself some seconds later. */
import type { BenchRun } from './bench-run.ts';
import type { Door } from './check-client.ts';
import { figureOf } from './figure.ts';
import type { HttpSamplers } from './http-samplers.ts';
import { ALL_STARTS, FIRST_RATE, FIRST_RATIO, STARTS, WARM_RATE } from './product-goal-table.ts';

const CONNECTIONS = 32;
const FIRST_SECONDS = 2;
const WARM_UP_SECONDS = 8;

/** A row for each of as many starts as there are rounds, and their medians. `restart` resolves when the door is served. */
export async function measureStarts(
  run: BenchRun,
  samplers: HttpSamplers,
  { shape, restart }: { readonly shape: string; restart(): Promise<Door> },
): Promise<void> {
  run.report(`starts of ${shape}: ${run.options.rounds}`);
  const requests = samplers.requests({ path: '/small', connections: CONNECTIONS });
  const rows: { readonly first: number; readonly warm: number }[] = [];
  while (rows.length < run.options.rounds) {
    const target = { name: shape, ...(await restart()), serviceRequests: 1, processes: new Map() };
    const rateOf = async (seconds: number): Promise<number> =>
      (await requests(target, seconds, (work) => work())).perSecond;
    const first = await rateOf(FIRST_SECONDS);
    await rateOf(WARM_UP_SECONDS);
    const row = { first, warm: await rateOf(FIRST_SECONDS) };
    rows.push(row);
    run.record(STARTS, `${shape}, start ${rows.length}`, columnsOf([row]));
  }
  run.record(STARTS, `${shape}, ${ALL_STARTS}`, columnsOf(rows));
}

function columnsOf(
  rows: readonly { readonly first: number; readonly warm: number }[],
): Record<string, number> {
  return {
    [FIRST_RATE]: figureOf(rows.map(({ first }) => first)).median,
    [WARM_RATE]: figureOf(rows.map(({ warm }) => warm)).median,
    [FIRST_RATIO]: figureOf(rows.map(({ first, warm }) => first / warm)).median,
  };
}
