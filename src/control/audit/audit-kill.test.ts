import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import process from 'node:process';
import { it } from 'node:test';
import { Secrets } from '../secrets/secrets.ts';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import { openStore } from '../store/mod.ts';
import { verifyAudit } from './audit-verification.ts';

const ORGANIZATIONS = ['org-1', 'org-2', 'org-3'];
const WRITERS = 16;
const ROUNDS = 3;
const KEY_BYTE = 7;

const moduleUrl = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);

/** Writes until it is killed; prints each frontdoor's id once it was acknowledged. */
const writer = (place: object): string => `
  import { appendAudit } from ${moduleUrl('./audit-store.ts')};
  import { Secrets } from ${moduleUrl('../secrets/secrets.ts')};
  import { createFrontdoor } from ${moduleUrl('../shares/records/frontdoor-store.ts')};
  import { openStore } from ${moduleUrl('../store/engine/open-store.ts')};
  const store = await openStore(${JSON.stringify(place)});
  const secrets = new Secrets([{ id: 'k', key: new Uint8Array(32).fill(${KEY_BYTE}) }]);
  const organizations = ${JSON.stringify(ORGANIZATIONS)};
  await Promise.all(Array.from({ length: ${WRITERS} }, async (_, lane) => {
    const organizationId = organizations[lane % organizations.length];
    for (;;) {
      const { id } = await store.transaction(async (trx, touch) => {
        const made = await createFrontdoor(trx, touch, { organizationId, name: 'x', nowMs: 1 });
        const actor = { kind: 'account', id: 'lane ' + lane };
        const target = { kind: 'frontdoor', id: made.id };
        const entry = { organizationId, actor, action: 'createFrontdoor', target, address: null, result: 'ok' };
        await appendAudit(trx, touch, secrets, entry, 1);
        return made;
      });
      process.stdout.write(id + '\\n');
    }
  }));`;

describeEachStore('the audit trail of a process that is killed', (_open, newPlace) => {
  it('holds exactly one event for each acknowledged change, and none for what is not there', async (t) => {
    const place = await newPlace();
    const first = await openStore(place);
    for (const id of ORGANIZATIONS) {
      await first.db.insertInto('organization').values({ id, name: id, created_at: 1 }).execute();
    }
    await first.close();

    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', writer(place)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let lines = 0;
      const reader = createInterface({ input: child.stdout });
      reader.on('line', (line) => {
        if (line.length === 36) acknowledged.push(line);
        lines += 1;
        if (lines === 150 + round * 37) child.kill('SIGKILL');
      });
      await once(reader, 'close', { signal: AbortSignal.timeout(60_000) });
    }

    const store = await openStore(place);
    // One snapshot reads both: the server may still commit what the killed process had sent.
    const { events, frontdoors } = await store.snapshot(async (db) => ({
      events: await db.selectFrom('audit_event').select(['target_id', 'organization_id']).execute(),
      frontdoors: await db.selectFrom('frontdoor').select(['id', 'organization_id']).execute(),
    }));
    const sorted = (rows: readonly (readonly [string | null, string])[]) => rows.map(String).toSorted();
    assert.deepEqual(
      sorted(events.map((event) => [event.target_id, event.organization_id])),
      sorted(frontdoors.map((frontdoor) => [frontdoor.id, frontdoor.organization_id])),
    );
    const present = new Set(events.map((event) => event.target_id));
    const lost = acknowledged.filter((id) => !present.has(id));
    t.diagnostic(`${acknowledged.length} acknowledged, ${lost.length} lost`);
    assert.deepEqual(lost, []);
    assert.ok(acknowledged.length >= 561, `${acknowledged.length} acknowledged`);
    const secrets = new Secrets([{ id: 'k', key: new Uint8Array(32).fill(KEY_BYTE) }]);
    for (const id of ORGANIZATIONS) {
      assert.equal((await verifyAudit(store.db, secrets, id)).valid, true, id);
    }
    await store.close();
  });
});
