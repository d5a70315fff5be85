/** When a delivery that failed is sent again, and how long its destination pauses. Pure. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Delays after each failed attempt. */
const DELAYS_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  7 * HOUR,
];
export const MAX_ATTEMPTS = DELAYS_MS.length + 1;
const JITTER = 0.2;
const PAUSE_MS = 5 * SECOND;
const MAX_PAUSE_MS = MINUTE;

/** Returns the delay after so many attempts, or undefined after the last one. `random` is from 0 to 1. */
export function retryDelayMs(attempts: number, random: number): number | undefined {
  const plain = DELAYS_MS[attempts - 1];
  return plain === undefined ? undefined : Math.round(plain * (1 - JITTER + 2 * JITTER * random));
}

/** How long a destination gets nothing after so many failures in a row. */
export function pauseMs(failures: number): number {
  return Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** Math.min(failures - 1, 10));
}
