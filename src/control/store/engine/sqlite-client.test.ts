import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { silentLog } from '#base';
import { SqliteClient } from './sqlite-client.ts';

describe("the embedded database's thread", () => {
  it('fails what it had not answered when it dies, and another takes its place', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'frontdoor-thread-'));
    let nowMs = 0;
    const client = new SqliteClient({
      path: join(directory, 'x.db'),
      busyTimeoutMs: 100,
      log: silentLog,
      nowMs: () => nowMs,
    });
    const thread = await client.thread();
    // A database without this table is one of another program.
    await thread.run('create table kysely_migration (a integer)', []);
    await thread.run('insert into kysely_migration values (?)', [1]);
    const unanswered = thread.run('insert into kysely_migration values (?)', [2]);
    await Promise.all([assert.rejects(unanswered, { kind: 'unavailable' }), thread.terminate()]);
    assert.equal(thread.isDead, true);
    await assert.rejects(thread.run('select 1', []), { kind: 'unavailable' });
    await assert.rejects(client.thread(), { kind: 'unavailable' });
    nowMs += 1_000;
    const next = await client.thread();
    const { rows } = await next.run('select a from kysely_migration where a = 1', []);
    assert.equal(rows.length, 1);
    await client.close();
    await rm(directory, { recursive: true });
  });

  it('is not replaced when its database was in memory', async () => {
    let nowMs = 0;
    const client = new SqliteClient({
      path: ':memory:',
      busyTimeoutMs: 100,
      log: silentLog,
      nowMs: () => nowMs,
    });
    await (await client.thread()).terminate();
    nowMs += 5_000;
    await assert.rejects(client.thread(), { kind: 'unavailable' });
    await client.close();
  });
});
