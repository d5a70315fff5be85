/** What a run leaves: one JSON file under `results/`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';

export const RESULT_FORMAT = 2;
const RESULTS = join(dirname(fileURLToPath(import.meta.url)), 'results');

/** What a scenario counts; its rate is per second, that of `MB` in bytes per second. */
export type Unit = 'request' | 'message' | 'circuit' | 'MB';

/** One target in one scenario. */
export interface Measured {
  readonly rate: Figure;
  readonly p50Us?: Figure | undefined;
  readonly p99Us?: Figure | undefined;
  /** CPU microseconds per unit by process, over all rounds; empty where it is not measured. */
  readonly cpuUs: Readonly<Record<string, number>>;
}

/** By row, then by column; a column's name holds its unit. */
export type FactTable = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface BenchResult {
  readonly format: number;
  /** The npm script. */
  readonly benchmark: string;
  readonly startedAt: string;
  readonly machine: {
    readonly cpus: number;
    readonly model: string;
    readonly kernel: string;
    readonly node: string;
  };
  readonly rounds: number;
  readonly roundSeconds: number;
  /** Whether a fixed other load ran on every core; false when absent. */
  readonly isBusy?: boolean | undefined;
  readonly skipped: readonly string[];
  /** By scenario, then by target. */
  readonly scenarios: Readonly<Record<string, Readonly<Record<string, Measured>>>>;
  /** By scenario. */
  readonly units: Readonly<Record<string, Unit>>;
  /** Figures that are no rates of a scenario, by the title of their table. */
  readonly tables: Readonly<Record<string, FactTable>>;
  /** Answers looked at byte by byte, and how many of them were unique. */
  readonly checked: { readonly requests: number; readonly unique: number };
}

export function machineFacts(): BenchResult['machine'] {
  const [first] = cpus();
  return { cpus: cpus().length, model: first?.model ?? 'unknown', kernel: release(), node: process.version };
}

/** Writes the result, and again as `latest.json`; the path of the first. `bench:api` puts `api-` before both names. */
export function saveResult(result: BenchResult, folder = RESULTS): string {
  mkdirSync(folder, { recursive: true });
  const kind = result.benchmark.split(':')[1];
  const prefix = kind === undefined ? '' : `${kind}-`;
  const text = `${JSON.stringify(result, null, 1)}\n`;
  const path = join(folder, `${prefix}${result.startedAt.replaceAll(/[:.]/g, '-')}.json`);
  writeFileSync(path, text);
  writeFileSync(join(folder, `${prefix}latest.json`), text);
  return path;
}

/** Throws when the file is of a format that cannot be compared, or of another benchmark. */
export function loadResult(path: string, benchmark: string): BenchResult {
  const result = JSON.parse(readFileSync(path, 'utf8')) as BenchResult;
  if (result.format !== RESULT_FORMAT) {
    throw new Error(
      `${path} has format ${result.format}, and this version compares format ${RESULT_FORMAT}: ` +
        'measure again with this version, or compare with the version that wrote the file',
    );
  }
  if (result.benchmark !== benchmark) {
    throw new Error(
      `${path} is a result of ${result.benchmark}, not of ${benchmark}: npm run ${result.benchmark} -- --compare …`,
    );
  }
  return result;
}
