/** Durations on a command line: `90s`, `30m`, `24h`, `7d`, or ISO 8601 (`PT24H`). */
import { parseIsoDuration } from '#domain';

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns milliseconds, or undefined if the text is not a duration. */
export function parseDurationText(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return digits === undefined ? parseIsoDuration(text) : Number(digits) * UNITS_MS[unit]!;
}
