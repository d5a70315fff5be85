// The log of a program whose disk is full: nothing ends, memory is bounded, and lost lines are counted and reported.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { droppedLogLines } from '#base';
import { openLog } from '../../bin/program-log.ts';

/** Every write to it fails with ENOSPC. */
const FULL_DISK = '/dev/full';
const LINES = 40_000;
const TEXT = 'x'.repeat(100);
/** What may wait for room, with some more for the lines that report the problem. */
const MOST_BYTES = 1_100_000;

test('lines beyond a limit are dropped and counted while the disk is full, and their number is logged afterwards', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-log-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'frontdoor.log');
  symlinkSync(FULL_DISK, path);
  const { log, reopen } = openLog({ logLevel: 'info', logFormat: 'auto' }, path);
  const before = droppedLogLines();
  for (let line = 0; line < LINES; line += 1) log.info({ line }, TEXT);
  const dropped = droppedLogLines() - before;
  assert.ok(dropped > 0 && dropped < LINES, `${dropped}`);

  unlinkSync(path);
  reopen();
  log.info({}, 'room again');
  await setImmediate();
  const text = readFileSync(path, 'utf8');
  assert.ok(text.length < MOST_BYTES, `${text.length} bytes`);
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    lines.filter(({ line }) => line !== undefined).map(({ line }) => line),
    Array.from({ length: LINES - dropped }, (_, line) => line),
  );
  const reports = lines.filter(({ msg }) => msg === 'the log is written again');
  assert.deepEqual(
    reports.map(({ dropped, cause }) => [dropped, /ENOSPC/.test(String(cause))]),
    [[dropped, true]],
  );
  assert.equal(lines.filter(({ msg }) => msg === 'room again').length, 1);
});
