/** A line of a log file as its parts. Lines of other forms, such as the last words of a process that crashed, stay as they are. */
import { isJsonObject, type LogLevel } from '#base';
import type { LogLine } from '#base/terminal';

const LEVELS: readonly (readonly [least: number, level: LogLevel])[] = [
  [50, 'error'],
  [40, 'warn'],
  [30, 'info'],
  [0, 'debug'],
];

/** Returns undefined for a line that is no line of JSON of our logs. */
export function parseLogLine(text: string): LogLine | undefined {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(line)) return undefined;
  const { level: number, time, msg, ...fields } = line;
  const timeMs = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  if (typeof number !== 'number' || typeof msg !== 'string' || Number.isNaN(timeMs)) return undefined;
  const level = LEVELS.find(([least]) => number >= least)?.[1] ?? 'debug';
  return { timeMs, level, message: msg, fields };
}
