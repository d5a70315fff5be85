// Every part of a doubled installation is restarted as planned, under probes and streams: the short form of `chaos stops`.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DEFAULT_GATEWAY_LIMITS } from '#gateway';
import { runStopsRow, STOPS_ROWS } from '../chaos/stops/planned-stops.ts';
import { postgresSkip } from '../support/postgres.ts';
import { StopsWorld } from '../support/stops-world.ts';
import { undisturbed } from '../support/undisturbed.ts';

describe('a planned restart', { skip: postgresSkip }, () => {
  let world: StopsWorld;
  before(async () => {
    world = await StopsWorld.start({ streams: 4, streamMs: 1_500 });
  });
  after(() => world?.stop());

  for (const row of STOPS_ROWS) {
    test(`fails no request: ${row.title}`, async () => {
      const said: string[] = [];
      const outcome = await undisturbed({
        run: () => runStopsRow(world, row, { rounds: 1, perSecond: 40, say: (line) => said.push(line) }),
        isGood: ({ total }) => total.failed === 0,
        restore: () => world.untilSettled(),
      });
      // Requests wait for so long and no longer; how fast a program starts is the machine's business.
      const isSlow = outcome.longestGapMs > DEFAULT_GATEWAY_LIMITS.absenceHoldMs - 1_000;
      if (row.isOnly !== true || !isSlow) assert.equal(outcome.total.failed, 0, said.join('\n'));
    });
  }
});
