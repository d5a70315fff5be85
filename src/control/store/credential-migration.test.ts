// What earlier versions stored about sessions, links and passwords, after the migrations that end it with its credential.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sql } from 'kysely';
import { describeEachStore } from './engine/each-store-suite.ts';
import { openStore } from './engine/open-store.ts';
import type { Store } from './engine/store.ts';
import { migrations } from './migrations/migration-table.ts';
import { findConsoleSession, findPersonPasswords } from '../credentials/people/mod.ts';

const NOW_MS = 1_700_000_000_000;
const END_MS = NOW_MS + 3_600_000;
const EARLIER = Object.entries(migrations).filter(([name]) => name < '0032');
const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const [ORGANIZATION, FRONTDOOR, ACCOUNT, PROVIDER, LOG_IN] = [id(1), id(2), id(3), id(4), id(5)];
const [BY_PASSWORD, BY_FACTOR, BY_PROVIDER] = [id(11), id(12), id(13)];
const hmac = { hmac: (text: string) => `hmac of ${text}` };

/** Rows as the version before wrote them. */
async function fill({ db }: Store): Promise<void> {
  const insert = (table: string, row: Record<string, string | number | null>) =>
    sql`insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
      values (${sql.join(Object.values(row))})`.execute(db);
  const organization_id = ORGANIZATION;
  await insert('organization', { id: ORGANIZATION, name: 'x', created_at: 1 });
  await insert('frontdoor', { id: FRONTDOOR, organization_id, name: 'x', created_at: 1 });
  await insert('api_account', {
    ...{ id: ACCOUNT, organization_id, name: 'x', token_hmac: 'present', scopes: 'frontdoor.read' },
    ...{ previous_hmac: 'former', previous_until: END_MS, created_at: 1 },
  });
  await insert('auth_provider', {
    ...{ id: PROVIDER, frontdoor_id: FRONTDOOR, name: 'x', type: 'OIDC', enabled: 1, data: '{}' },
    ...{ version: 3, created_at: 1, updated_at: 1 },
  });
  await insert('console_log_in', {
    ...{ id: LOG_IN, organization_id, auth_provider_id: PROVIDER, roles: '[]', created_at: 1 },
  });
  for (const [at, person] of [BY_PASSWORD, BY_FACTOR, BY_PROVIDER].entries()) {
    await insert('person', { id: person, organization_id, name: 'x', role: 'reader', created_at: 1 });
    if (person === BY_PROVIDER) continue;
    await insert('person_password', {
      ...{ person_id: person, email: `p${at}@example.com`, password_hash: 'x', updated_at: NOW_MS + at },
      ...{ link_hmac: `link ${at}`, link_expires_at: END_MS },
    });
  }
  await insert('person_totp', {
    ...{ person_id: BY_FACTOR, secret_sealed: 'x', recovery_sealed: 'x', last_step: 0, failed_attempts: 0 },
    ...{ enrolled_at: NOW_MS + 7, updated_at: 1 },
  });
  await insert('invitation', {
    ...{ id: id(20), organization_id, name: 'x', role: 'operator', code_hmac: 'code', created_at: 1 },
    expires_at: END_MS,
  });
  const session = (name: string, more: Record<string, string | number>) =>
    insert('console_session', {
      ...{ id: name, token_hmac: hmac.hmac(name), organization_id, address: '', browser: '', created_at: 1 },
      ...{ proven_at: 1, last_used_at: NOW_MS, expires_at: END_MS, ...more },
    });
  await session('password', { person_id: BY_PASSWORD });
  await session('factor', { person_id: BY_FACTOR, second_factor: 1 });
  await session('provider', { person_id: BY_PROVIDER, auth_provider_id: PROVIDER });
  await session('token', { account_id: ACCOUNT });
}

describeEachStore('a database of an earlier version', (_open, newPlace) => {
  it('keeps the sessions of people, and no session, invitation or link whose credential is not known', async () => {
    const place = await newPlace();
    const old = await openStore({ ...place, migrations: Object.fromEntries(EARLIER) });
    await fill(old);
    await old.close();
    const store = await openStore(place);
    try {
      const { db } = store;
      const times = { nowMs: NOW_MS + 1, idleMs: 3_600_000 };
      const kept = async (name: string) => (await findConsoleSession(db, hmac, name, times))?.credential;
      assert.equal(await kept('password'), `password ${NOW_MS}`);
      assert.equal(await kept('factor'), `factor ${NOW_MS + 1} ${NOW_MS + 7}`);
      assert.equal(await kept('provider'), `provider ${LOG_IN} 3`);
      assert.equal(await kept('token'), undefined);
      assert.deepEqual(await db.selectFrom('invitation').select('id').execute(), []);
      const links = await db.selectFrom('person_password').select('link_hmac').execute();
      assert.deepEqual(links, [{ link_hmac: null }, { link_hmac: null }]);
      const [found] = await findPersonPasswords(db, 'p1@example.com');
      assert.deepEqual([found?.personId, found?.organizationId], [BY_FACTOR, ORGANIZATION]);
      const account = await db.selectFrom('api_account').select(['secret_id', 'previous_id']).execute();
      assert.deepEqual(account, [{ secret_id: 'second', previous_id: 'first' }]);
    } finally {
      await store.close();
    }
  });
});
