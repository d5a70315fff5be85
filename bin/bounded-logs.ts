/**
 * Keeps the log files of a folder small: one that has grown beyond its bound is copied to NAME.1, which replaces the former
 * copy, and emptied. The programs that write to it need not open it again, because each write goes to its end.
 */
import { copyFileSync, mkdirSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, type Log } from '#base';

const MAX_BYTES = 16 << 20;
const LOOK_MS = 30_000;

export interface LogBounds {
  readonly folder: string;
  readonly log: Log;
  readonly maxBytes?: number;
}

/** Looks at once and every half minute, until the returned function is called. */
export function boundLogs(bounds: LogBounds): () => void {
  mkdirSync(bounds.folder, { recursive: true, mode: 0o700 });
  checkLogs(bounds);
  const timer = setInterval(() => checkLogs(bounds), LOOK_MS).unref();
  return () => clearInterval(timer);
}

export function checkLogs({ folder, log, maxBytes = MAX_BYTES }: LogBounds): void {
  try {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (!name.endsWith('.log') || statSync(path).size <= maxBytes) continue;
      // Lines that are written between the two calls are lost.
      copyFileSync(path, `${path}.1`);
      truncateSync(path, 0);
    }
  } catch (error) {
    log.warn({ folder, err: messageOf(error) }, 'a log file could not be kept small');
  }
}
