/**
 * One full garbage collection after a program has started. Without it the garbage of loading and opening would stay for
 * good, since V8 collects nothing old below the first limit of `node-flags.js`. ADR 0018.
 */
import { setHeapFlags } from './heap-flags.ts';
import { atIdleMoment } from './idle-moment.ts';

/** Delay, so that neither the first requests nor a script that waits for the ready file is held up. */
const QUIET_MS = 1_000;
/** Busy programs collect after this time. */
const LATEST_MS = 60_000;

/** Collects once after the delay, or when there is time; does nothing where node was started without `--expose-gc`. */
export function collectAfterStart(): void {
  setHeapFlags();
  const { gc } = globalThis;
  if (gc === undefined) return;
  const collect = (): void => {
    // Only this kind returns pages: it compacts, and shrinks the young generation until it is needed again.
    gc({ type: 'major', flavor: 'last-resort', execution: 'sync' });
  };
  atIdleMoment(collect, QUIET_MS, LATEST_MS);
}
