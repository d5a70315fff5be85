/** Detects a client that reads none of its pending bytes. The sweep checks it. */
export class StallWatch {
  /** Number of unsent bytes when the client last read some, and the time of that. */
  #unsentBytes = 0;
  #sinceMs = 0;

  /** Returns whether none of the pending bytes were read for longer than `timeoutMs`. */
  isStalled(nowMs: number, unsentBytes: number, timeoutMs: number): boolean {
    if (unsentBytes !== this.#unsentBytes) {
      this.#unsentBytes = unsentBytes;
      this.#sinceMs = nowMs;
      return false;
    }
    return nowMs - this.#sinceMs > timeoutMs;
  }

  /** Called when nothing is pending. */
  reset(): void {
    this.#unsentBytes = 0;
  }
}
