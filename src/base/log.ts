/** The logger of every part. `bin/` provides one (pino); tests pass `silentLog` or a recorder. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  child(fields: LogFields): Log;
}

export type LogFields = Readonly<Record<string, unknown>>;

export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLog,
};

/** The least severe first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const linesByLevel = new Map<LogLevel, number>([
  ['info', 0],
  ['warn', 0],
  ['error', 0],
]);

/** Numbers of log lines of this process by level, those that the log's level leaves out included. */
export function countedLogLines(): ReadonlyMap<LogLevel, number> {
  return linesByLevel;
}

export function countLogLine(level: LogLevel): void {
  linesByLevel.set(level, (linesByLevel.get(level) ?? 0) + 1);
}

const dropped = { lines: 0 };

/** Number of log lines of this process that were dropped, because neither the disk nor memory had room for them. */
export function droppedLogLines(): number {
  return dropped.lines;
}

export function countDroppedLogLine(): void {
  dropped.lines += 1;
}
