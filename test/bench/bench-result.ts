/** What a run leaves: one JSON file under `results/`, and what two of them say side by side. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';

export const RESULT_FORMAT = 1;
const RESULTS = join(dirname(fileURLToPath(import.meta.url)), 'results');

/** One target in one scenario. `rate` is requests per second, for downloads bytes per second. */
export interface Measured {
  readonly rate: Figure;
  readonly p50Us?: Figure;
  readonly p99Us?: Figure;
  /** CPU microseconds per request (per MB for downloads) by process, over all rounds. */
  readonly cpuUs: Readonly<Record<string, number>>;
}

export interface ShapeFacts {
  readonly firstRequestMs: number;
  /** Resident bytes by process: after the start, and after all load. */
  readonly idleBytes: Readonly<Record<string, number>>;
  readonly afterLoadBytes: Readonly<Record<string, number>>;
  readonly bytesPerIdleConnection: number;
}

export interface BenchResult {
  readonly format: number;
  readonly startedAt: string;
  readonly machine: {
    readonly cpus: number;
    readonly model: string;
    readonly kernel: string;
    readonly node: string;
  };
  readonly rounds: number;
  readonly roundSeconds: number;
  readonly skipped: readonly string[];
  /** By scenario, then by target. */
  readonly scenarios: Readonly<Record<string, Readonly<Record<string, Measured>>>>;
  readonly shapes: Readonly<Record<string, ShapeFacts>>;
  /** Answers looked at byte by byte, and how many of them were unique. */
  readonly checked: { readonly requests: number; readonly unique: number };
}

export function machineFacts(): BenchResult['machine'] {
  const [first] = cpus();
  return { cpus: cpus().length, model: first?.model ?? 'unknown', kernel: release(), node: process.version };
}

/** Writes the result, and again as `latest.json`; the path of the first. Names of other benchmarks begin with `kind`. */
export function saveResult(result: BenchResult, kind = ''): string {
  mkdirSync(RESULTS, { recursive: true });
  const text = `${JSON.stringify(result, null, 1)}\n`;
  const path = join(RESULTS, `${kind}${result.startedAt.replaceAll(/[:.]/g, '-')}.json`);
  writeFileSync(path, text);
  writeFileSync(join(RESULTS, `${kind}latest.json`), text);
  return path;
}

export function loadResult(path: string): BenchResult {
  const result = JSON.parse(readFileSync(path, 'utf8')) as BenchResult;
  if (result.format !== RESULT_FORMAT) throw new Error(`${path} is a result of format ${result.format}`);
  return result;
}
