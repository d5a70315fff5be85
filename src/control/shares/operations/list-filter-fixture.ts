/**
 * Measures filters and orders of the list of shares over 100,000 of them, and the search, on both databases, with 15 calls each:
 * `npx frontdoor dev node src/control/shares/operations/list-filter-fixture.ts`. Prints the fastest, the median and the slowest
 * call, and the least CPU time of this process for a call, in milliseconds.
 */
import process from 'node:process';
import { sql } from 'kysely';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';
import { openPostgres } from '../../store/engine/each-store-suite.ts';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';

const SHARES = 100_000;
const ENVIRONMENTS = 100;
const ROWS_A_STATEMENT = 500;
const CALLS = 15;
const FAILED_EVERY = 50;

for (const [name, open] of [
  ['embedded', openEmbedded],
  ['PostgreSQL', openPostgres],
] as const) {
  const world = await openApiWorld({ open });
  const { environmentId, providerId } = await fill(world);
  // PostgreSQL does this by itself, some time after rows were added.
  await sql`analyze`.execute(world.store.db);
  const from = new Date(world.clock.nowMs() - 60_000).toISOString();
  const queries = [
    '',
    'sort=createdAt,desc',
    'sort=name',
    'sort=status',
    'name=app-77',
    'name=app-77777',
    'name=nothing-like-it',
    'name=app',
    'name=app&sort=createdAt,desc',
    `environmentId=${environmentId}`,
    `providerId=${providerId}`,
    `from=${encodeURIComponent(from)}`,
    'status=FAILED',
    'status=PENDING',
    'status=DEPLOYED',
    'status=DEPLOYED&page=2400',
    'status=FAILED&sort=createdAt,desc',
    `status=FAILED&environmentId=${environmentId}&name=app`,
  ];
  for (const query of queries) {
    const figures = await measured(world, `/frontdoor/${world.first.frontdoorId}/shares?${query}`);
    process.stdout.write(`${name.padEnd(11)} ${figures} ${query}\n`);
  }
  for (const text of [
    'app-77',
    'app-77777',
    'share-077777',
    'nothing-like-it',
    'app',
    'a',
    'APP-9',
    'staff',
  ]) {
    const figures = await measured(world, `/search?q=${text}`);
    process.stdout.write(`${name.padEnd(11)} ${figures} search ${text}\n`);
  }
  await world.close();
}
process.exit(0);

async function measured(world: ApiWorld, url: string): Promise<string> {
  const times: number[] = [];
  const cpu: number[] = [];
  let total = 0;
  for (let call = 0; call < CALLS; call += 1) {
    const startMs = performance.now();
    const before = process.cpuUsage();
    const { body } = await world.app.inject({
      url,
      headers: { authorization: world.authorization },
    });
    times.push(performance.now() - startMs);
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1_000);
    const { totalElements, results } = JSON.parse(body) as { totalElements?: number; results?: unknown[] };
    total = totalElements ?? results!.length;
  }
  times.sort((a, b) => a - b);
  const figures = [times[0]!, times[Math.floor(CALLS / 2)]!, times.at(-1)!, Math.min(...cpu)];
  return `${figures.map((ms) => ms.toFixed(1).padStart(7)).join(' ')} ms ${String(total).padStart(7)} found`;
}

async function fill(world: ApiWorld): Promise<{ environmentId: string; providerId: string }> {
  const { first, store, clock } = world;
  const environments: string[] = [];
  for (let i = 0; i < ENVIRONMENTS; i += 1) environments.push(await world.addEnvironment(`env-${i}`));
  for (const id of environments) world.connected.add(id);
  const made = await world.call('POST', `/frontdoor/${first.frontdoorId}/auth-providers`, {
    body: { name: 'staff', type: 'API_KEY', data: { placement: 'bearer', keys: [{ name: 'k' }] } },
  });
  const { id: providerId } = made.body as { id: string };
  const rows = Array.from({ length: SHARES }, (_, i) => ({
    id: `share-${String(i).padStart(6, '0')}`,
    frontdoor_id: first.frontdoorId,
    environment_id: environments[i % ENVIRONMENTS]!,
    token: `app-${i}`,
    name: `app-${i}`,
    ...({ share_mode: 'private', backend_mode: 'proxy' } as const),
    target: 'http://127.0.0.1:80',
    reserved: 1,
    target_by_agent: 0,
    epoch: 1,
    created_at: clock.nowMs() - (SHARES - i) * 100,
    updated_at: clock.nowMs(),
  }));
  for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT) {
    const some = rows.slice(at, at + ROWS_A_STATEMENT);
    await store.transaction(async (trx, touch) => {
      await trx.insertInto('share').values(some).execute();
      const guards = some
        .filter((_, i) => i % 10 === 0)
        .map(({ id }) => ({ share_id: id, auth_provider_id: providerId, position: 0 }));
      await trx.insertInto('share_auth_provider').values(guards).execute();
      for (const { id } of some) touch('share', id);
    });
    for (const [i, { id }] of some.entries())
      world.statuses.set(id, { state: i % FAILED_EVERY === 0 ? 'FAILED' : 'DEPLOYED' });
  }
  return { environmentId: environments[0]!, providerId };
}
