/**
 * One full garbage collection after a program has started. Without it the garbage of loading and opening would stay for
 * good, since V8 collects nothing old below the first limit of `node-flags.js`. ADR 0018.
 */

/** Delay, so that neither the first requests nor a script that waits for the ready file is held up. */
const QUIET_MS = 1_000;

/** Does nothing where Node was started without `--expose-gc`. */
export function collectAfterStart(): void {
  const { gc } = globalThis;
  // Only this kind returns pages: it compacts, and shrinks the young generation until it is needed again.
  const collect = () => gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' });
  setTimeout(collect, QUIET_MS).unref();
}
