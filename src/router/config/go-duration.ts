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

/** A duration as router files write it (`5s`, `1h30m`, `.5s`, `0`), in milliseconds; undefined when it is none. */
export function parseGoDuration(text: string): number | undefined {
  const match = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.exec(text);
  if (match === null) return /^[+-]?0$/.test(text) ? 0 : undefined;
  let ms = 0;
  for (const [, number, unit] of match[2]!.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    ms += Number(number) * UNITS_MS[unit!]!;
  }
  return match[1] === '-' ? -ms : ms;
}
