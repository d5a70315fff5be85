// Refused log-ins at the console are in the audit trail, without what was typed.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { verifyAudit } from '../audit/mod.ts';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import { findPersonPasswords } from '../credentials/people/mod.ts';
import { bytesOfBase32 } from '../credentials/totp/base32-fixture.ts';
import { codeAt } from '../credentials/totp/totp-code.ts';
import { openConsoleWorld, TestBrowser, type ConsoleWorld } from './console-fixture.ts';

describeEachStore('refused log-ins at the console', (open) => {
  let world: ConsoleWorld;
  before(async () => (world = await openConsoleWorld({ open })));
  after(() => world.close());

  it('are in the trail of the organization of a known name, combined, and else in that of the installation', async () => {
    const { store, secrets, clock, first } = world.api;
    const email = 'ann@example.com';
    const ann = await world.person('reader', email);
    const begun = await ann.call('POST', '/caller/second-factor');
    const secret = bytesOfBase32(begun.json<{ secret: string }>().secret);
    const code = codeAt(secret, clock.nowMs());
    assert.equal((await ann.call('POST', '/caller/second-factor/confirmation', { code })).statusCode, 200);
    const personId = (await findPersonPasswords(store.db, email))[0]!.personId;
    // It writes what is left of its refusals when it is closed.
    const app = await world.openAnother();
    const typed = 'typed-by-mistake-7431';
    for (let at = 0; at < 3; at += 1) await new TestBrowser(app).logIn(email, typed);
    await new TestBrowser(app).logIn(`${typed}@example.com`, typed);
    await new TestBrowser(app).logIn(first.accountId, typed);
    await new TestBrowser(app).post('/console/welcome', { code: typed });
    const browser = new TestBrowser(app);
    await browser.logIn(email);
    for (let at = 0; at < 6; at += 1)
      await browser.post('/console/log-in/second-factor', { code: typed, to: '/console' });
    await app.close();
    const rows = await store.db
      .selectFrom('audit_event')
      .selectAll()
      .where('result', '=', 'refused')
      .orderBy('sequence')
      .execute();
    const of = (organizationId: string) => {
      const counts = new Map<string, number>();
      for (const row of rows.filter((each) => each.organization_id === organizationId)) {
        assert.deepEqual([row.actor_kind, row.actor_id, row.address], ['anonymous', null, '127.0.0.1']);
        const key = `${row.action} ${row.reason} ${row.target_id}`;
        counts.set(key, (counts.get(key) ?? 0) + row.occurrences);
      }
      return Object.fromEntries(counts);
    };
    assert.deepEqual(of(first.organizationId), {
      [`consoleLogIn wrong_credentials ${personId}`]: 3,
      [`consoleLogIn wrong_code ${personId}`]: 5,
      [`consoleLogIn locked ${personId}`]: 1,
    });
    assert.deepEqual(of(''), {
      'consoleLogIn wrong_credentials null': 2,
      'acceptInvitation unknown_code null': 1,
    });
    assert.ok(!(JSON.stringify(rows) + world.api.logLines.join('\n')).includes(typed));
    for (const chain of ['', first.organizationId])
      assert.equal((await verifyAudit(store.db, secrets, chain)).valid, true);
  });
});
