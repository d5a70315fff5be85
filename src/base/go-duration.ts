const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const NANOSECONDS_PER_MS = 1e6;
/** 2^63 nanoseconds. */
const MAX_MS = 2 ** 63 / 1e6;

/** The syntax that `parseGoDuration` accepts, for patterns of schemas. */
export const DURATION_PATTERN = '[+-]?(?:0|(?:(?:\\d+\\.?\\d*|\\.\\d+)(?:ns|us|µs|μs|ms|s|m|h))+)';

/**
 * Parses a duration of the router file (`5s`, `1h30m`, `.5s`, `0`) into milliseconds, with a fraction for nanoseconds;
 * undefined if it is invalid.
 */
export function parseGoDuration(text: string): number | undefined {
  const match = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.exec(text);
  if (match === null) return /^[+-]?0$/.test(text) ? 0 : undefined;
  let ms = 0;
  for (const [, number, unit] of match[2]!.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    ms += Number(number) * UNITS_MS[unit!]!;
  }
  if (ms > MAX_MS) return undefined;
  // 2.3 s would be 2,299.9999999999995 ms otherwise.
  ms = Math.round(ms * NANOSECONDS_PER_MS) / NANOSECONDS_PER_MS;
  return match[1] === '-' ? -ms : ms;
}

/** Formats in the largest unit that needs no fraction: `80s`, `1m`, `250ms`, `0s`. */
export function formatGoDuration(ms: number): string {
  if (ms === 0) return '0s';
  const nanoseconds = Math.round(ms * NANOSECONDS_PER_MS);
  const isWhole = (name: string): boolean =>
    nanoseconds % Math.round(UNITS_MS[name]! * NANOSECONDS_PER_MS) === 0;
  const unit = (['h', 'm', 's', 'ms', 'us', 'ns'] as const).find(isWhole)!;
  return `${nanoseconds / Math.round(UNITS_MS[unit]! * NANOSECONDS_PER_MS)}${unit}`;
}
