/**
 * One thorough collection when a program has started: what loading and opening left behind would stay for good, since
 * below the first limit of `node-flags.js` V8 collects nothing old. ADR 0018.
 */

/** First requests are not held up, nor is whoever waits for the program to say that it is ready. */
const QUIET_MS = 1_000;

/** Once, soon; nothing where node was started without `--expose-gc`. */
export function collectAfterStart(): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  const timer = setTimeout(() => {
    // The one flavour that gives pages back: it compacts, and shrinks the young generation until it is needed again.
    gc({ type: 'major', flavor: 'last-resort', execution: 'sync' });
  }, QUIET_MS);
  timer.unref();
}
