/** The product's log: JSON lines, batched, on standard error or in a file. Levels by FRONTDOOR_LOG or --log-level. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import pino from 'pino';
import type { Log, LogFields } from '#base';

export interface OpenedLog {
  readonly log: Log;
  /** Writes what is still in memory. */
  flush(): void;
  /** Opens the file again, since the old one may have been moved away. */
  reopen(): void;
}

export function openLog(level: string, file?: string): OpenedLog {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const destination = pino.destination({ dest: file ?? 2, sync: true, mode: 0o600 });
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  // A terminal or a disk that refuses writes does not end the program.
  destination.on('error', () => {});
  return {
    log: wrap(logger),
    flush: () => destination.flushSync(),
    reopen: () => {
      if (file !== undefined) destination.reopen();
    },
  };
}

function wrap(logger: pino.Logger): Log {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    child: (fields: LogFields) => wrap(logger.child(fields)),
  };
}
