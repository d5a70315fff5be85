import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { systemClock } from '#base';
import { isLikeHash, passwordHashing } from '../credentials/passwords/password-hash.ts';
import { ephemeralSecrets } from '../secrets/key-file.ts';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import {
  createOrganization,
  findPersonPasswords,
  insertPerson,
  putPersonPassword,
} from '../credentials/people/mod.ts';
import { seedFirstRows } from '../shares/records/first-rows.ts';
import type { Store } from '../store/mod.ts';
import { storeHashed } from './stored-password.ts';

const EMAIL = 'ann@example.com';
const ORGANIZATIONS = 6;

describeEachStore('passwords of one e-mail address', (open) => {
  const { cost } = passwordHashing;
  let store: Store;
  before(async () => {
    passwordHashing.cost = { memoryKib: 64, passes: 1 };
    store = await open();
    await seedFirstRows(store, ephemeralSecrets(), { zone: 'share.localhost', clock: systemClock });
  });
  after(async () => {
    passwordHashing.cost = cost;
    await store.close();
  });

  it('have one salt, when people of several organizations accept their invitations at once, too', async () => {
    const name = 'Ann';
    const organizations = await store.transaction(async (trx, touch) => {
      const made = [];
      for (let n = 0; n < ORGANIZATIONS; n += 1)
        made.push((await createOrganization(trx, touch, { name: `o${n}`, nowMs: 1 })).id);
      return made;
    });
    const accepted = organizations.map((organizationId, n) =>
      storeHashed(store, { email: EMAIL, password: `password ${n}` }, async (passwordHash, trx) => {
        const role = 'reader' as const;
        const { id } = await insertPerson(trx, { organizationId, name, email: EMAIL, role, nowMs: 1 });
        await putPersonPassword(trx, { personId: id, email: EMAIL, passwordHash }, 1);
      }),
    );
    await Promise.all(accepted);
    const [first, ...others] = (await findPersonPasswords(store.db, EMAIL)).map(
      (known) => known.passwordHash,
    );
    assert.equal(others.length, ORGANIZATIONS - 1);
    for (const other of others) {
      assert.ok(isLikeHash(first!, other));
      assert.notEqual(first, other);
    }
  });
});
