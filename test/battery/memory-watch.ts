/** Resident memory, open files and time on the processor of the product's processes. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { residentBytes } from '../support/child-process.ts';
import type { BatteryProduct } from './battery-product.ts';

export const MIB = 1_048_576;

const SAMPLE_MS = 200;
const SETTLED_MIB = 1;
const SETTLE_MS = 4_000;

export type PartName = 'gateway' | 'router' | 'agent';
export const WATCHED_PARTS: readonly PartName[] = ['gateway', 'router', 'agent'];

export class MemoryWatch {
  readonly #pids: ReadonlyMap<PartName, number>;
  readonly #base = new Map<PartName, number>();
  readonly #peak = new Map<PartName, number>();
  #sumPeak = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor(product: BatteryProduct) {
    this.#pids = new Map(WATCHED_PARTS.map((name) => [name, product.parts[name].pid]));
  }

  /** Waits until memory stands still, or has not for a while, and counts from there. */
  static async start(product: BatteryProduct): Promise<MemoryWatch> {
    const watch = new MemoryWatch(product);
    let last = Infinity;
    const endMs = performance.now() + SETTLE_MS;
    for (let still = 0; still < 5 && performance.now() < endMs;) {
      await pause(SAMPLE_MS);
      const now = watch.#sum();
      still = Math.abs(now - last) < SETTLED_MIB * MIB ? still + 1 : 0;
      last = now;
    }
    for (const [name, pid] of watch.#pids) watch.#base.set(name, residentBytes(pid));
    watch.#sample();
    watch.#timer = setInterval(() => watch.#sample(), SAMPLE_MS);
    return watch;
  }

  /** The most that a part has grown by, in bytes. */
  growth(name: PartName): number {
    return this.#peak.get(name)! - this.#base.get(name)!;
  }

  /** The most that all of them together have grown by. */
  get sumGrowth(): number {
    return this.#sumPeak - [...this.#base.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  toString(): string {
    return WATCHED_PARTS.map((name) => `${name} +${(this.growth(name) / MIB).toFixed(1)} MiB`).join(', ');
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sum(): number {
    return [...this.#pids.values()].reduce((sum, pid) => sum + residentOrNone(pid), 0);
  }

  #sample(): void {
    let sum = 0;
    for (const [name, pid] of this.#pids) {
      const bytes = residentOrNone(pid);
      sum += bytes;
      this.#peak.set(name, Math.max(bytes, this.#peak.get(name) ?? 0));
    }
    this.#sumPeak = Math.max(sum, this.#sumPeak);
  }
}

/** 0 when the process has ended: the check that needs the process fails by itself. */
function residentOrNone(pid: number): number {
  try {
    return residentBytes(pid);
  } catch {
    return 0;
  }
}

/** The least of a few looks at each process, in bytes: a collection may come at any moment. */
export async function restingMemory(pids: readonly number[]): Promise<number[]> {
  const least = pids.map(() => Infinity);
  for (let look = 0; look < 10; look += 1) {
    for (const [i, pid] of pids.entries()) least[i] = Math.min(least[i]!, residentBytes(pid));
    await pause(100);
  }
  return least;
}

/** Open files of a process. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** CPU time of all threads of a process since it began; the kernel counts in hundredths of a second. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
