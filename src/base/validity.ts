/** Whether something is valid at a time, and a problem with both times: the clock may be what is wrong. */

export interface Validity {
  /** Both in Unix milliseconds. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The end of a sentence, such as `has expired (…)`; undefined while it is valid. */
export function validityProblem({ fromMs, untilMs }: Validity, nowMs: number): string | undefined {
  if (nowMs < fromMs) return `is not valid yet (it is valid from ${textOf(fromMs)}, ${clockSays(nowMs)})`;
  if (nowMs > untilMs) return `has expired (it was valid until ${textOf(untilMs)}, ${clockSays(nowMs)})`;
  return undefined;
}

/** Tokens are refused if clocks differ by more. */
const MAX_DIFFERENCE_MS = 60_000;

/** Returns a sentence with both times if the clock of this machine differs from the time of a server; undefined if not. */
export function clockProblem(serverMs: number, nowMs: number): string | undefined {
  if (!(Math.abs(serverMs - nowMs) > MAX_DIFFERENCE_MS)) return undefined;
  return `the clock of this machine says ${textOf(nowMs)}, and that of the server says ${textOf(serverMs)}: set the one that is wrong`;
}

function clockSays(nowMs: number): string {
  return `and the clock of this machine says ${textOf(nowMs)}`;
}

function textOf(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z') : String(ms);
}
