/**
 * The clock of the control plane, by the `Date` of its answers: that of the browser may be hours off, and a code that is valid
 * would look ended, a recording would end before it began.
 */

/** Answers have whole seconds, and take some time to arrive. */
const TOLERANCE_MS = 5_000;

let aheadMs = 0;

export function noteTime({ headers }: Response): void {
  const serverMs = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(serverMs)) return;
  const differenceMs = serverMs - Date.now();
  aheadMs = Math.abs(differenceMs) > TOLERANCE_MS ? differenceMs : 0;
}

/** A time of this browser, in milliseconds since 1970, as the control plane counts them. */
export function serverTimeOf(browserMs: number): number {
  return browserMs + aheadMs;
}

export function serverNowMs(): number {
  return serverTimeOf(Date.now());
}
