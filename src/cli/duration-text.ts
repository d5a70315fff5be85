/** Durations on a command line: `90s`, `30m`, `24h`, `7d`, or ISO 8601 (`PT24H`). */
import { InvalidArgumentError } from 'commander';
import { parseIsoDuration } from '#domain';

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns milliseconds, or undefined if the text is not a duration. */
export function parseDurationText(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return digits === undefined ? parseIsoDuration(text) : Number(digits) * UNITS_MS[unit]!;
}

/** Converts `24h`, `PT24H` or a number of seconds to the seconds of an option. */
export function secondsOf(text: string): number {
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : parseDurationText(text);
  if (ms !== undefined && ms % 1_000 === 0) return ms / 1_000;
  throw new InvalidArgumentError('must be a duration such as 30m, 24h, 7d or PT24H.');
}
