/** The observers of a channel's frames, for traces. */
import type { Frame } from '#wire';

/** Receives every frame except data, in both directions. Must not throw. */
export type FrameObserver = (frame: Frame, direction: 'rx' | 'tx') => void;

export class FrameObservers {
  #all: readonly FrameObserver[] = [];

  /** Returns the function that removes it. */
  add(observer: FrameObserver): () => void {
    this.#all = [...this.#all, observer];
    return () => {
      this.#all = this.#all.filter((one) => one !== observer);
    };
  }

  notify(frame: Frame, direction: 'rx' | 'tx'): void {
    for (const observer of this.#all) observer(frame, direction);
  }
}
