/** Whether a client takes none of the bytes that wait for it. Looked at by the sweep. */
export class StallWatch {
  /** Unsent bytes when the client last took some, and when that was seen. */
  #unsentBytes = 0;
  #sinceMs = 0;

  /** True when nothing of what waits was taken for longer than `timeoutMs`. */
  isStalled(nowMs: number, unsentBytes: number, timeoutMs: number): boolean {
    if (unsentBytes !== this.#unsentBytes) {
      this.#unsentBytes = unsentBytes;
      this.#sinceMs = nowMs;
      return false;
    }
    return nowMs - this.#sinceMs > timeoutMs;
  }

  /** Nothing waits. */
  reset(): void {
    this.#unsentBytes = 0;
  }
}
