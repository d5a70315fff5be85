/** Numbers, durations, sizes and dates in the person's language. Pure. */

export interface Format {
  number(value: number): string;
  /** A share of one: `12 %`. */
  percent(value: number): string;
  /** `1.5 kB`, in powers of 1,000. */
  bytes(value: number): string;
  /** `85 ms`, `1.2 s`, `3 min`. */
  duration(ms: number): string;
  /** `3 minutes ago`, `in 2 days`. */
  relative(atMs: number, nowMs: number): string;
  dateTime(atMs: number): string;
  time(atMs: number): string;
  /** A time without seconds. */
  minute(atMs: number): string;
  date(atMs: number): string;
}

const SIZES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const RELATIVE_UNITS = [
  ['year', 365 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
  ['second', SECOND_MS],
] as const;
const DURATION_UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
  ['second', SECOND_MS],
  ['millisecond', 1],
] as const;

/** `timeZone`: the browser's by default. */
export function formatOf(locale: string, timeZone?: string): Format {
  const zone = timeZone === undefined ? {} : { timeZone };
  const number = new Intl.NumberFormat(locale);
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', ...zone });
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'medium', ...zone });
  const minute = new Intl.DateTimeFormat(locale, { timeStyle: 'short', ...zone });
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', ...zone });
  const unit = (name: string, digits: number) =>
    new Intl.NumberFormat(locale, {
      style: 'unit',
      unit: name,
      // Its short form has no plural.
      unitDisplay: name === 'byte' ? 'long' : 'short',
      maximumFractionDigits: digits,
    });
  const units = new Map<string, Intl.NumberFormat>();
  const inUnit = (name: string, value: number): string => {
    const digits = Number.isInteger(value) || value >= 100 ? 0 : 1;
    const key = `${name} ${digits}`;
    let format = units.get(key);
    if (format === undefined) units.set(key, (format = unit(name, digits)));
    return format.format(value);
  };
  return {
    number: (value) => number.format(value),
    percent: (value) => percent.format(value),
    bytes: (value) => {
      const power = Math.min(SIZES.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
      return inUnit(SIZES[power]!, value / 1_000 ** power);
    },
    duration: (ms) => {
      const [name, size] = DURATION_UNITS.find(([, unitMs]) => Math.abs(ms) >= unitMs) ?? ['millisecond', 1];
      return inUnit(name, ms / size);
    },
    relative: (atMs, nowMs) => {
      const difference = atMs - nowMs;
      const [name, size] = RELATIVE_UNITS.find(([, unitMs]) => Math.abs(difference) >= unitMs) ?? [
        'second',
        SECOND_MS,
      ];
      return relative.format(Math.trunc(difference / size), name);
    },
    dateTime: (atMs) => dateTime.format(atMs),
    time: (atMs) => time.format(atMs),
    minute: (atMs) => minute.format(atMs),
    date: (atMs) => date.format(atMs),
  };
}
