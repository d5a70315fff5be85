import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { sql } from 'kysely';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

/**
 * Tables that may name a frontdoor, or what it held, after it is gone: the audit trail is about the past, and sums of
 * traffic go with the next sweep of the metric store.
 */
const KEEPING = ['audit_event', 'audit_head', 'metric_rollup'];

describeEachStore('frontdoors', (open) => {
  it('that are deleted leave no row in any table, and take nothing of another', async () => {
    const world = await openApiWorld({ open });
    try {
      const { organizationId, frontdoorId } = world.first;
      const made = await world.call('POST', '/frontdoor', { body: { name: 'Doomed', organizationId } });
      const doomed = (made.body as { id: string }).id;
      const kept = await filled(world, frontdoorId);
      const ids = await filled(world, doomed);
      const before = await tablesNaming(world, ids);
      assert.deepEqual(before, [
        'api_session',
        'auth_provider',
        'auth_provider_key',
        'certificate',
        'collection',
        'enrollment',
        'frontdoor',
        'identity',
        'share',
        'share_auth_provider',
        'share_frontend',
        'share_grant',
        'terminator',
      ]);
      assert.equal((await world.call('DELETE', `/frontdoor/${doomed}`)).status, 204);
      assert.deepEqual(await tablesNaming(world, ids), []);
      assert.deepEqual(await tablesNaming(world, kept), before);
      assert.equal((await world.call('GET', `/frontdoor/${doomed}/auth-providers`)).status, 403);
    } finally {
      await world.close();
    }
  });
});

/** Everything that a frontdoor can hold; the ids of it all. */
async function filled(world: ApiWorld, frontdoorId: string): Promise<readonly string[]> {
  const base = `/frontdoor/${frontdoorId}`;
  const create = async (path: string, body?: unknown): Promise<Readonly<Record<string, string>>> => {
    const answer = await world.call('POST', base + path, body === undefined ? {} : { body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body as Record<string, string>;
  };
  const host = await world.addEnvironment('host', frontdoorId);
  const guest = await world.addEnvironment('guest', frontdoorId);
  await create('/agents/enrollments');
  const data = { placement: 'bearer', keys: [{ name: 'a' }] };
  const provider = await create('/auth-providers', { name: 'Keys', type: 'API_KEY', data });
  const share = {
    environmentId: host,
    backendMode: 'proxy',
    target: 'http://h:1',
    authProviderIds: [provider['id']],
  };
  const name = `shared-${frontdoorId.slice(0, 8)}`;
  await create('/shares', { ...share, name, shareMode: 'public' });
  await create('/shares', { ...share, shareMode: 'private', grants: [guest] });
  const { db } = world.store;
  const shares = await db.selectFrom('share').select('id').where('frontdoor_id', '=', frontdoorId).execute();
  const times = { created_at: 1, expires_at: 2 };
  const routerId = randomUUID();
  await db
    .insertInto('identity')
    .values({
      id: routerId,
      kind: 'router',
      frontdoor_id: null,
      name: 'router',
      agent_version: null,
      created_at: 1,
    })
    .execute();
  await db
    .insertInto('certificate')
    .values({ fingerprint: randomUUID(), identity_id: host, spki_sha256: 'x', not_after: 2, created_at: 1 })
    .execute();
  await db
    .insertInto('api_session')
    .values({
      id: randomUUID(),
      identity_id: host,
      token_hmac: randomUUID(),
      token_sealed: 'x',
      fingerprint: 'x',
      config_types: '[]',
      method: 'cert',
      certificates: '[]',
      form: 'opaque',
      ...times,
    })
    .execute();
  await db
    .insertInto('terminator')
    .values({
      id: randomUUID(),
      kind: 'share',
      share_id: shares[0]!.id,
      router_id: routerId,
      identity_id: host,
      binding: 'edge',
      address: 'x',
      instance_id: '',
      cost: 0,
      precedence: 0,
      peer_data: '{}',
      created_at: 1,
    })
    .execute();
  return [frontdoorId, host, guest, provider['id']!, ...shares.map(({ id }) => id)];
}

/** Every table of the database that contains one of these ids. */
async function tablesNaming({ store }: ApiWorld, ids: readonly string[]): Promise<string[]> {
  const tables = await store.db.introspection.getTables();
  const naming: string[] = [];
  for (const { name } of tables.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (KEEPING.includes(name)) continue;
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(store.db);
    const text = JSON.stringify(rows);
    if (ids.some((id) => text.includes(id))) naming.push(name);
  }
  return naming;
}
