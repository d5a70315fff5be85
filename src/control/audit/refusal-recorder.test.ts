import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { FrontdoorError, ManualClock, type Log } from '#base';
import { within } from '../../../test/support/deadline.ts';
import { ephemeralSecrets } from '../secrets/key-file.ts';
import type { Store } from '../store/mod.ts';
import { verifyAudit } from './audit-verification.ts';
import { RefusalRecorder, UNPROVEN, type RecordedRefusal } from './refusal-recorder.ts';
import { openEmbedded } from '../store/engine/migrated-copy-fixture.ts';

const refusal = (more: Partial<RecordedRefusal> = {}): RecordedRefusal => ({
  ...UNPROVEN,
  action: 'getFrontdoor',
  address: '192.0.2.1',
  reason: 'unauthorized',
  ...more,
});

describe('refusals', () => {
  const secrets = ephemeralSecrets();
  const clock = new ManualClock(1_000_000);
  let steadyMs: number;
  let warnings: string[];
  let store: Store;
  let recorder: RefusalRecorder;
  /** Makes every transaction fail while it is set. */
  let isAway: boolean;

  beforeEach(async () => {
    // With mocked timers the recorder writes only when a test advances the time.
    mock.timers.enable({ apis: ['setTimeout'] });
    steadyMs = 0;
    warnings = [];
    isAway = false;
    store = await openEmbedded();
    const warn = (_fields: object, message: string): void => void warnings.push(message);
    const log: Log = { debug: () => {}, info: () => {}, warn, error: warn, child: () => log };
    const away = () => Promise.reject(new FrontdoorError('unavailable', 'store-unavailable', 'away'));
    const unsteady: Store = {
      ...store,
      transaction: (work) => (isAway ? away() : store.transaction(work)),
    };
    recorder = new RefusalRecorder({ store: unsteady, secrets, clock, log, steadyMs: () => steadyMs });
  });
  afterEach(async () => {
    mock.timers.reset();
    await recorder.close();
    await store.close();
  });

  const events = async () => {
    const rows = await store.db
      .selectFrom('audit_event')
      .selectAll()
      .orderBy('organization_id')
      .orderBy('sequence')
      .execute();
    return rows.map(({ organization_id, actor_kind, actor_id, action, reason, occurrences }) =>
      [organization_id, actor_kind, actor_id ?? '-', action, reason, occurrences].join(' '),
    );
  };

  it('are written soon, by themselves, with everything that is known', async () => {
    const written = Promise.withResolvers<void>();
    store.onChange(() => written.resolve());
    recorder.record(refusal({ target: { kind: 'frontdoor', id: 'f1' } }));
    mock.timers.tick(500);
    await within('the event', written.promise);
    const [row] = await store.db.selectFrom('audit_event').selectAll().execute();
    const { id: _id, hash: _hash, ...rest } = row!;
    assert.deepEqual(rest, {
      organization_id: '',
      sequence: 1,
      at: 1_000_000,
      actor_kind: 'anonymous',
      actor_id: null,
      action: 'getFrontdoor',
      target_kind: 'frontdoor',
      target_id: 'f1',
      before: null,
      after: null,
      address: '192.0.2.1',
      result: 'refused',
      reason: 'unauthorized',
      occurrences: 1,
    });
  });

  it('that are equal and close together are one event; those that differ are their own', async () => {
    for (let n = 0; n < 50; n += 1) recorder.record(refusal());
    recorder.record(refusal({ reason: 'rate_limited' }));
    recorder.record(refusal({ action: 'deleteFrontdoor' }));
    recorder.record(refusal({ address: '192.0.2.2' }));
    recorder.record(refusal({ actor: { kind: 'account', id: 'a' }, owner: { organizationId: 'o' } }));
    await recorder.flush();
    const expected = [
      ' anonymous - getFrontdoor unauthorized 50',
      ' anonymous - getFrontdoor rate_limited 1',
      ' anonymous - deleteFrontdoor unauthorized 1',
      ' anonymous - getFrontdoor unauthorized 1',
      'o account a getFrontdoor unauthorized 1',
    ];
    assert.deepEqual(await events(), expected);

    // Refusals within the next ten seconds are recorded together at their end.
    for (let n = 0; n < 7; n += 1) {
      recorder.record(refusal());
      await recorder.flush();
    }
    assert.deepEqual(await events(), expected);
    steadyMs += 10_000;
    await recorder.flush();
    assert.deepEqual(
      (await events()).filter((line) => !expected.includes(line)),
      [' anonymous - getFrontdoor unauthorized 7'],
    );
    assert.equal((await verifyAudit(store.db, secrets, '')).valid, true);
  });

  it('of a machine belong to the organization of its frontdoor', async () => {
    const organization = { id: 'org', name: 'x', created_at: 1 };
    await store.db.insertInto('organization').values(organization).execute();
    const frontdoor = { id: 'door', organization_id: 'org', name: 'x', created_at: 1 };
    await store.db.insertInto('frontdoor').values(frontdoor).execute();
    const actor = { kind: 'environment', id: 'e' } as const;
    for (const ownerId of ['door', 'gone', null]) {
      recorder.record(refusal({ actor, owner: { ownerId } }));
    }
    await recorder.flush();
    assert.deepEqual(await events(), [
      ' environment e getFrontdoor unauthorized 1',
      ' environment e getFrontdoor unauthorized 1',
      'org environment e getFrontdoor unauthorized 1',
    ]);
  });

  it('of a flood make a bounded number of events; the others are counted', async () => {
    for (let n = 0; n < 5_000; n += 1) recorder.record(refusal({ reason: `reason-${n}` }));
    await recorder.flush();
    const lines = await events();
    assert.equal(lines.length, 101);
    assert.equal(lines.at(-1), ' system - recordRefusals overflow 4000');
    await recorder.close();
    const counts = (await store.db.selectFrom('audit_event').select('occurrences').execute()).map(
      (row) => row.occurrences,
    );
    assert.equal(counts.length, 1_001);
    assert.equal(
      counts.reduce((sum, n) => sum + n, 0),
      5_000,
    );
  });

  it('wait while the store is away, and are written afterwards', async () => {
    isAway = true;
    for (let n = 0; n < 1_010; n += 1) recorder.record(refusal({ reason: `reason-${n}` }));
    assert.equal(await recorder.flush(), false);
    recorder.record(refusal({ reason: 'reason-0' }));
    assert.deepEqual(warnings, ['refusals could not be recorded; retrying soon']);
    isAway = false;
    await recorder.flush();
    const lines = await events();
    assert.ok(lines.includes(' anonymous - getFrontdoor reason-0 2'));
    assert.ok(lines.includes(' system - recordRefusals overflow 10'));
  });

  it('are written at the end; the number of lost ones is logged', async () => {
    recorder.record(refusal());
    await recorder.close();
    recorder.record(refusal({ reason: 'too late' }));
    assert.deepEqual(await events(), [' anonymous - getFrontdoor unauthorized 1']);

    const other = new RefusalRecorder({
      store: { ...store, transaction: () => Promise.reject(new Error('away')) },
      secrets,
      clock,
      log: {
        debug: () => {},
        info: () => {},
        error: () => {},
        child: () => assert.fail(),
        warn: (fields) => warnings.push(JSON.stringify(fields)),
      },
    });
    for (let n = 0; n < 3; n += 1) other.record(refusal());
    await other.close();
    assert.equal(warnings.at(-1), '{"lost":3}');
  });
});
