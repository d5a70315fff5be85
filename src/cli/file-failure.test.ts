// What commands report when the file system refuses them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keptIo } from './cli-fixture.ts';
import { runCommand } from './cli-io.ts';

async function failing(
  work: () => Promise<unknown>,
): Promise<{ readonly err: string; readonly code: number }> {
  const io = keptIo();
  await runCommand(io, false, async () => void (await work()));
  return io.ran();
}

test('a disk that is full or read-only, and a missing permission, are named with the file', async (t) => {
  const error = Object.assign(new Error("EACCES: permission denied, open '/x'"), {
    code: 'EACCES',
    path: '/x',
  });
  assert.deepEqual(await failing(() => Promise.reject(error)), {
    out: '',
    err: 'frontdoor: /x: this user has no permission for it\n',
    code: 4,
  });
  const folder = mkdtempSync(join(tmpdir(), 'failure-'));
  const mounted = (options: string) =>
    spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status;
  t.after(() => rmdirSync(folder));
  if (mounted('ro') !== 0) return t.skip('only root can mount file systems');
  try {
    for (const work of [
      () => writeFile(join(folder, 'a'), ''),
      () => mkdir(join(folder, 'b/c'), { recursive: true }),
    ])
      assert.match((await failing(work)).err, /: its file system is read-only; choose another place\n$/);
  } finally {
    spawnSync('umount', [folder]);
  }
  assert.equal(mounted('size=16k'), 0);
  try {
    const full = await failing(() => writeFile(join(folder, 'a'), Buffer.alloc(100_000)));
    assert.match(full.err, /: the disk is full\n$/);
  } finally {
    spawnSync('umount', [folder]);
  }
});
