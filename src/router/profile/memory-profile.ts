/**
 * `profile.memory`: a heap snapshot each interval, in turn at `<path>-0` and `<path>-1`, so that the one before the
 * last can be compared with it. The process stands still while one is taken: for debugging only. A snapshot holds
 * whatever the process holds, keys too: the files are their owner's alone.
 */
import { getHeapSnapshot, getHeapStatistics } from 'node:v8';
import { messageOf, type Log } from '#base';
import { replaceFileDurably } from '#net';

export interface MemoryProfileOptions {
  readonly path: string;
  readonly intervalMs: number;
  readonly log: Log;
}

/** What timers of the platform can wait. */
const LONGEST_TIMER_MS = 2_147_483_647;

export class MemoryProfile {
  readonly #options: MemoryProfileOptions;
  readonly #timer: NodeJS.Timeout;
  #count = 0;
  #writing: Promise<void> | undefined;

  constructor(options: MemoryProfileOptions) {
    this.#options = options;
    this.#timer = setInterval(
      () => {
        // One that takes longer than the interval leaves out the next.
        this.#writing ??= this.#take();
      },
      Math.min(options.intervalMs, LONGEST_TIMER_MS),
    );
    this.#timer.unref();
    options.log.info({ path: options.path, intervalMs: options.intervalMs }, 'heap snapshots begin');
  }

  /** A snapshot under way is finished. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
  }

  async #take(): Promise<void> {
    const { log } = this.#options;
    const path = `${this.#options.path}-${this.#count % 2}`;
    this.#count += 1;
    const { used_heap_size: usedBytes, total_heap_size: heapBytes } = getHeapStatistics();
    try {
      await replaceFileDurably(path, async (file) => {
        for await (const chunk of getHeapSnapshot()) await file.writeFile(chunk as Uint8Array);
      });
      log.info({ path, usedBytes, heapBytes }, 'heap snapshot written');
    } catch (error) {
      log.error({ path, err: messageOf(error) }, 'heap snapshot cannot be written');
    }
    this.#writing = undefined;
  }
}
