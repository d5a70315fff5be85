/**
 * A line of the log for people at a terminal: local time, level, part, message, then the fields. Programs log these lines
 * to a terminal and JSON lines elsewhere (ADR 0078). Fields may hold text of peers, so nothing in a line controls the terminal.
 */
import type { LogFields, LogLevel } from '../log.ts';
import { printable } from './printable.ts';

export interface LogLine {
  /** Unix milliseconds. */
  readonly timeMs: number;
  readonly level: LogLevel;
  readonly message: string;
  /** `part` stands before the message. */
  readonly fields: LogFields;
}

const MAX_VALUE_CHARS = 300;
const LEVEL_COLUMNS = 5;
const DIM = '\u001b[2m';
const YELLOW = '\u001b[33m';
const RED = '\u001b[31m';
const PLAIN = '\u001b[0m';
const LEVEL_COLOURS: Readonly<Record<LogLevel, string>> = { debug: DIM, info: '', warn: YELLOW, error: RED };

/** Whether a terminal with these variables shows colours (no-color.org). */
export function showsColours({ NO_COLOR = '', TERM }: Readonly<Record<string, string | undefined>>): boolean {
  return NO_COLOR === '' && TERM !== 'dumb';
}

/** Returns one line without its end. It contains colours only if `isColoured`. */
export function logText({ timeMs, level, message, fields }: LogLine, isColoured: boolean): string {
  const { part, ...others } = fields;
  const coloured = (colour: string, text: string): string =>
    isColoured && colour !== '' && text !== '' ? `${colour}${text}${PLAIN}` : text;
  const pairs = Object.entries(others)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${printable(name)}=${valueText(value)}`);
  return [
    coloured(DIM, localTime(timeMs)),
    coloured(LEVEL_COLOURS[level], level.toUpperCase().padEnd(LEVEL_COLUMNS)),
    `${part === undefined ? '' : `${valueText(part)}: `}${printable(message)}`,
    ...(pairs.length === 0 ? [] : [coloured(DIM, pairs.join(' '))]),
  ].join(' ');
}

/** `2026-11-28 09:09:24.733` in the time zone of the machine. */
function localTime(timeMs: number): string {
  const time = new Date(timeMs);
  const offsetMs = time.getTimezoneOffset() * 60_000;
  return new Date(timeMs - offsetMs).toISOString().replace('T', ' ').replace('Z', '');
}

function valueText(value: unknown): string {
  const text = printable(typeof value === 'string' ? value : jsonText(value));
  const shown = text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;
  return typeof value === 'string' && !/^[^\s"=]+$/.test(shown) ? JSON.stringify(shown) : shown;
}

function jsonText(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(value.message);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // A cycle, or a number of arbitrary size.
    return String(value);
  }
}
