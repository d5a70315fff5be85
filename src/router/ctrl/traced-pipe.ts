/** A channel of which controllers can ask for traces. */
import type { Frame } from '#wire';
import type { DataFrame } from '#wire/xgress';

/** Must not throw. */
export type PipeObserver = (frame: Frame | DataFrame, direction: 'rx' | 'tx') => void;

export interface TracedPipe {
  /** OpenZiti's name of the channel: `ctrl`, `l/<id of the link>`. */
  readonly pipeName: string;
  /** Reports each frame from now on. Returns the function that ends it. */
  tap(observer: PipeObserver): () => void;
}

export interface TracedPipes {
  add(pipe: TracedPipe): void;
  remove(pipe: TracedPipe): void;
}
