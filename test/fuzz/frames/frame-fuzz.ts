/**
 * Fuzzes the listeners of a mesh with frames, all of them at once, and reports the findings: a peer that was not cut
 * off, a process that ended or grew, a circuit that noticed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '#base';
import { SeededRandom } from '../../support/seeded-random.ts';
import {
  attackAfterHello,
  attackBeforeHello,
  newTally,
  type AttackSource,
  type FrameTally,
} from './frame-attack.ts';
import type { FrameFuzzMesh } from './frame-fuzz-mesh.ts';
import { frameTargets, type FrameTarget } from './frame-sources.ts';

export interface FrameFuzzOptions {
  readonly seed: number;
  /** Over all listeners, before and after hello. */
  readonly frames: number;
  /** A peer that breaks the framing has to be cut off within this time. */
  readonly patienceMs: number;
  /** Called now and then with the progress. */
  onProgress?(text: string): void;
}

export interface FrameFuzzResult {
  readonly wanted: number;
  /** That were read, at least. */
  readonly frames: number;
  readonly listeners: readonly { readonly name: string; readonly tally: FrameTally }[];
  /** Resident memory: what each process had gained at the end, and at most, in MiB. */
  readonly growth: Readonly<Record<'router' | 'control', { readonly end: number; readonly most: number }>>;
  readonly circuits: { readonly exchanges: number; readonly errors: number; readonly worstMs: number };
  readonly findings: readonly string[];
}

export const WORKERS = 2;
/** One frame of so many is sent before a hello, because each costs a TLS handshake. */
const BEFORE_HELLO_SHARE = 50;
const SEEDS_A_LISTENER = 1_000;
/** Frames before memory is watched: it grows until the code is compiled. */
const WARM_UP_FRAMES = 4_000;
const WARM_UP_SEED = 500_000;
const MAX_GROWTH_MIB = 64;
const SAMPLE_MS = 500;
const PROGRESS_MS = 30_000;
/** What closed channels leave behind goes within this. */
const SETTLE_MS = 3_000;
const MIB = 1 << 20;

export async function fuzzFrames(mesh: FrameFuzzMesh, options: FrameFuzzOptions): Promise<FrameFuzzResult> {
  const { seed, frames, patienceMs, onProgress = () => {} } = options;
  const targets = await frameTargets(mesh, WORKERS);
  const attackAll = (
    total: number,
    tallies: readonly (readonly FrameTally[])[],
    from: number,
  ): Promise<unknown> =>
    Promise.all(
      targets.map((target, at) =>
        attack(target, total / targets.length, tallies[at]!, from + at * SEEDS_A_LISTENER),
      ),
    );
  await attackAll(WARM_UP_FRAMES, talliesOf(targets, patienceMs), seed + WARM_UP_SEED);

  const tallies = talliesOf(targets, patienceMs);
  const watch = watchMemory(mesh);
  const exchangesBefore = mesh.circuits.exchanges;
  const progress = setInterval(() => onProgress(progressOf(mesh, targets, tallies)), PROGRESS_MS);
  try {
    await attackAll(frames, tallies, seed);
  } finally {
    clearInterval(progress);
  }
  await mesh.circuits.goOn(5);
  await pause(SETTLE_MS);
  const { errors, worstMs, exchanges } = mesh.circuits;
  const listeners = targets.map(({ name }, at) => ({ name, tally: sumOf(tallies[at]!) }));
  const growth = watch.stop();
  const harm = mesh.harm();
  const grown = Object.entries(growth).filter(([, { most }]) => most > MAX_GROWTH_MIB);
  return {
    wanted: frames,
    frames: listeners.reduce((sum, { tally }) => sum + tally.before + tally.after, 0),
    listeners,
    growth,
    circuits: { exchanges: exchanges - exchangesBefore, errors: errors.length, worstMs },
    findings: [
      ...(harm === undefined ? [] : [harm]),
      ...errors,
      ...grown.map(([name, { most }]) => `${name} grew by ${most.toFixed(1)} MiB`),
      ...listeners.flatMap(({ name, tally }) => tally.findings.map((text) => `${name}: ${text}`)),
    ],
  };
}

/** `tallies`: one a worker. */
async function attack(
  { workers }: FrameTarget,
  total: number,
  tallies: readonly FrameTally[],
  seed: number,
): Promise<void> {
  const each = Math.ceil(total / workers.length);
  const before = Math.max(1, Math.round(each / BEFORE_HELLO_SHARE));
  const attackWith = async (source: AttackSource, at: number): Promise<void> => {
    const random = new SeededRandom(seed + at);
    const tally = tallies[at]!;
    try {
      await attackBeforeHello(source, before, random, tally);
      await attackAfterHello(source, each - before, random, tally);
    } catch (error) {
      tally.findings.push(messageOf(error));
    }
  };
  await Promise.all(workers.map(attackWith));
}

function talliesOf(targets: readonly FrameTarget[], patienceMs: number): FrameTally[][] {
  return targets.map(({ workers }) => workers.map(() => newTally(patienceMs)));
}

function sumOf(tallies: readonly FrameTally[]): FrameTally {
  const sum = newTally(tallies[0]!.patienceMs);
  for (const { before, after, channels, closed, slowestCloseMs, findings } of tallies) {
    sum.before += before;
    sum.after += after;
    sum.channels += channels;
    sum.closed += closed;
    sum.slowestCloseMs = Math.max(sum.slowestCloseMs, slowestCloseMs);
    sum.findings.push(...findings);
  }
  return sum;
}

function watchMemory({ memory }: FrameFuzzMesh): { stop(): FrameFuzzResult['growth'] } {
  const base = memory();
  const most = { ...base };
  const sample = (): typeof base => {
    const now = memory();
    most.router = Math.max(most.router, now.router);
    most.control = Math.max(most.control, now.control);
    return now;
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      const end = sample();
      const of = (name: 'router' | 'control') => ({
        end: (end[name] - base[name]) / MIB,
        most: (most[name] - base[name]) / MIB,
      });
      return { router: of('router'), control: of('control') };
    },
  };
}

function progressOf(
  { memory }: FrameFuzzMesh,
  targets: readonly FrameTarget[],
  tallies: readonly (readonly FrameTally[])[],
): string {
  const sums = tallies.map(sumOf);
  const counts = targets.map(({ name }, at) => `${name}: ${sums[at]!.before + sums[at]!.after}`);
  const { router, control } = memory();
  const sizes = `router ${Math.round(router / MIB)} MiB, control ${Math.round(control / MIB)} MiB`;
  return `${counts.join(', ')}; ${sizes}`;
}

/** For people. */
export function reportOf({ listeners, growth, circuits, wanted, frames, findings }: FrameFuzzResult): string {
  const lines = listeners.map(({ name, tally }) => {
    const { before, after, channels, closed, slowestCloseMs } = tally;
    const counts = `${before} frames before and ${after} after the hello on ${channels} connections`;
    return `${name}: ${counts}; ${closed} closed for it, the slowest after ${(slowestCloseMs / 1_000).toFixed(2)} s`;
  });
  for (const [name, { end, most }] of Object.entries(growth))
    lines.push(
      `${name}: resident memory grew by ${end.toFixed(1)} MiB to the end, by ${most.toFixed(1)} MiB at most`,
    );
  const { exchanges, errors, worstMs } = circuits;
  lines.push(
    `circuits: ${exchanges} exchanges, ${errors} errors, the slowest ${(worstMs / 1_000).toFixed(2)} s`,
  );
  for (const finding of findings) lines.push(`found: ${finding.slice(0, 2_000)}`);
  lines.push(`${frames} of ${wanted} frames read, ${findings.length} findings`);
  return lines.join('\n');
}
