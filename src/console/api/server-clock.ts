/**
 * The clock of the control plane, by the `Date` of its answers: that of the browser may be hours off, and a code that is valid
 * would look ended, a recording would end before it began.
 */

/** Answers have whole seconds, and take some time to arrive. */
const TOLERANCE_MS = 5_000;

export class ServerClock {
  #aheadMs = 0;

  note({ headers }: Response): void {
    const serverMs = Date.parse(headers.get('date') ?? '');
    if (Number.isNaN(serverMs)) return;
    const differenceMs = serverMs - Date.now();
    this.#aheadMs = Math.abs(differenceMs) > TOLERANCE_MS ? differenceMs : 0;
  }

  /** A time of this browser, in milliseconds since 1970, as the control plane counts them. */
  timeOf(browserMs: number): number {
    return browserMs + this.#aheadMs;
  }

  nowMs(): number {
    return this.timeOf(Date.now());
  }
}
