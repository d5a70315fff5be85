/**
 * The program of a process that runs several test files, one after the other: `test-group-suite.ts FILE…`.
 * Each file is a test of its own, so that its hooks end with it, and is loaded when the one before it has
 * ended. A file that does not clean up fails (`test-traces.ts`).
 */
import { resolve } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { currentFile } from './test-current-file.ts';
import { sendTestEvent } from './test-event.ts';
import { checkTraces, takeTraces, type Traces } from './test-traces.ts';

const MICROSECONDS = 1e6;
const LONG_MS = 0x7fff_ffff;

// Each file may wait for the end of the process.
process.setMaxListeners(0);

const files = process.argv.slice(2);
// A test may wait for something that does not keep the process from ending. node:test would then open a timer of its own.
const running = setInterval(() => {}, LONG_MS);

/** Those from before the file that opened what is held open at the moment. */
let beforeHeld: Traces | undefined;

for (const file of files) {
  void test(file, async (t) => {
    currentFile.name = file;
    currentFile.isLast = file === files.at(-1);
    const before = takeTraces();
    const usage = process.cpuUsage();
    const startedMs = performance.now();
    try {
      await import(pathToFileURL(resolve(file)).href);
    } finally {
      // This hook is registered last, so that the hooks of the file run before it.
      t.after(async () => {
        if (currentFile.isLast) clearInterval(running);
        // The last file may have skipped all of its tests.
        if (currentFile.isLast) await currentFile.closeHeld?.();
        const isHolding = currentFile.closeHeld !== undefined;
        const compared = beforeHeld ?? before;
        beforeHeld = isHolding ? compared : undefined;
        await checkTraces(compared, { isHolding });
        const { user, system } = process.cpuUsage(usage);
        const durationMs = performance.now() - startedMs;
        sendTestEvent({ type: 'usage', file, durationMs, cpuSeconds: (user + system) / MICROSECONDS });
      });
    }
  });
}
