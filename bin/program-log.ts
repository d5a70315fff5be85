/**
 * The product's log, on standard error or in a file: JSON lines, or text for people at a terminal. Level and format come
 * from `LogOptions`, or FRONTDOOR_LOG and FRONTDOOR_LOG_FORMAT. ADR 0078.
 */
import { fstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import pino from 'pino';
import {
  countDroppedLogLine,
  countLogLine,
  type Log,
  LOG_LEVELS,
  type LogFields,
  type LogLevel,
  messageOf,
} from '#base';
import { logText, showsColours } from '#base/terminal';
import type { LogOptions } from '#cli';

export interface OpenedLog {
  readonly log: Log;
  /** Opens the file again, since the old one may have been moved away. */
  reopen(): void;
}

/** Priorities of syslog, which systemd's journal takes from the beginning of a line. */
const PRIORITIES: Readonly<Record<LogLevel, string>> = {
  debug: '<7>',
  info: '<6>',
  warn: '<4>',
  error: '<3>',
};
const STANDARD_ERROR = 2;
/** Lines that wait for room on the disk. Those beyond it are dropped. */
const MAX_WAITING_BYTES = 1_048_576;

/**
 * A terminal, pipe or disk that refuses writes does not end the program. Lines wait in memory, within a limit, and the
 * rest are dropped and counted. The first line after that reports their number.
 */
export function openLog(options: LogOptions, file?: string): OpenedLog {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const destination = pino.destination({
    dest: file ?? STANDARD_ERROR,
    sync: true,
    mode: 0o600,
    maxLength: MAX_WAITING_BYTES,
  });
  const log = logTo(destination, options, file === undefined ? readerOfError() : 'file');
  let refusal: string | undefined;
  let dropped = 0;
  const reportRefusal = (): void => {
    if (refusal === undefined) return;
    const fields = { cause: refusal, dropped };
    refusal = undefined;
    dropped = 0;
    log.warn(fields, 'the log is written again');
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
    log,
    reopen: () => {
      if (file !== undefined) destination.reopen();
    },
  };
}

type Destination = Pick<ReturnType<typeof pino.destination>, 'write'>;

type Reader = 'terminal' | 'journal' | 'file';

/** What standard error is. systemd names the device and the number of the socket to its journal. */
function readerOfError(): Reader {
  if (process.stderr.isTTY) return 'terminal';
  const journal = process.env['JOURNAL_STREAM'];
  if (journal === undefined) return 'file';
  const { dev, ino } = fstatSync(STANDARD_ERROR);
  return journal === `${dev}:${ino}` ? 'journal' : 'file';
}

function logTo(destination: Destination, { logLevel, logFormat }: LogOptions, reader: Reader): Log {
  const isTerminal = reader === 'terminal';
  if (logFormat === 'json' || (logFormat === 'auto' && !isTerminal)) {
    const timestamp = pino.stdTimeFunctions.isoTime;
    const stream = reader === 'journal' ? journalOf(destination) : destination;
    return wrap(pino({ level: logLevel, base: null, timestamp }, stream));
  }
  return textLog({
    destination,
    rank: rankOf(logLevel),
    isColoured: isTerminal && showsColours(process.env),
    priorities: reader === 'journal' ? PRIORITIES : undefined,
    fields: {},
  });
}

/** Puts the priority before each line of JSON, which begins with its level. */
function journalOf(destination: Destination): Destination {
  const priorities = new Map(LOG_LEVELS.map((level) => [pino.levels.values[level], PRIORITIES[level]]));
  return {
    write: (line) => {
      const level = Number(/^\{"level":(\d+)/.exec(line)?.[1]);
      return destination.write(`${priorities.get(level) ?? PRIORITIES.info}${line}`);
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

interface TextLog {
  readonly destination: Destination;
  /** Lines of a lower rank are not written. */
  readonly rank: number;
  readonly isColoured: boolean;
  /** What precedes a line of each level; undefined: nothing. */
  readonly priorities: typeof PRIORITIES | undefined;
  /** The fields of each line. */
  readonly fields: LogFields;
}

/** Higher than every level for `silent`. */
function rankOf(level: string): number {
  const rank = LOG_LEVELS.findIndex((each) => each === level);
  return rank === -1 ? LOG_LEVELS.length : rank;
}

function textLog(text: TextLog): Log {
  const write = (level: LogLevel, fields: LogFields, message: string): void => {
    if (level !== 'debug') countLogLine(level);
    if (rankOf(level) < text.rank) return;
    const line = { timeMs: Date.now(), level, message, fields: { ...text.fields, ...fields } };
    text.destination.write(`${text.priorities?.[level] ?? ''}${logText(line, text.isColoured)}\n`);
  };
  return {
    debug: (fields, message) => write('debug', fields, message),
    info: (fields, message) => write('info', fields, message),
    warn: (fields, message) => write('warn', fields, message),
    error: (fields, message) => write('error', fields, message),
    child: (fields) => textLog({ ...text, fields: { ...text.fields, ...fields } }),
  };
}
