/** `frontdoor dev chaos stops`: planned restarts of each part under probes. The exit status is 1 when a goal is missed. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { postgresSkip } from '../../support/postgres.ts';
import { StopsWorld } from '../../support/stops-world.ts';
import { runStopsRow, STOPS_ROWS } from './planned-stops.ts';

export async function runStopsChaos(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '10' },
      row: { type: 'string', multiple: true, default: [] },
      rate: { type: 'string', default: '100' },
      streams: { type: 'string', default: '8' },
      'stream-ms': { type: 'string', default: '6000' },
    },
  });
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  if (postgresSkip !== false) {
    say(`planned stops need PostgreSQL: ${postgresSkip}`);
    return 1;
  }
  const rows = STOPS_ROWS.filter(({ row }) => values.row.length === 0 || values.row.includes(row));
  const world = await StopsWorld.start({
    streams: Number(values.streams),
    streamMs: Number(values['stream-ms']),
  });
  let isGood = true;
  try {
    for (const row of rows) {
      try {
        const context = { rounds: Number(values.rounds), perSecond: Number(values.rate), say };
        isGood = (await runStopsRow(world, row, context)).isGood && isGood;
      } catch (error) {
        say(`  broken off: ${error instanceof Error ? error.message : String(error)}`);
        isGood = false;
      }
    }
  } finally {
    await world.stop();
  }
  return isGood ? 0 : 1;
}
