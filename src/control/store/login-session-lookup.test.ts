import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { ManualClock } from '#base';
import { ephemeralSecrets } from '../secrets/key-file.ts';
import { describeEachStore } from './engine/each-store-suite.ts';
import { seedFirstRows } from '../installation/first-rows.ts';
import { migrations } from './migrations/migration-table.ts';
import { openStore } from './engine/open-store.ts';
import type { Store } from './engine/store.ts';

const before = Object.fromEntries(
  Object.entries(migrations).filter(([name]) => name < '0005-login-session-lookup'),
);
const SESSIONS = 1_100;

/** A share and a provider to log in with, in the rows of before. */
async function prepare(store: Store): Promise<{ readonly shareId: string; readonly providerId: string }> {
  const clock = new ManualClock();
  const first = (await seedFirstRows(store, ephemeralSecrets(), { zone: 'share.localhost', clock }))!;
  const { frontdoorId } = first;
  const [environmentId, shareId, providerId] = [randomUUID(), randomUUID(), randomUUID()];
  const at = { frontdoor_id: frontdoorId, created_at: 1 };
  const { db } = store;
  await db
    .insertInto('identity')
    .values({ ...at, id: environmentId, kind: 'environment', name: 'env', agent_version: null })
    .execute();
  await db
    .insertInto('share')
    .values({
      ...{ ...at, id: shareId, token: 'app', name: 'app', environment_id: environmentId },
      ...{ share_mode: 'public', backend_mode: 'proxy', target: 'http://127.0.0.1:9', updated_at: 1 },
      ...{ target_by_agent: 0, reserved: 1, epoch: 0 },
    })
    .execute();
  await db
    .insertInto('auth_provider')
    .values({
      ...{ ...at, id: providerId, name: 'idp', type: 'OIDC', enabled: 1, data: '{}' },
      ...{ secrets_sealed: null, version: 1, updated_at: 1 },
    })
    .execute();
  return { shareId, providerId };
}

describeEachStore('sessions of before they could be looked for', (_open, newPlace) => {
  it('have the e-mail of the person, or none, and are otherwise unchanged', async () => {
    const place = await newPlace();
    const old = await openStore({ ...place, migrations: before });
    const { shareId, providerId } = await prepare(old);
    const emailOf = (i: number): string | null => (i % 3 === 0 ? null : `p${i}@example.com`);
    const rows = Array.from({ length: SESSIONS }, (_all, i) => ({
      ...{ id: `session-${i}`, token_hmac: `hmac-${i}`, share_id: shareId, auth_provider_id: providerId },
      ...{ provider_version: 1, host: 'app.share.localhost', subject: `p${i}`, created_at: i },
      ...{ last_used_at: i, expires_at: i + 1_000 },
      identity: JSON.stringify({ email: emailOf(i), claims: { note: 'a\u0000claim' } }),
    }));
    for (let at = 0; at < SESSIONS; at += 100)
      await old.db
        .insertInto('login_session')
        .values(rows.slice(at, at + 100))
        .execute();
    await old.close();
    const store = await openStore(place);
    const now = await store.db.selectFrom('login_session').selectAll().orderBy('created_at').execute();
    assert.deepEqual(
      now.map((row) => ({ ...row })),
      rows.map((row, i) => ({ ...row, email: emailOf(i) })),
    );
    await store.close();
  });
});
