/** One worker of a gateway as its supervisor sees it: a process with a pipe, which is ready, ends, or has to be ended. */
import { spawn, type ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { FrontdoorError } from '#base';
import {
  ALIVE_MS,
  fromWorkerShape,
  toWorkerShape,
  type ToWorker,
  type WorkerStart,
} from './worker-messages.ts';

const ENTRY = join(dirname(fileURLToPath(import.meta.url)), 'gateway-worker.ts');
/** Loading, the wait for a late control plane, and a slow machine. */
const READY_MS = 45_000;
/** A worker that says nothing for so long serves nobody: longer than any collection of garbage takes. */
const SILENT_MS = 10_000;
/** For the last traffic report and the end of its process, beyond the drain. */
const END_MS = 4_000;

export interface WorkerEnd {
  /** How it ended, for the log. */
  readonly said: string;
  readonly isClean: boolean;
}

export class WorkerProcess {
  readonly number: number;
  readonly startedMs = performance.now();
  /** Resolves when it serves; rejects with what it said, or when it takes too long. */
  readonly ready: Promise<void>;
  readonly ended: Promise<WorkerEnd>;
  readonly #child: ChildProcess;
  #deadline: NodeJS.Timeout | undefined;
  #silentLooks = 0;
  /** One that is loading cannot: it has `READY_MS` for that. */
  #hasSpoken = false;

  /** `fds`: of its sockets. */
  constructor(start: WorkerStart, fds: readonly number[]) {
    this.number = start.number;
    const child = spawn(process.execPath, [...process.execArgv, ENTRY], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...fds],
    });
    this.#child = child;
    const { promise, resolve } = Promise.withResolvers<WorkerEnd>();
    child.once('error', (error) => resolve({ said: error.message, isClean: false }));
    // Counted in looks of our own, so that a machine that slept finds nobody silent.
    const watch = setInterval(() => this.#look(), ALIVE_MS);
    child.on('message', () => {
      this.#hasSpoken = true;
      this.#silentLooks = 0;
    });
    child.once('exit', (code, signal) => {
      clearTimeout(this.#deadline);
      clearInterval(watch);
      const why = this.#isSilent ? 'killed: it said nothing any more' : (signal ?? `status ${code}`);
      resolve({ said: why, isClean: code === 0 });
    });
    this.ended = promise;
    this.ready = this.#untilReady();
    this.ready.catch(() => {});
    this.send(start);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** To one that is gone: nothing. */
  send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(toWorkerShape.numbered(message), () => {});
  }

  /** Resolves when it has ended; it is killed when it takes longer than it was given. */
  async stop(drainMs: number): Promise<WorkerEnd> {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.kill(), drainMs + END_MS);
    this.send({ type: 'stop', drainMs });
    return this.ended;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  get #isSilent(): boolean {
    return this.#silentLooks * ALIVE_MS >= (this.#hasSpoken ? SILENT_MS : READY_MS);
  }

  #look(): void {
    this.#silentLooks += 1;
    if (this.#isSilent) this.kill();
  }

  async #untilReady(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (why: string): void => {
      reject(
        new FrontdoorError('unavailable', 'worker-failed', `worker ${this.number} did not start: ${why}`),
      );
    };
    const timer = setTimeout(() => fail(`not ready within ${READY_MS / 1_000} s`), READY_MS);
    this.#child.on('message', (value) => {
      const read = fromWorkerShape.read(value);
      if ('problem' in read) fail(read.problem);
      else if (read.value.type === 'ready') resolve();
      else if (read.value.type === 'failed') fail(read.value.message);
    });
    void this.ended.then(({ said }) => fail(`it ended with ${said}`));
    await promise.finally(() => clearTimeout(timer));
  }
}
