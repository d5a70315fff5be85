/** One worker of a gateway as its supervisor sees it: a process with a pipe that becomes ready, ends, or is ended. */
import { spawn, type ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { FrontdoorError } from '#base';
import type { NeededCertificate } from '#gateway';
import {
  ALIVE_MS,
  fromWorkerShape,
  toWorkerShape,
  type FromWorker,
  type ToWorker,
  type WorkerStart,
} from './worker-messages.ts';

const ENTRY = join(dirname(fileURLToPath(import.meta.url)), 'gateway-worker.ts');
/** Limit for loading and for the wait for a late control plane, on a slow machine. */
const READY_MS = 45_000;
/** A worker that sends nothing for so long serves no requests: no garbage collection takes that long. */
const SILENT_MS = 10_000;
/** Time beyond the drain for the last traffic report and the end of the process. */
const END_MS = 4_000;

export interface WorkerEnd {
  /** How it ended, for the log. */
  readonly reason: string;
  readonly isClean: boolean;
}

export class WorkerProcess {
  readonly number: number;
  readonly startedMs = performance.now();
  /**
   * Resolves when the worker listens, to whether a control plane has sent it the shares. Rejects with its error, or when it
   * takes too long.
   */
  readonly ready: Promise<boolean>;
  readonly ended: Promise<WorkerEnd>;
  readonly #child: ChildProcess;
  readonly #start = Promise.withResolvers<boolean>();
  #deadline: NodeJS.Timeout | undefined;
  #silentLooks = 0;
  /** A worker that loads sends no messages: it has `READY_MS` for that. */
  #hasSpoken = false;

  /** `fds` are the descriptors of its sockets. `onWanted` gets the names for which it needs certificates. */
  constructor(
    start: WorkerStart,
    fds: readonly number[],
    onWanted: (needed: readonly NeededCertificate[]) => void,
  ) {
    this.number = start.number;
    const child = spawn(process.execPath, [...process.execArgv, ENTRY], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...fds],
    });
    this.#child = child;
    const { promise, resolve } = Promise.withResolvers<WorkerEnd>();
    child.once('error', (error) => resolve({ reason: error.message, isClean: false }));
    // The silence is counted in our own timer's ticks, so that a machine that slept finds no worker silent.
    const watch = setInterval(() => this.#look(), ALIVE_MS);
    child.on('message', (value) => {
      this.#hasSpoken = true;
      this.#silentLooks = 0;
      this.#onMessage(value, onWanted);
    });
    child.once('exit', (code, signal) => {
      clearTimeout(this.#deadline);
      clearInterval(watch);
      const why = this.#isSilent ? 'killed: it stopped responding' : (signal ?? `status ${code}`);
      resolve({ reason: why, isClean: code === 0 });
    });
    this.ended = promise;
    this.ready = this.#untilReady();
    this.ready.catch(() => {});
    this.send(start);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Sends a message; does nothing when the worker is gone. */
  send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(toWorkerShape.numbered(message), () => {});
  }

  /** Resolves when the worker has ended; kills it when it takes longer than `drainMs` allows. */
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

  async #untilReady(): Promise<boolean> {
    const timer = setTimeout(() => this.#failStart(`not ready within ${READY_MS / 1_000} s`), READY_MS);
    void this.ended.then(({ reason }) => this.#failStart(`it ended with ${reason}`));
    return this.#start.promise.finally(() => clearTimeout(timer));
  }

  #onMessage(value: unknown, onWanted: (needed: readonly NeededCertificate[]) => void): void {
    const read = fromWorkerShape.read(value);
    if ('problem' in read) this.#failStart(read.problem);
    else if (read.value.type === 'ready') this.#start.resolve(read.value.isFresh);
    else if (read.value.type === 'failed') this.#failStart(read.value.message);
    else if (read.value.type === 'wanted') onWanted(neededOf(read.value));
  }

  /** No effect after the worker was ready. */
  #failStart(why: string): void {
    this.#start.reject(
      new FrontdoorError('unavailable', 'worker-failed', `worker ${this.number} did not start: ${why}`),
    );
  }
}

/** An older worker sends only the names. */
function neededOf({ names, needed }: Extract<FromWorker, { type: 'wanted' }>): readonly NeededCertificate[] {
  if (needed.length > 0) return needed;
  return names.map((name) => ({ name, organizationId: '', isCustom: false, isAlone: true }));
}
