/** Work that would hold up clients, and can wait until there are few. */
import { performance } from 'node:perf_hooks';

/** A program whose event loop is busy for more than this share of the time has clients, who would wait. */
const BUSY_SHARE = 0.3;

/** Runs `work` once, after `everyMs` or a multiple of it: the first during which the event loop was idle, or that reaches `latestMs`. */
export function atIdleMoment(work: () => void, everyMs: number, latestMs = Infinity): void {
  const startedMs = performance.now();
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (utilization > BUSY_SHARE && performance.now() - startedMs < latestMs) return;
    clearInterval(timer);
    work();
  }, everyMs);
  timer.unref();
}
