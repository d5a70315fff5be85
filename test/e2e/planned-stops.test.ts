// Every part of a doubled installation is restarted as planned, under probes and streams: the short form of `chaos stops`.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DEFAULT_GATEWAY_LIMITS } from '#gateway';
import { programVersionText } from '../../bin/build-facts.ts';
import { runStopsRow, STOPS_ROWS } from '../chaos/stops/planned-stops.ts';
import { until } from '../support/deadline.ts';
import type { JsonRow } from '../support/fabric-mesh.ts';
import { postgresSkip } from '../support/postgres.ts';
import { STREAM_PIECE_MS, StopsWorld } from '../support/stops-world.ts';
import { undisturbed } from '../support/undisturbed.ts';

/** Requests a second, through both gateways. */
const PER_SECOND = 20;
/** At least twice the interval at which agents and gateways ask for the list of routers. */
const LISTED_TWICE_MS = 21_000;

describe('a planned restart', { skip: postgresSkip }, () => {
  let world: StopsWorld;
  before(async () => {
    world = await StopsWorld.start({ streams: 4, streamMs: 1_500 });
  });
  after(() => world?.stop());

  test('operators see which gateways and routers are online, and the release of routers of Frontdoor', async () => {
    const version = programVersionText();
    const [a] = world.replicas;
    const shown = async (kind: 'routers' | 'gateways'): Promise<JsonRow[]> =>
      JSON.parse(await world.mesh.run(a!, 'fabric', kind, '--json')) as JsonRow[];
    assert.deepEqual(
      (await shown('routers')).map((row) => [row['online'], row['version']]),
      [
        [true, version],
        [true, version],
      ],
    );
    await until(
      'both gateways online',
      () => shown('gateways'),
      (rows) => rows.length === 2 && rows.every((row) => row['online'] === true),
    );
  });

  for (const row of STOPS_ROWS.filter(({ isLong }) => isLong !== true)) {
    test(`fails no request: ${row.title}`, async () => {
      const lines: string[] = [];
      const outcome = await undisturbed({
        run: () =>
          runStopsRow(world, row, { rounds: 1, perSecond: PER_SECOND, say: (line) => lines.push(line) }),
        isGood: ({ total }) => total.failed === 0,
        restore: () => world.untilSettled(),
      });
      // Requests wait for so long and no longer; how fast a program starts is the machine's business.
      const isSlow = outcome.longestGapMs > DEFAULT_GATEWAY_LIMITS.absenceHoldMs - 1_000;
      if (row.isOnly !== true || !isSlow) assert.equal(outcome.total.failed, 0, lines.join('\n'));
    });
  }

  test('without any control plane a request that needs a new circuit fails as unavailable, not as forbidden; streams outlive it and the return', async () => {
    const streams = world.endlessStreams();
    const untilPieces = (count: number): Promise<unknown> =>
      until(
        'pieces of each stream',
        () => streams.map(({ isOpen, pieces }) => isOpen && pieces >= count),
        (all) => all.every(Boolean),
        2 * LISTED_TWICE_MS,
      );
    await untilPieces(1);
    await Promise.all(world.replicas.map((replica) => replica.kill()));
    const probes = world.probes(20);
    try {
      await until(
        'the reason',
        () => probes.all.map(({ failure }) => failure),
        (failures) => failures.includes('503 control-away'),
      );
    } finally {
      await probes.stop();
    }
    const reasons = new Set(probes.all.map(({ failure }) => failure));
    assert.deepEqual(
      [...reasons].filter((reason) => reason?.includes('not-authorized')),
      [],
    );
    await Promise.all(world.replicas.map((replica) => replica.start()));
    const back = Math.max(...streams.map(({ pieces }) => pieces));
    await world.untilSettled();
    await untilPieces(back + LISTED_TWICE_MS / STREAM_PIECE_MS);
    for (const stream of streams) stream.close();
  });

  test('a gateway that is gone is shown as offline', async () => {
    const [gone] = world.gateways;
    await gone!.stop();
    await until(
      'g1 offline',
      async () =>
        JSON.parse(await world.mesh.run(world.replicas[0]!, 'fabric', 'gateways', '--json')) as JsonRow[],
      (rows) => rows.some((row) => row['name'] === 'g1' && row['online'] === false),
    );
  });
});
