/** The product's log: JSON lines, batched, on standard error or in a file. Levels by FRONTDOOR_LOG or --log-level. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import pino from 'pino';
import { countDroppedLogLine, countLogLine, messageOf, type Log, type LogFields } from '#base';

export interface OpenedLog {
  readonly log: Log;
  /** Opens the file again, since the old one may have been moved away. */
  reopen(): void;
}

/** Lines that wait for room on the disk. Those beyond it are dropped. */
const MAX_WAITING_BYTES = 1_048_576;

/**
 * A terminal, pipe or disk that refuses writes does not end the program. Lines wait in memory, within a limit, and the
 * rest are dropped and counted. The first line after that reports their number.
 */
export function openLog(level: string, file?: string): OpenedLog {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const destination = pino.destination({
    dest: file ?? 2,
    sync: true,
    mode: 0o600,
    maxLength: MAX_WAITING_BYTES,
  });
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  let refusal: string | undefined;
  let dropped = 0;
  const reportRefusal = (): void => {
    if (refusal === undefined) return;
    const fields = { cause: refusal, dropped };
    refusal = undefined;
    dropped = 0;
    logger.warn(fields, 'the log is written again');
  };
  destination.on('error', (error) => {
    refusal = messageOf(error);
  });
  destination.on('drop', () => {
    dropped += 1;
    countDroppedLogLine();
  });
  destination.on('write', () => {
    // The buffer has room for the report when the lines that waited are written, too.
    if (refusal !== undefined) process.nextTick(reportRefusal);
  });
  return {
    log: wrap(logger),
    reopen: () => {
      if (file !== undefined) destination.reopen();
    },
  };
}

function wrap(logger: pino.Logger): Log {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info(fields, message) {
      countLogLine('info');
      logger.info(fields, message);
    },
    warn(fields, message) {
      countLogLine('warn');
      logger.warn(fields, message);
    },
    error(fields, message) {
      countLogLine('error');
      logger.error(fields, message);
    },
    child: (fields: LogFields) => wrap(logger.child(fields)),
  };
}
