import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { silentLog, type Log } from '#base';
import { until } from '../../../test/support/deadline.ts';
import { CpuProfile } from './cpu-profile.ts';
import { MemoryProfile } from './memory-profile.ts';

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'frontdoor-profile-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

interface V8Profile {
  readonly nodes: readonly { readonly callFrame: { readonly functionName: string } }[];
  readonly samples: readonly number[];
  readonly startTime: number;
  readonly endTime: number;
}

/** Counts its own processor time only. */
function burnInTest(ms: number): number {
  const { user, system } = process.cpuUsage();
  const untilUs = user + system + ms * 1_000;
  let sum = 0;
  for (;;) {
    const used = process.cpuUsage();
    if (used.user + used.system >= untilUs) return sum;
    for (let i = 0; i < 1_000; i += 1) sum += Math.sqrt(i);
  }
}

test('profile.cpu.path: the file is V8’s profile of what ran between start and stop', async (t) => {
  const path = join(folder(t), 'cpu.cpuprofile');
  const profile = await CpuProfile.start({ path, log: silentLog });
  assert.ok(profile);
  burnInTest(300);
  await Promise.all([profile.stop(), profile.stop()]);
  const written = JSON.parse(readFileSync(path, 'utf8')) as V8Profile;
  assert.ok(written.endTime - written.startTime >= 250_000);
  assert.ok(written.samples.length > 5);
  assert.ok(written.nodes.some(({ callFrame }) => callFrame.functionName === 'burnInTest'));
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a CPU profile that cannot be written is an error in the log, and nothing else', async (t) => {
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (_fields, message) => void errors.push(message) };
  const path = join(folder(t), 'missing', 'cpu');
  assert.equal(await CpuProfile.start({ path, log }), undefined);
  assert.equal(errors.length, 1);
});

test('a CPU profile ends by itself before it takes too much memory, and is written', async (t) => {
  const path = join(folder(t), 'cpu');
  assert.ok(await CpuProfile.start({ path, log: silentLog, longestMs: 20 }));
  await until(
    'the file',
    () => statSync(path).size,
    (bytes) => bytes > 0,
  );
});

test('profile.memory.path and profile.memory.intervalMs: a heap snapshot each interval, in turn at -0 and -1', async (t) => {
  const inside = folder(t);
  const path = join(inside, 'heap');
  const written: unknown[] = [];
  const log: Log = {
    ...silentLog,
    info: (fields, message) => {
      if (message === 'heap snapshot written') written.push(fields['path']);
    },
  };
  const profile = new MemoryProfile({ path, intervalMs: 20, log });
  assert.equal(existsSync(`${path}-0`), false);
  await until(
    'three snapshots',
    () => written.length,
    (count) => count >= 3,
    60_000,
  );
  await profile.close();
  assert.deepEqual(written.slice(0, 3), [`${path}-0`, `${path}-1`, `${path}-0`]);
  assert.deepEqual(readdirSync(inside).sort(), ['heap-0', 'heap-1']);
  const snapshot = JSON.parse(readFileSync(`${path}-1`, 'utf8')) as { snapshot: { node_count: number } };
  assert.ok(snapshot.snapshot.node_count > 1_000);
  assert.equal(statSync(`${path}-1`).mode & 0o777, 0o600);
});

test('no snapshot is taken before the interval is over, or after close', async (t) => {
  const path = join(folder(t), 'heap');
  t.mock.timers.enable({ apis: ['setInterval'] });
  const profile = new MemoryProfile({ path, intervalMs: 15_000, log: silentLog });
  t.mock.timers.tick(14_999);
  await profile.close();
  t.mock.timers.tick(60_000);
  await profile.close();
  assert.equal(existsSync(`${path}-0`), false);
});

test('snapshots that cannot be written are errors in the log, one each interval', async (t) => {
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (_fields, message) => void errors.push(message) };
  const profile = new MemoryProfile({ path: join(folder(t), 'missing', 'heap'), intervalMs: 10, log });
  await until(
    'two errors',
    () => errors.length,
    (count) => count >= 2,
    30_000,
  );
  await profile.close();
});
