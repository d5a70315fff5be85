/**
 * ISO 8601 durations from weeks to seconds. Years and months have no fixed length and are refused. The smallest
 * given part may have a fraction. Values are in milliseconds.
 */
const FORM =
  /^P(?=\d|T\d)(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/;
/** The fraction of the smallest part. */
const FRACTION = /[.,](\d{1,9})(?=[WDHMS]$)/;
const UNIT_MS = [604_800_000, 86_400_000, 3_600_000, 60_000, 1_000] as const;
const LETTERS = 'WDHMS';

/** Returns whole milliseconds, or undefined for any other text. */
export function parseIsoDuration(text: string): number | undefined {
  const fraction = FRACTION.exec(text)?.[1];
  const parts = FORM.exec(fraction === undefined ? text : text.replace(FRACTION, ''));
  if (parts === null) return undefined;
  let ms = UNIT_MS.reduce((sum, unitMs, i) => sum + Number(parts[i + 1] ?? 0) * unitMs, 0);
  // The form excludes months (an M before the T), so the last letter is a unique unit.
  if (fraction !== undefined) ms += Number(`0.${fraction}`) * UNIT_MS[LETTERS.indexOf(text.at(-1)!)]!;
  return Math.round(ms);
}

/** Formats in days, hours, minutes and seconds; zero is `PT0S`. */
export function formatIsoDuration(ms: number): string {
  let left = Math.round(ms);
  const take = (unitMs: number, letter: string): string => {
    const count = Math.floor(left / unitMs);
    left -= count * unitMs;
    return count === 0 ? '' : `${count}${letter}`;
  };
  const days = take(86_400_000, 'D');
  const hours = take(3_600_000, 'H');
  const minutes = take(60_000, 'M');
  const seconds = left === 0 ? '' : `${left / 1_000}S`;
  const time = hours + minutes + seconds;
  if (days === '' && time === '') return 'PT0S';
  return time === '' ? `P${days}` : `P${days}T${time}`;
}
