/** Sources of frames that are paused, each with the number of full links that are the reason. */
import type { FrameSource } from './destination.ts';

export class SourceHolds {
  readonly #counts = new Map<object, number>();

  hold(source: FrameSource): void {
    const count = this.#counts.get(source) ?? 0;
    this.#counts.set(source, count + 1);
    if (count === 0) source.pauseReading();
  }

  release(source: FrameSource): void {
    const count = this.#counts.get(source);
    if (count === undefined) return;
    if (count > 1) {
      this.#counts.set(source, count - 1);
      return;
    }
    this.#counts.delete(source);
    source.resumeReading();
  }

  /** Removes a source that was closed. */
  forget(source: object): void {
    this.#counts.delete(source);
  }
}
