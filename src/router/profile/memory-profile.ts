/**
 * `profile.memory`: writes a heap snapshot per interval, alternately to `<path>-0` and `<path>-1`, so that the last two
 * can be compared. The process pauses during a snapshot, so this is for debugging only. Snapshots contain all memory,
 * including keys, so only the owner can read the files.
 */
import { getHeapSnapshot, getHeapStatistics } from 'node:v8';
import { messageOf, type Log } from '#base';
import { replaceFileDurably } from '#net/files';

export interface MemoryProfileOptions {
  readonly path: string;
  readonly intervalMs: number;
  readonly log: Log;
}

/** The longest delay that timers of the platform support. */
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
        // If a snapshot takes longer than the interval, the next one is skipped.
        this.#writing ??= this.#take();
      },
      Math.min(options.intervalMs, LONGEST_TIMER_MS),
    );
    this.#timer.unref();
    options.log.info({ path: options.path, intervalMs: options.intervalMs }, 'heap snapshots begin');
  }

  /** Waits until a snapshot in progress has finished. */
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
