/**
 * A bound on the memory of processes: a control group of the kernel (version 1 or 2) where this user may make
 * one. Elsewhere nothing is enforced, and resident memory is sampled: `isOverrun` is true when a sample was
 * above the bound.
 */
import { mkdirSync, existsSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';

export interface MemorySample {
  /** Time since the group was opened. */
  readonly atMs: number;
  readonly bytes: number;
}

interface Kernel {
  readonly folder: string;
  readonly version: 1 | 2;
}

const ROOT = '/sys/fs/cgroup';
const SAMPLE_MS = 100;
const EMPTY_TRIES = 50;
const EMPTY_PAUSE_MS = 100;
let opened = 0;

export class ControlGroup {
  readonly limitBytes: number;
  readonly #kernel: Kernel | undefined;
  readonly #pids = new Set<number>();
  readonly #samples: MemorySample[] = [];
  readonly #startedMs = performance.now();
  readonly #timer: NodeJS.Timeout;
  #peakBytes = 0;

  private constructor(limitBytes: number, kernel: Kernel | undefined) {
    this.limitBytes = limitBytes;
    this.#kernel = kernel;
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
    this.#timer.unref();
  }

  /** `name`: letters, digits and `-`. A number that makes it unique is added. */
  static open(name: string, limitBytes: number): ControlGroup {
    opened += 1;
    const unique = `${name}-${process.pid}-${opened}`;
    return new ControlGroup(limitBytes, openVersion1(unique, limitBytes) ?? openVersion2(unique, limitBytes));
  }

  /** The kernel ends a process that needs more; else the bound is judged only. */
  get isEnforced(): boolean {
    return this.#kernel !== undefined;
  }

  /** How a command is started inside, from its first page on. Its process id is that of the program. */
  command(
    file: string,
    args: readonly string[],
  ): { readonly file: string; readonly args: readonly string[] } {
    if (this.#kernel === undefined) return { file, args };
    const script = 'echo $$ > "$0" && exec "$@"';
    return {
      file: '/bin/sh',
      args: ['-c', script, join(this.#kernel.folder, 'cgroup.procs'), file, ...args],
    };
  }

  /** Adopts a running process; the memory that it holds already is not counted. */
  adopt(pid: number): void {
    if (this.#kernel !== undefined) writeFileSync(join(this.#kernel.folder, 'cgroup.procs'), String(pid));
    this.watch(pid);
  }

  /** Moves adopted processes out of the group, so that `close` does not end them. */
  release(): void {
    const root = this.#kernel === undefined ? undefined : join(this.#kernel.folder, '..', 'cgroup.procs');
    if (root === undefined) return;
    for (const pid of this.#pids) if (residentBytesOf(pid) > 0) writeFileSync(root, String(pid));
  }

  /** Each process that was started by `command`: its memory is what the curve shows. */
  watch(pid: number): void {
    this.#pids.add(pid);
    this.#sample();
  }

  /** Resident bytes of the watched processes that still run. */
  residentBytes(): number {
    let sum = 0;
    for (const pid of this.#pids) sum += residentBytesOf(pid);
    return sum;
  }

  /** The most that was resident at one time; short peaks between two samples are found by the kernel's own mark. */
  get peakBytes(): number {
    this.#sample();
    return this.#peakBytes;
  }

  /** Resets the peak, so that it counts from now on. */
  resetPeak(): void {
    this.#peakBytes = 0;
    this.#sample();
  }

  /** The curve, a sample every 100 ms, oldest first. */
  get samples(): readonly MemorySample[] {
    return this.#samples;
  }

  /** More memory was needed than the bound allows. */
  isOverrun(): boolean {
    if (this.#kernel === undefined) return this.peakBytes > this.limitBytes;
    const { folder, version } = this.#kernel;
    const events = readFileSync(
      join(folder, version === 1 ? 'memory.oom_control' : 'memory.events'),
      'latin1',
    );
    return Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0) > 0;
  }

  /** Ends what still runs inside, and removes the group. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const folder = this.#kernel?.folder;
    if (folder === undefined) return;
    for (let tries = 0; existsSync(folder); tries += 1) {
      for (const pid of readFileSync(join(folder, 'cgroup.procs'), 'latin1').split('\n').filter(Boolean)) {
        if (Number(pid) !== process.pid) endNow(Number(pid));
      }
      try {
        rmdirSync(folder);
        return;
      } catch (error) {
        if (tries === EMPTY_TRIES) throw error;
        await pause(EMPTY_PAUSE_MS);
      }
    }
  }

  #sample(): void {
    const bytes = this.residentBytes();
    this.#peakBytes = Math.max(this.#peakBytes, bytes);
    this.#samples.push({ atMs: Math.round(performance.now() - this.#startedMs), bytes });
  }
}

/** 0 when there is no such process. */
export function residentBytesOf(pid: number): number {
  try {
    return (
      1_024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0)
    );
  } catch {
    return 0;
  }
}

function openVersion1(name: string, limitBytes: number): Kernel | undefined {
  const folder = join(ROOT, 'memory', name);
  if (!existsSync(join(ROOT, 'memory', 'memory.limit_in_bytes'))) return undefined;
  return madeGroup(folder, 1, () => {
    writeFileSync(join(folder, 'memory.limit_in_bytes'), String(limitBytes));
    // Where there is swap, memory and swap together are bounded.
    const both = join(folder, 'memory.memsw.limit_in_bytes');
    if (existsSync(both)) writeFileSync(both, String(limitBytes));
  });
}

function openVersion2(name: string, limitBytes: number): Kernel | undefined {
  const folder = join(ROOT, name);
  if (!existsSync(join(ROOT, 'cgroup.subtree_control'))) return undefined;
  return madeGroup(folder, 2, () => {
    if (!readFileSync(join(ROOT, 'cgroup.subtree_control'), 'latin1').split(/\s/).includes('memory'))
      writeFileSync(join(ROOT, 'cgroup.subtree_control'), '+memory');
    writeFileSync(join(folder, 'memory.max'), String(limitBytes));
    const swap = join(folder, 'memory.swap.max');
    if (existsSync(swap)) writeFileSync(swap, '0');
  });
}

/** Undefined when the user has no permission, or the kernel does not support it. */
function madeGroup(folder: string, version: 1 | 2, bind: () => void): Kernel | undefined {
  try {
    mkdirSync(folder);
  } catch {
    return undefined;
  }
  try {
    bind();
    return { folder, version };
  } catch {
    rmdirSync(folder);
    return undefined;
  }
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended in the meantime.
  }
}
