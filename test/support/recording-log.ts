/** A log for tests that keeps what is written to it. */
import type { Log, LogFields } from '#base';

export interface LogRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  /** The fields of child logs come first. */
  readonly fields: LogFields;
}

/** Hands each record to `keep` as it is written. */
export function recordingLog(keep: (record: LogRecord) => void, bound: LogFields = {}): Log {
  const at =
    (level: LogRecord['level']) =>
    (fields: LogFields, message: string): void =>
      keep({ level, message, fields: { ...bound, ...fields } });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => recordingLog(keep, { ...bound, ...fields }),
  };
}

/** Keeps records in order, except those of `debug`. */
export function withoutDebug(records: LogRecord[]): (record: LogRecord) => void {
  return (record) => {
    if (record.level !== 'debug') records.push(record);
  };
}

/** `warn channel refused {"peer":"…"}`; of an error, its message. */
export function lineOf({ level, message, fields }: LogRecord): string {
  const text = JSON.stringify(fields, (_key, value: unknown) =>
    value instanceof Error ? value.message : value,
  );
  return `${level} ${message} ${text}`;
}
