// An acknowledged write is on disk, as the system calls show.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { within } from '../../../../test/support/deadline.ts';
import { postgresSkip, startPostgres } from '../../../../test/support/postgres.ts';
import { openStore } from './open-store.ts';

const WRITES = 30;
const hasStrace = spawnSync('strace', ['-V']).status === 0;
const skip = hasStrace ? false : 'strace is not installed';
/** A call that came back well, also when others ran in the meantime. */
const SYNCED = /(?:fdatasync|fsync)(?:\(| resumed).*= 0$/m;

describe('an acknowledged write', { skip }, () => {
  let folder: string;
  let trace: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'frontdoor-durable-'));
    trace = join(folder, 'trace');
  });
  after(() => rmSync(folder, { recursive: true }));

  it('was synced to disk before it was acknowledged (embedded)', async () => {
    const script = `
      import { writeSync } from 'node:fs';
      import { openStore } from ${JSON.stringify(new URL('./open-store.ts', import.meta.url).href)};
      const store = await openStore({ path: ${JSON.stringify(join(folder, 'control.db'))} });
      writeSync(1, 'begin\\n');
      for (let i = 0; i < ${WRITES}; i += 1) {
        await store.transaction((trx) =>
          trx.insertInto('organization').values({ id: 'o' + i, name: 'x', created_at: 1 }).execute());
        writeSync(1, 'acknowledged\\n');
      }
      await store.close();`;
    const options = ['-f', '-qq', '-e', 'trace=fdatasync,fsync,write', '-o', trace];
    const node = [process.execPath, '--input-type=module', '-e', script];
    const child = spawn('strace', [...options, ...node], { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.resume();
    const [status] = await once(child, 'exit', { signal: AbortSignal.timeout(60_000) });
    assert.equal(status, 0);
    const calls = readFileSync(trace, 'utf8').split('write(1, "begin')[1]!;
    const betweenAnswers = calls.split('write(1, "acknowledged').slice(0, -1);
    assert.equal(betweenAnswers.length, WRITES);
    for (const [i, between] of betweenAnswers.entries()) {
      assert.match(between, SYNCED, `write ${i} was acknowledged before it was synced`);
    }
  });

  it('was synced to disk one by one (PostgreSQL)', { skip: postgresSkip }, async () => {
    // Its own writer of the log would now and then sync for a commit, unseen by the trace.
    const server = await startPostgres({ settings: { wal_writer_delay: '10s' } });
    const url = await server.createDatabase();
    await (await openStore({ path: 'unused', database: url })).close();
    const options = ['-f', '-e', 'trace=fdatasync,fsync', '-o', trace, '-p', String(server.pid)];
    const strace = spawn('strace', options, { stdio: ['ignore', 'ignore', 'pipe'] });
    const lines = createInterface({ input: strace.stderr });
    await within('strace', once(lines, 'line'));
    const store = await openStore({ path: 'unused', database: url });
    const syncs = (): number =>
      readFileSync(trace, 'utf8')
        .split('\n')
        .filter((line) => SYNCED.test(line)).length;
    const before = syncs();
    for (let i = 0; i < WRITES; i += 1) {
      await store.transaction((trx) =>
        trx
          .insertInto('organization')
          .values({ id: `o${i}`, name: 'x', created_at: 1 })
          .execute(),
      );
    }
    await store.close();
    const ended = once(strace, 'exit');
    strace.kill('SIGINT');
    await ended;
    assert.ok(syncs() - before >= WRITES, `${syncs() - before} syncs for ${WRITES} writes`);
    server.destroy();
  });
});
