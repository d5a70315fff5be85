// What callers see when the database fails: 503 with the reason, and all as before once it is back.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import { until, within } from '../../../../test/support/deadline.ts';
import { postgresSkip, startPostgres } from '../../../../test/support/postgres.ts';
import { newEmbeddedPlace, type OpenStore } from '../../store/engine/each-store-suite.ts';
import { openStore } from '../../store/mod.ts';
import { openApiWorld, type ApiWorld, type CallAnswer } from './api-fixture.ts';

const RECOVERY_MS = 10_000;

const create = (world: ApiWorld, name: string): Promise<CallAnswer> =>
  world.call('POST', '/frontdoor', { body: { name, organizationId: world.first.organizationId } });
const read = (world: ApiWorld): Promise<CallAnswer> =>
  world.call('GET', `/frontdoor/${world.first.frontdoorId}`);

function assertAway({ status, headers, body }: CallAnswer, message: RegExp): void {
  assert.equal(status, 503);
  assert.match(String(headers['retry-after']), /^\d+$/);
  assert.equal((body as { error: string }).error, 'unavailable');
  assert.match((body as { message: string }).message, message);
}

describe('an API whose database fails', () => {
  it('refuses writes while the disk is full, reads on, has what it acknowledged, and continues when there is room', async () => {
    const open: OpenStore = async (options) => openStore({ ...(await newEmbeddedPlace()), ...options });
    const world = await openApiWorld({ open });
    const { db } = world.store;
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db);
    await sql`pragma max_page_count = ${sql.raw(String(rows[0]!.page_count + 4))}`.execute(db);
    const acknowledged: string[] = [];
    let last = await create(world, 'x'.repeat(200));
    while (last.status === 201) {
      acknowledged.push((last.body as { id: string }).id);
      assert.ok(acknowledged.length < 1_000, 'the disk never gets full');
      last = await create(world, 'x'.repeat(200));
    }
    assertAway(last, /^The database has no room left on its disk$/);
    assert.equal((await read(world)).status, 200);
    for (const id of acknowledged) assert.equal((await world.call('GET', `/frontdoor/${id}`)).status, 200);
    await sql`pragma max_page_count = 1000000`.execute(db);
    assert.equal((await create(world, 'room again')).status, 201);
    await world.close();
  });

  it(
    'refuses everything while PostgreSQL is down, and continues by itself when it is back',
    { skip: postgresSkip },
    async () => {
      const server = await startPostgres();
      const open: OpenStore = async (options) =>
        openStore({ path: 'unused', database: await server.createDatabase(), ...options });
      const world = await openApiWorld({ open });
      assert.equal((await create(world, 'before')).status, 201);
      for (const end of [() => server.stop(), () => server.kill()]) {
        await end();
        assertAway(await create(world, 'down'), /^The database /);
        assertAway(await read(world), /^The database /);
        await server.start();
        await until(
          'a write',
          () => create(world, 'after'),
          ({ status }) => status === 201,
          RECOVERY_MS,
        );
        assert.equal((await read(world)).status, 200);
      }
      await world.close();
      server.destroy();
    },
  );

  it(
    'refuses everything soon while PostgreSQL is frozen, and continues by itself when it is back',
    { skip: postgresSkip },
    async () => {
      const server = await startPostgres();
      const open: OpenStore = async (options) =>
        openStore({ path: 'unused', database: await server.createDatabase(), ...options });
      const world = await openApiWorld({ open });
      assert.equal((await create(world, 'before')).status, 201);
      server.freeze();
      try {
        // More than there are connections, so that some wait for a turn, some for a new connection.
        const asked = Array.from({ length: 30 }, (_, i) =>
          i % 2 === 0 ? create(world, 'frozen') : read(world),
        );
        const answers = await within('refusals', Promise.all(asked));
        for (const answer of answers) assertAway(answer, /^The database /);
        assertAway(await within('a refusal', read(world)), /^The database does not answer$/);
      } finally {
        server.thaw();
      }
      await until(
        'a write',
        () => create(world, 'after'),
        ({ status }) => status === 201,
        RECOVERY_MS,
      );
      await world.close();
      server.destroy();
    },
  );
});
