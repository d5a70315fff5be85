/** Times as `datetime-local` inputs have them. Pure. */

const MINUTE_MS = 60_000;
const MINUTE_CHARS = 'yyyy-mm-ddThh:mm'.length;

/** `2030-01-01T12:00:00Z` becomes `2030-01-01T13:00` where it is an hour later; '' if it is no time. */
export function toLocalTime(iso: string, offsetMinutes?: number): string {
  const atMs = Date.parse(iso);
  if (Number.isNaN(atMs)) return '';
  const offset = offsetMinutes ?? new Date(atMs).getTimezoneOffset();
  return new Date(atMs - offset * MINUTE_MS).toISOString().slice(0, MINUTE_CHARS);
}

/** '' if it is no time. */
export function fromLocalTime(local: string): string {
  const atMs = Date.parse(local);
  return Number.isNaN(atMs) ? '' : new Date(atMs).toISOString();
}
