// The replacement of the key in secrets.key (ADR 0062).
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import { sql } from 'kysely';
import { ManualClock, silentLog } from '#base';
import { findSecrets, KEY_FILE_NAME, loadSecrets } from './key-file.ts';
import type { Secrets } from './secrets.ts';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import type { Store } from '../store/mod.ts';
import { EXPIRING, SEALED } from './sealed-column-table.ts';
import { SealingKeys, useSealingKey } from './sealing-keys.ts';

const VALUES = 250;
const HOUR_MS = 3_600_000;

interface Member {
  readonly dataDir: string;
  readonly secrets: Secrets;
  readonly keys: SealingKeys;
}

describeEachStore('the replacement of the key of secrets.key', (open) => {
  let store: Store;
  let clock: ManualClock;
  let members: Member[];

  const fileOf = ({ dataDir }: Pick<Member, 'dataDir'>): string => join(dataDir, KEY_FILE_NAME);
  async function joined(name: string, keyFile?: string): Promise<Member> {
    const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-sealing-'));
    if (keyFile !== undefined) copyFileSync(keyFile, join(dataDir, KEY_FILE_NAME));
    return start(name, dataDir);
  }
  async function start(name: string, dataDir: string): Promise<Member> {
    const secrets = await loadSecrets(dataDir);
    await useSealingKey(store.db, secrets);
    const keys = new SealingKeys({ store, secrets, dataDir, name, clock, log: silentLog });
    await keys.look();
    const member = { dataDir, secrets, keys };
    members.push(member);
    return member;
  }
  const rotate = async ({ keys }: Member): Promise<void> => {
    const keyId = await keys.prepare();
    await store.transaction((trx) => keys.begin(trx, keyId));
    await keys.look();
  };
  const values = () => store.db.selectFrom('shared_key').select(['name', 'key_sealed']).execute();
  const assertAllOpen = async (): Promise<void> => {
    for (const { secrets } of members)
      for (const { name, key_sealed: sealed } of await values()) assert.equal(secrets.unseal(sealed), name);
  };

  beforeEach(async () => {
    store = await open();
    clock = new ManualClock(Date.UTC(2026, 10, 28));
    members = [];
  });
  afterEach(async () => {
    for (const { keys } of members) await keys.close();
    await store.close();
    for (const { dataDir } of members) rmSync(dataDir, { recursive: true, force: true });
  });
  const fill = async ({ secrets }: Member): Promise<void> => {
    const rows = Array.from({ length: VALUES }, (_, i) => ({
      name: `key ${i}`,
      key_sealed: secrets.seal(`key ${i}`),
      created_at: 1,
    }));
    await store.db.insertInto('shared_key').values(rows).execute();
  };

  it('waits for every control plane, encrypts all values again, and leaves the new key alone in their files', async () => {
    const a = await joined('a');
    const b = await joined('b', fileOf(a));
    await fill(a);
    const before = { hmac: a.secrets.hmac('token'), file: readFileSync(fileOf(a)) };
    await rotate(a);
    const { keyId, ...added } = await a.keys.state();
    assert.deepEqual(added, { state: 'added', missingAt: ['b'], remaining: 0 });
    await assert.rejects(rotate(b), { kind: 'conflict' });
    copyFileSync(fileOf(a), fileOf(b));
    await b.keys.look();
    assert.notEqual(a.secrets.sealingId, keyId);
    await rotate(b);
    await a.keys.look();
    await b.keys.look();
    assert.deepEqual([a.secrets.sealingId, b.secrets.sealingId], [keyId, keyId]);
    assert.deepEqual(await b.keys.state(), { keyId, state: 'sealing', missingAt: [], remaining: 0 });
    await assertAllOpen();
    clock.advance(HOUR_MS);
    await Promise.all([a.keys.look(), b.keys.look()]);
    await a.keys.look();
    assert.equal((await a.keys.state()).state, 'done');
    await a.keys.look();
    await b.keys.look();
    for (const member of [a, b]) {
      const text = readFileSync(fileOf(member), 'utf8');
      assert.match(text, new RegExp(`^#.*\npeppers \\S+\n${keyId} \\S+\n$`));
      assert.equal(statSync(fileOf(member)).mode & 0o777, 0o600);
      assert.deepEqual(member.secrets.keyIds, [keyId]);
      const again = (await findSecrets(member.dataDir))!;
      assert.equal(again.hmac('token'), before.hmac, 'tokens stay valid');
      assert.ok(again.isTag('p', Buffer.from('x'), a.secrets.tag('p', Buffer.from('x'), 16)));
    }
    await assertAllOpen();
    assert.ok(!before.file.includes(keyId!));
    await rotate(a);
    assert.equal((await a.keys.state()).state, 'added');
  });

  it('continues after a kill between any two steps, and refuses to start without the key', async () => {
    const restart = async (): Promise<Member> => {
      const { dataDir } = members[0]!;
      await members.pop()!.keys.close();
      return start('a', dataDir);
    };
    let a = await joined('a');
    await fill(a);
    const first = readFileSync(fileOf(a));
    // The file was written, the row was not.
    const keyId = await a.keys.prepare();
    a = await restart();
    assert.equal(await a.keys.prepare(), keyId, 'the key of the file is used');
    await store.transaction((trx) => a.keys.begin(trx, keyId));
    // It encrypts, and no value was encrypted again.
    a = await restart();
    await assertAllOpen();
    assert.equal(a.secrets.sealingId, keyId);
    clock.advance(HOUR_MS);
    await a.keys.look();
    assert.equal((await a.keys.state()).state, 'done');
    // The file was not written.
    a = await restart();
    assert.deepEqual(a.secrets.keyIds, [keyId]);
    await assertAllOpen();
    const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-sealing-'));
    writeFileSync(join(dataDir, KEY_FILE_NAME), first, { mode: 0o600 });
    await assert.rejects(start('b', dataDir), /which secrets.key does not hold: copy the file/);
    rmSync(dataDir, { recursive: true });
  });

  it('encrypts the others again where a value is damaged, and keeps the former key for it', async () => {
    const a = await joined('a');
    await fill(a);
    const damaged = a.secrets.seal('key 100').slice(0, -4);
    const update = store.db.updateTable('shared_key').set({ key_sealed: damaged });
    await update.where('name', '=', 'key 100').execute();
    await rotate(a);
    clock.advance(HOUR_MS);
    await a.keys.look();
    const { state, remaining } = await a.keys.state();
    assert.deepEqual([state, remaining], ['sealing', 1]);
    for (const { name, key_sealed: sealed } of await values())
      if (name !== 'key 100') assert.equal(a.secrets.isOfFormerKey(sealed), false, name);
  });

  it('knows every column with encrypted values', async () => {
    const tables = await store.db.introspection.getTables();
    const found = tables.flatMap(({ name, columns }) =>
      columns.flatMap((column) => (column.name.endsWith('_sealed') ? [`${name}.${column.name}`] : [])),
    );
    const known = [...SEALED, { table: EXPIRING.table, columns: [EXPIRING.column] }].flatMap(
      ({ table, columns }) => columns.map((column) => `${table}.${column}`),
    );
    assert.deepEqual(known.toSorted(), found.toSorted());
    for (const { table, key, columns } of SEALED)
      await sql`select ${sql.join([key, ...columns].map((name) => sql.ref(name)))} from ${sql.table(table)}`.execute(
        store.db,
      );
  });
});
