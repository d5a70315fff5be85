/** The value of an option that is a number of seconds. */
import { InvalidArgumentError } from 'commander';
import { parseDurationText } from './duration-text.ts';

/** Converts `24h`, `PT24H` or a number of seconds to the seconds of an option. */
export function secondsOf(text: string): number {
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : parseDurationText(text);
  if (ms !== undefined && ms % 1_000 === 0) return ms / 1_000;
  throw new InvalidArgumentError('must be a duration such as 30m, 24h, 7d or PT24H.');
}
