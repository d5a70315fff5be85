import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { within } from '../support/deadline.ts';
import { startReady } from './ready-process.ts';

test('a program that ends before it is ready is reported at once, also when a signal ends it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ready-process-'));
  const readyFile = join(folder, 'ready.json');
  const end = (statement: string) =>
    within(
      'the report',
      startReady({
        args: ['control'],
        readyFile,
        env: { NODE_OPTIONS: `--import=data:text/javascript,${statement}` },
      }),
    );
  const isReport = (how: string) => (error: Error) =>
    error.message.startsWith('frontdoor control did not get ready') &&
    (error.cause as Error).message.startsWith(`it ended before (${how})`);
  try {
    await assert.rejects(end('process.kill(process.pid,9)'), isReport('SIGKILL'));
    await assert.rejects(end('process.exit(3)'), isReport('3'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
