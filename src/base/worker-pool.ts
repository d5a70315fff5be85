/**
 * Limits the number of running and of waiting tasks, like OpenZiti's goroutine pools, whose queue lengths and worker
 * counts the configuration sets. A task is refused when the queue is full.
 */
import { messageOf } from './errors.ts';
import type { Log } from './log.ts';

export interface WorkerPoolOptions {
  /** The name in metrics such as `pool.<name>.queue_size`. */
  readonly name: string;
  readonly queueLength: number;
  readonly workerCount: number;
  readonly log: Log;
}

export type Work = () => Promise<void> | void;

export class WorkerPool {
  readonly name: string;
  readonly workerCount: number;
  readonly #queueLength: number;
  readonly #log: Log;
  readonly #queue: Work[] = [];
  #head = 0;
  #busy = 0;
  #isClosed = false;

  constructor({ name, queueLength, workerCount, log }: WorkerPoolOptions) {
    this.name = name;
    this.workerCount = workerCount;
    this.#queueLength = queueLength;
    this.#log = log;
  }

  get queueSize(): number {
    return this.#queue.length - this.#head;
  }

  get busyCount(): number {
    return this.#busy;
  }

  /** Returns false if the queue is full or the pool is closed. Then the task does not run. */
  offer(work: Work): boolean {
    if (this.#isClosed) return false;
    if (this.#busy < this.workerCount) {
      this.#run(work);
      return true;
    }
    if (this.queueSize >= this.#queueLength) return false;
    this.#queue.push(work);
    return true;
  }

  /** Discards waiting tasks. Running ones end by themselves. */
  close(): void {
    this.#isClosed = true;
    this.#queue.length = 0;
    this.#head = 0;
  }

  #run(work: Work): void {
    this.#busy += 1;
    void Promise.resolve()
      .then(work)
      .catch((error: unknown) =>
        this.#log.error({ pool: this.name, err: messageOf(error) }, 'pool work failed'),
      )
      .finally(() => {
        this.#busy -= 1;
        this.#next();
      });
  }

  #next(): void {
    if (this.queueSize === 0) return;
    const work = this.#queue[this.#head]!;
    this.#head += 1;
    if (this.#head === this.#queue.length || this.#head > 1_024) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
    this.#run(work);
  }
}
