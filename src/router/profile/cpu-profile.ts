/**
 * `profile.cpu.path`: V8's CPU profile of the process (for `chrome://inspect` and similar tools), from the start until
 * `stop`, which is called at the shutdown or by the operator. Limited to four hours, because samples use memory.
 */
import { access, open, constants } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { messageOf, type Log } from '#base';
import { writeFileDurably } from '#net/files';

export interface CpuProfileOptions {
  readonly path: string;
  readonly log: Log;
  /** Maximum duration; four hours by default. */
  readonly longestMs?: number;
}

/** 100 samples per second, like Go's profiler. The overhead is low enough for normal traffic. */
const SAMPLING_INTERVAL_US = 10_000;
const LONGEST_MS = 4 * 3_600_000;

export class CpuProfile {
  readonly #options: CpuProfileOptions;
  readonly #session: Session;
  readonly #deadline: NodeJS.Timeout;
  #stopping: Promise<void> | undefined;

  private constructor(options: CpuProfileOptions, session: Session) {
    this.#options = options;
    this.#session = session;
    const { path, log, longestMs = LONGEST_MS } = options;
    this.#deadline = setTimeout(() => {
      log.warn({ path }, 'the CPU profile reached its maximum length and ends');
      void this.stop();
    }, longestMs);
    this.#deadline.unref();
  }

  /** Resolves with undefined, and logs an error, if profiling cannot start. The router starts nevertheless. */
  static async start(options: CpuProfileOptions): Promise<CpuProfile | undefined> {
    const { path, log } = options;
    const session = new Session();
    try {
      await (await open(path, 'a', 0o600)).close();
      await access(path, constants.W_OK);
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_US });
      await session.post('Profiler.start');
    } catch (error) {
      session.disconnect();
      log.error({ path, err: messageOf(error) }, 'the CPU profile cannot be started');
      return undefined;
    }
    log.info({ path }, 'CPU profile began');
    return new CpuProfile(options, session);
  }

  /** Writes the file. A second call waits for the first. Never rejects. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { path, log } = this.#options;
    clearTimeout(this.#deadline);
    try {
      const { profile } = await this.#session.post('Profiler.stop');
      await writeFileDurably(path, JSON.stringify(profile));
      log.info({ path }, 'CPU profile written');
    } catch (error) {
      log.error({ path, err: messageOf(error) }, 'the CPU profile cannot be written');
    } finally {
      this.#session.disconnect();
    }
  }
}
