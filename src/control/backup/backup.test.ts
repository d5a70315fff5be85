import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { after, before, describe, it, test } from 'node:test';
import { silentLog, systemClock } from '#base';
import { until, within } from '../../../test/support/deadline.ts';
import { ephemeralSecrets } from '../secrets/key-file.ts';
import { describeEachStore, openPostgres } from '../store/engine/each-store-suite.ts';
import { openEmbedded } from '../store/engine/migrated-copy-fixture.ts';
import { createFabricNode } from '../overlay/records/mod.ts';
import { grantFrontdoor } from '../shares/records/frontdoor-store.ts';
import { listEnvironments } from '../shares/records/environment-store.ts';
import { seedFirstRows } from '../shares/records/first-rows.ts';
import type { Store } from '../store/mod.ts';
import { openEmbeddedStore } from '../store/engine/embedded-store.ts';
import { backupLines } from './backup-lines.ts';
import { BACKED_UP } from './backup-order-table.ts';
import { openBackup } from './backup-stream.ts';
import { checkBackup, restoreBackup } from './restore.ts';

const folder = mkdtempSync(join(tmpdir(), 'frontdoor-backup-test-'));
after(() => rmSync(folder, { recursive: true }));
const secrets = ephemeralSecrets();
const zone = 'share.localhost';
let files = 0;

/** `whileOpen` runs before it is read. */
async function backupOf(store: Store, whileOpen: () => Promise<void> = async () => {}): Promise<string> {
  const file = join(folder, `${(files += 1)}.backup`);
  const { stream, closed } = await openBackup({ store, clock: systemClock, log: silentLog });
  await whileOpen();
  await pipeline(stream, createWriteStream(file));
  await closed;
  return file;
}

/** A file with the lines changed; the checksum stays what it was. */
function changed(file: string, change: (text: string) => string): string {
  const other = join(folder, `${(files += 1)}.backup`);
  writeFileSync(other, gzipSync(change(gunzipSync(readFileSync(file)).toString())));
  return other;
}

async function contentOf(store: Store): Promise<string[]> {
  const lines: string[] = [];
  await store.snapshot(async (db) => {
    for await (const text of backupLines(db, 0)) lines.push(...text.split('\n').slice(0, -1));
  });
  return lines;
}

/** So many environments with their certificates, from `n` on, in one transaction; `writer` and number are in their names. */
async function write(store: Store, frontdoorId: string, writer: number, n: number, count = 1): Promise<void> {
  await store.transaction(async (trx, touch) => {
    for (let at = n; at < n + count; at += 1) {
      const id = randomUUID();
      const name = `w${writer}-${String(at).padStart(6, '0')}`;
      await trx
        .insertInto('identity')
        .values({
          id,
          kind: 'environment',
          frontdoor_id: frontdoorId,
          name,
          agent_version: null,
          created_at: at,
        })
        .execute();
      await trx
        .insertInto('certificate')
        .values({ fingerprint: name, identity_id: id, spki_sha256: 'x', not_after: at, created_at: at })
        .execute();
      touch('identity', id);
    }
  });
}

describeEachStore('a backup', (open) => {
  let store: Store;
  let frontdoorId: string;
  before(async () => {
    store = await open();
    ({ frontdoorId } = (await seedFirstRows(store, secrets, { zone, clock: systemClock }))!);
    for (let n = 0; n < 1_200; n += 100) await write(store, frontdoorId, 0, n, 100);
    const wanted = { kind: 'router', name: 'r', nowMs: 1 } as const;
    const router = await store.transaction((trx, touch) => createFabricNode(trx, touch, wanted));
    await store.db
      .insertInto('fabric_service')
      .values({ id: 's', name: 'database', terminator_strategy: 'ha', created_at: 1 })
      .execute();
    await store.db
      .insertInto('terminator')
      .values({
        id: 't',
        kind: 'fabric',
        fabric_service_id: 's',
        router_id: router.id,
        binding: 'transport',
        address: 'tcp:h:1',
        instance_id: '',
        cost: 5,
        precedence: 1,
        peer_data: '{"1110":"aA=="}',
        created_at: 1,
      })
      .execute();
    await store.db
      .insertInto('resting_name')
      .values({ name: 'a.b', kind: 'share', organization_id: 'gone', created_at: 1, expires_at: 2 })
      .execute();
    await store.db
      .insertInto('replica')
      .values({ id: 'r', api_url: 'http://x', started_at: 1, seen_at: 1 })
      .execute();
  });
  after(() => store.close());

  it('goes into an empty database of either kind, and from there gives the same backup', async () => {
    const file = await backupOf(store);
    const expected = await contentOf(store);
    assert.equal(expected.length > 2_400, true);
    for (const openTarget of [openEmbedded, openPostgres]) {
      const target = await openTarget();
      const { rows } = await restoreBackup(target, file, secrets);
      assert.equal(rows['identity'], 1_201);
      assert.deepEqual([rows['fabric_service'], rows['terminator'], rows['resting_name']], [1, 1, 1]);
      const got = await contentOf(target);
      assert.deepEqual(got, expected);
      assert.deepEqual(await target.db.selectFrom('replica').selectAll().execute(), []);
      const organization = await target.db.selectFrom('organization').select('id').executeTakeFirstOrThrow();
      const frontdoor = (await grantFrontdoor(target.db, organization.id, frontdoorId))!;
      const page = { page: 0, size: 5, sort: 'name', direction: 'asc' } as const;
      assert.equal((await listEnvironments(target, frontdoor, page)).total, 1_200);
      // The counts continue from there.
      await write(target, frontdoorId, 9, 1);
      assert.equal((await listEnvironments(target, frontdoor, page)).total, 1_201);
      await target.close();
    }
  });

  it('taken while writers write holds a whole prefix of what each was acknowledged', async () => {
    const writers = 16;
    const acknowledged: number[] = Array.from({ length: writers }, () => -1);
    let isOver = false;
    const writing = acknowledged.map(async (_last, writer) => {
      for (let n = 0; !isOver; n += 1) {
        await write(store, frontdoorId, writer + 1, n);
        acknowledged[writer] = n;
      }
    });
    await until(
      'some writes',
      () => Math.min(...acknowledged),
      (least) => least >= 3,
    );
    const atStart = [...acknowledged];
    const sum = (): number => acknowledged.reduce((all, n) => all + n, 0);
    const file = await backupOf(store, async () => {
      const opened = sum();
      await until('a write that is acknowledged during the backup', sum, (now) => now > opened);
    });
    isOver = true;
    await Promise.all(writing);
    const target = await openEmbedded();
    await restoreBackup(target, file, secrets);
    const rows = await target.db
      .selectFrom('identity')
      .innerJoin('certificate', 'certificate.identity_id', 'identity.id')
      .select('name')
      .orderBy('name')
      .execute();
    const environments = target.db.selectFrom('identity').select('id').where('kind', '=', 'environment');
    const all = await environments.execute();
    assert.equal(rows.length, all.length, 'half a transaction');
    for (let writer = 1; writer <= writers; writer += 1) {
      const names = rows.map(({ name }) => name).filter((name) => name.startsWith(`w${writer}-`));
      assert.deepEqual(
        names,
        names.map((_name, n) => `w${writer}-${String(n).padStart(6, '0')}`),
      );
      assert.ok(names.length > atStart[writer - 1]!, 'a write acknowledged before the backup is not in it');
    }
    const [counted] = await target.db
      .selectFrom('collection')
      .select('total')
      .where('kind', '=', 'environment')
      .execute();
    assert.equal(counted?.total, all.length);
    await target.close();
  });

  it('is refused by a database that holds anything, and leaves nothing when it is damaged, of another schema or sealed otherwise', async () => {
    const file = await backupOf(store);
    await assert.rejects(restoreBackup(store, file, secrets), { code: 'database-not-empty' });
    const target = await open();
    const cases: readonly (readonly [string, string, typeof secrets?])[] = [
      [changed(file, (text) => text.replace('w0-000700', 'w0-000701')), 'backup-damaged'],
      [changed(file, (text) => text.slice(0, text.length / 2)), 'backup-damaged'],
      [changed(file, (text) => text.replace('0001-first-schema', '0001-other')), 'backup-schema'],
      [changed(file, (text) => text.replace('"frontdoorBackup":1', '"frontdoorBackup":9')), 'backup-format'],
      [changed(file, (text) => text.replace('"table":"identity"', '"table":"replica"')), 'backup-tables'],
      [file, 'key-file', ephemeralSecrets()],
    ];
    for (const [wrong, code, key = secrets] of cases) {
      await assert.rejects(restoreBackup(target, wrong, key), { code });
      for (const { table } of BACKED_UP) {
        assert.deepEqual(
          await target.db.selectFrom(table).selectAll().execute(),
          [],
          `${code} left ${table}`,
        );
      }
    }
    await restoreBackup(target, file, undefined);
    await target.close();
  });
});

test('a backup can be checked without a database: whole, and opened by the key file', async () => {
  const store = await openEmbedded();
  await seedFirstRows(store, secrets, { zone, clock: systemClock });
  // The key of an authority that was replaced is deleted.
  const replaced = { name: 'root-ca', certificate_pem: '', key_sealed: '', created_at: 1, ends_at: 2 };
  await store.db.insertInto('authority').values(replaced).execute();
  const file = await backupOf(store);
  await store.close();
  assert.equal((await checkBackup(file, secrets)).rows['organization'], 1);
  assert.equal((await checkBackup(file, undefined)).rows['signing_key'], 1);
  await assert.rejects(checkBackup(file, ephemeralSecrets()), { code: 'key-file' });
  const bytes = readFileSync(file);
  for (const wrong of [bytes.subarray(0, bytes.length - 9), Buffer.from('no backup'), Buffer.alloc(0)]) {
    writeFileSync(file, wrong);
    await assert.rejects(checkBackup(file, undefined), { code: 'backup-damaged' });
  }
});

describe('the copy of the embedded database', () => {
  let dataDir: string;
  let store: Store;
  const path = (): string => join(dataDir, 'control.db');
  const copies = (): string[] => readdirSync(dataDir).filter((name) => name.includes('.copy-'));
  before(async () => {
    dataDir = mkdtempSync(join(folder, 'data-'));
    store = await openEmbeddedStore({ path: path() });
    const { frontdoorId } = (await seedFirstRows(store, secrets, { zone, clock: systemClock }))!;
    for (let n = 0; n < 3_000; n += 100) await write(store, frontdoorId, 0, n, 100);
  });
  after(() => store.close());

  it('is there while the backup runs, for its owner alone, and gone however it ends', async () => {
    for (const end of ['whole', 'reader gone', 'reader stalled', 'stopped'] as const) {
      const stop = new AbortController();
      const stalledMs = end === 'reader stalled' ? 100 : 600_000;
      const options = { store, clock: systemClock, log: silentLog, signal: stop.signal, stalledMs };
      const { stream, closed } = await openBackup(options);
      const broken = new Promise((resolve) => stream.once('close', resolve));
      stream.on('error', () => {});
      assert.equal(copies().length, 1);
      if (end === 'whole') stream.resume();
      else if (end === 'reader gone') stream.destroy();
      else if (end === 'stopped') stop.abort();
      await within(`the end of a backup: ${end}`, Promise.all([closed, broken]));
      assert.deepEqual(copies(), []);
    }
  });

  it('that a crash left behind goes at the next start', async () => {
    await store.close();
    mkdirSync(`${path()}.copy-abcdef`);
    writeFileSync(join(`${path()}.copy-abcdef`, 'copy.db'), 'secret');
    store = await openEmbeddedStore({ path: path() });
    assert.deepEqual(copies(), []);
  });
});
