import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { ephemeralSecrets } from '../secrets/key-file.ts';
import type { Secrets } from '../secrets/mod.ts';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import type { Store } from '../store/mod.ts';
import type { AuditEntry } from './audit-entry.ts';
import { appendAudit, auditHash, auditSeal } from './audit-store.ts';
import { verifyAudit } from './audit-verification.ts';

const entry = (organizationId: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
  organizationId,
  actor: { kind: 'account', id: 'a1' },
  action: 'changeThing',
  target: { kind: 'thing', id: 't1' },
  before: { name: 'old' },
  after: { name: 'new' },
  address: '192.0.2.1',
  result: 'ok',
  ...more,
});

describeEachStore('the audit chain', (open) => {
  let store: Store;
  let secrets: Secrets;
  before(async () => {
    store = await open();
    secrets = ephemeralSecrets();
  });
  after(() => store.close());

  const append = (made: AuditEntry, nowMs = 1_000) =>
    store.transaction((trx, touch) => appendAudit(trx, touch, secrets, made, nowMs));
  const chain = (organizationId: string) =>
    store.db
      .selectFrom('audit_event')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('sequence')
      .execute();
  const verify = (organizationId: string) => verifyAudit(store.db, secrets, organizationId);

  /** A chain of ten, which differ in their actions. */
  async function chainOfTen(organizationId: string): Promise<void> {
    for (let n = 1; n <= 10; n += 1) await append(entry(organizationId, { action: `action${n}` }));
    assert.deepEqual(await verify(organizationId), { valid: true, events: 10, firstInvalid: null });
  }

  it('has no gap and no fork when many write at once and some fail', async () => {
    const failing = (n: number) =>
      store.transaction(async (trx, touch) => {
        await appendAudit(trx, touch, secrets, entry('many', { action: `undone${n}` }), 1);
        throw new Error('undone');
      });
    const writes = Array.from({ length: 64 }, (_, n) =>
      n % 4 === 3 ? assert.rejects(failing(n), /undone/) : append(entry('many', { action: `done${n}` })),
    );
    await Promise.all(writes);
    const rows = await chain('many');
    assert.deepEqual(
      rows.map(({ sequence }) => sequence),
      Array.from({ length: 48 }, (_, n) => n + 1),
    );
    assert.equal(new Set(rows.map(({ action }) => action)).size, 48);
    assert.ok(rows.every(({ action }) => action.startsWith('done')));
    assert.deepEqual(await verify('many'), { valid: true, events: 48, firstInvalid: null });
  });

  it('notifies its listeners of the owner of each event', async () => {
    const received: string[] = [];
    store.onChange((changes) => void received.push(...changes.map(({ entity, id }) => `${entity} ${id}`)));
    await append(entry('announced'));
    assert.ok(received.includes('audit announced'));
  });

  it('keeps views without secrets, and large ones in outline', async () => {
    const data = { client_id: 'c', client_secret: 'hush-1', keys: [{ name: 'k', key: 'hush-2' }] };
    const before = { token: 'hush-3', code: 'hush-4', tokenExchange: true, data };
    await append(entry('views', { before, after: { id: 'x', big: 'y'.repeat(20_000) } }));
    await append(entry('views', { target: { kind: 'share', id: 's' }, before: { token: 'my-share' } }));
    const [first, second] = await chain('views');
    assert.ok(!first!.before!.includes('hush'));
    assert.deepEqual(JSON.parse(first!.before!), {
      token: '********',
      code: '********',
      tokenExchange: true,
      data: { client_id: 'c', client_secret: '********', keys: [{ name: 'k', key: '********' }] },
    });
    assert.deepEqual(JSON.parse(first!.after!), { id: 'x', big: '(20002 characters of JSON)' });
    assert.deepEqual(JSON.parse(second!.before!), { token: 'my-share' });
    assert.deepEqual(await verify('views'), { valid: true, events: 2, firstInvalid: null });
  });

  it('of an organization without events holds', async () => {
    assert.deepEqual(await verify('nobody'), { valid: true, events: 0, firstInvalid: null });
  });

  it('holds over many chunks', async () => {
    await store.transaction(async (trx, touch) => {
      for (let n = 0; n < 1_203; n += 1) await appendAudit(trx, touch, secrets, entry('long'), n);
    });
    assert.deepEqual(await verify('long'), { valid: true, events: 1_203, firstInvalid: null });
  });

  it('shows which event was changed, in any field', async () => {
    await chainOfTen('changed');
    const changes = {
      id: 'other',
      at: 5,
      actor_kind: 'client',
      actor_id: 'a2',
      action: 'other',
      target_kind: 'other',
      target_id: 't2',
      before: null,
      after: '{}',
      address: '192.0.2.2',
      result: 'refused',
      reason: 'none',
      occurrences: 2,
      hash: 'f'.repeat(64),
    } as const;
    for (const [field, value] of Object.entries(changes)) {
      const [row] = (await chain('changed')).filter(({ sequence }) => sequence === 4);
      const set = (to: object) =>
        store.db
          .updateTable('audit_event')
          .set(to)
          .where('organization_id', '=', 'changed')
          .where('sequence', '=', 4)
          .execute();
      await set({ [field]: value });
      assert.deepEqual(await verify('changed'), { valid: false, events: 3, firstInvalid: 4 }, field);
      await set({ [field]: row![field as 'id'] });
    }
    assert.equal((await verify('changed')).valid, true);
  });

  it('shows which event was removed, swapped or put in', async () => {
    await chainOfTen('removed');
    await store.db
      .deleteFrom('audit_event')
      .where('organization_id', '=', 'removed')
      .where('sequence', '=', 6)
      .execute();
    assert.deepEqual(await verify('removed'), { valid: false, events: 5, firstInvalid: 6 });

    await chainOfTen('swapped');
    for (const [from, to] of [
      [3, 100],
      [7, 3],
      [100, 7],
    ] as const) {
      const moved = store.db.updateTable('audit_event').set({ sequence: to });
      await moved.where('organization_id', '=', 'swapped').where('sequence', '=', from).execute();
    }
    assert.deepEqual(await verify('swapped'), { valid: false, events: 2, firstInvalid: 3 });

    for (const [name, sequence, firstInvalid] of [
      ['put-before', 0, 0],
      ['put-after', 11, 11],
    ] as const) {
      await chainOfTen(name);
      const [template] = await chain(name);
      await store.db
        .insertInto('audit_event')
        .values({ ...template!, id: `${name} forged`, sequence })
        .execute();
      assert.deepEqual(await verify(name), { valid: false, events: 10, firstInvalid });
    }
  });

  it('shows that its tail was cut off, with and without its head', async () => {
    await chainOfTen('cut');
    const cut = store.db.deleteFrom('audit_event').where('organization_id', '=', 'cut');
    await cut.where('sequence', '>', 7).execute();
    assert.deepEqual(await verify('cut'), { valid: false, events: 7, firstInvalid: 8 });
    // The best that can be done with the database alone: a head that names the event that is last now.
    const [last] = (await chain('cut')).slice(-1);
    for (const hash of [last!.hash, '0'.repeat(64)]) {
      const head = store.db.updateTable('audit_head').set({ sequence: 7, hash });
      await head.where('organization_id', '=', 'cut').execute();
      assert.deepEqual(await verify('cut'), { valid: false, events: 7, firstInvalid: 8 });
    }
    await store.db.deleteFrom('audit_head').where('organization_id', '=', 'cut').execute();
    assert.deepEqual(await verify('cut'), { valid: false, events: 0, firstInvalid: 1 });
  });

  it('cannot be made again without the key file', async () => {
    await chainOfTen('forged');
    const thief = ephemeralSecrets();
    const rows = await chain('forged');
    let seal = '0'.repeat(64);
    for (const { hash: _hash, ...row } of rows) {
      const forged = { ...row, address: '203.0.113.9' };
      const hash = auditHash(thief, seal, forged);
      seal = auditSeal(thief, hash);
      await store.db
        .updateTable('audit_event')
        .set({ ...forged, hash })
        .where('id', '=', row.id)
        .execute();
    }
    const head = store.db.updateTable('audit_head').set({ hash: seal });
    await head.where('organization_id', '=', 'forged').execute();
    assert.deepEqual(await verify('forged'), { valid: false, events: 0, firstInvalid: 1 });
    assert.equal((await verifyAudit(store.db, thief, 'forged')).valid, true);
  });
});
