/**
 * Notices when the process has no file descriptor left: the kernel then completes connections that no program can accept,
 * and libuv closes them silently. The shortage is one error in the log, and a metric counts them.
 */
import { closeSync, openSync } from 'node:fs';
import type { Log } from '#base';
import { descriptorLimit } from './descriptor-limit.ts';

/** With fewer, a hundred busy clients can use them up. */
export const FEW_DESCRIPTORS = 4_096;
const LOOK_MS = 1_000;
/** A shortage is over after this time without a sign of one. */
const OVER_MS = 5_000;
const PROBE = '/dev/null';

/** A process has one table of descriptors. */
const shortages = { count: 0, lastMs: -Infinity };

export function descriptorShortages(): number {
  return shortages.count;
}

/** Whether the error means that the process, or the machine, has no descriptor left. It is then counted. */
export function isDescriptorShortage(error: unknown, nowMs = performance.now()): boolean {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'EMFILE' && code !== 'ENFILE') return false;
  if (nowMs - shortages.lastMs > OVER_MS) shortages.count += 1;
  shortages.lastMs = nowMs;
  return true;
}

export interface DescriptorWatchOptions {
  readonly log: Log;
  readonly limit?: number | undefined;
  /** Opens and closes one descriptor; throws what the system answers. */
  readonly probe?: (() => void) | undefined;
}

/** Warns at once if the limit is low, then looks every second until the process ends. Returns how to end it earlier. */
export function watchDescriptors({
  log,
  limit = descriptorLimit(),
  probe = openOne,
}: DescriptorWatchOptions): () => void {
  if (limit !== undefined && limit < FEW_DESCRIPTORS)
    log.warn(
      { limit, recommended: FEW_DESCRIPTORS },
      'few file descriptors: raise the limit, for example with "ulimit -n 65536" or LimitNOFILE= of systemd',
    );
  let sinceMs: number | undefined;
  const look = (): void => {
    const nowMs = performance.now();
    try {
      probe();
    } catch (error) {
      isDescriptorShortage(error, nowMs);
    }
    const isShort = nowMs - shortages.lastMs < OVER_MS;
    if (isShort === (sinceMs !== undefined)) return;
    if (isShort) {
      sinceMs = nowMs;
      log.error({ limit }, 'no file descriptor is left: new connections are closed until others end');
    } else {
      const seconds = Math.round((nowMs - sinceMs!) / 1_000);
      sinceMs = undefined;
      log.warn({ limit, seconds }, 'file descriptors are available again');
    }
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}

function openOne(): void {
  closeSync(openSync(PROBE, 'r'));
}
