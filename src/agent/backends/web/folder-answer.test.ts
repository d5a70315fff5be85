import assert from 'node:assert/strict';
import { closeSync, createReadStream, openSync } from 'node:fs';
import { test } from 'node:test';
import { discard } from './folder-answer.ts';

test('a stream that is discarded fails alone when its file was closed before it opened', async () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  process.on('uncaughtException', note);
  try {
    const fd = openSync(import.meta.filename, 'r');
    const stream = createReadStream(`/proc/self/fd/${fd}`);
    const closed = new Promise<void>((resolve) => void stream.once('close', () => resolve()));
    closeSync(fd);
    discard(stream);
    await closed;
    await new Promise((resolve) => void setImmediate(resolve));
    assert.equal(stream.closed, true);
    assert.deepEqual(uncaught, []);
  } finally {
    process.off('uncaughtException', note);
  }
});
