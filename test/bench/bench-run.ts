/**
 * One run of a benchmark: the same load at several targets in interleaved rounds after a warm-up, CPU time by
 * process, and the result that grows in the meantime. It does not depend on targets or loads.
 */
import { messageOf } from '#base';
import type { BenchOptions } from './bench-options.ts';
import { cpuTimeUs } from '../support/child-process.ts';
import {
  machineFacts,
  RESULT_FORMAT,
  type BenchResult,
  type FactTable,
  type Measured,
  type Unit,
} from './bench-result.ts';
import { figureOf, interleave } from './figure.ts';

export interface Target {
  readonly name: string;
  /** Process ids by part, for CPU time. */
  readonly processes: ReadonlyMap<string, number>;
}

/** What a load found in one round. */
export interface Sample {
  /** Units of work that CPU time is divided by. */
  readonly units: number;
  readonly perSecond: number;
  readonly p50Us?: number | undefined;
  readonly p99Us?: number | undefined;
}

/** Something that was started. */
export interface Stoppable {
  stop(): Promise<unknown>;
}

/** Adds the CPU time that the target's processes take during `work`. */
export type Metered = <R>(work: () => Promise<R>) => Promise<R>;

/** One round of a load at a target. It runs the load inside `metered`, or without where CPU time would say nothing. */
export type Sampler<T extends Target> = (target: T, seconds: number, metered: Metered) => Promise<Sample>;

/** What differs from the run's options. */
export interface Rounds {
  readonly rounds?: number | undefined;
  readonly seconds?: number | undefined;
  /** Before the first round, at each target; 0 for none. */
  readonly warmUpSeconds?: number | undefined;
}

const MAX_REASON_CHARS = 600;

class CpuMeter {
  readonly #processes: ReadonlyMap<string, number>;
  readonly #sums = new Map<string, number>();
  units = 0;

  constructor(processes: ReadonlyMap<string, number>) {
    this.#processes = processes;
  }

  async during<R>(work: () => Promise<R>): Promise<R> {
    const before = this.#times();
    const result = await work();
    for (const [name, us] of this.#times())
      this.#sums.set(name, (this.#sums.get(name) ?? 0) + us - (before.get(name) ?? 0));
    return result;
  }

  perUnit(): Record<string, number> {
    return Object.fromEntries([...this.#sums].map(([name, us]) => [name, us / this.units]));
  }

  #times(): Map<string, number> {
    return new Map([...this.#processes].map(([name, pid]) => [name, cpuTimeUs(pid)]));
  }
}

export class BenchRun {
  readonly options: BenchOptions;
  /** A temporary folder of the run. */
  readonly folder: string;
  /** Skipped measurements, with the reason. */
  readonly skipped: string[] = [];
  readonly report: (text: string) => void;
  readonly #warmUpRounds: number;
  readonly #startedAt = new Date().toISOString();
  readonly #scenarios: Record<string, Readonly<Record<string, Measured>>> = {};
  readonly #units: Record<string, Unit> = {};
  readonly #tables: Record<string, Record<string, FactTable[string]>> = {};
  readonly #checked = { requests: 0, unique: 0 };
  readonly #closers: (() => Promise<unknown>)[] = [];

  constructor(options: BenchOptions, folder: string, warmUpRounds: number, report: (text: string) => void) {
    this.options = options;
    this.folder = folder;
    this.#warmUpRounds = warmUpRounds;
    this.report = report;
  }

  /** Ends what a run has started, the last one first, when the run or the part of it ends. */
  defer(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }

  /** Defers the end of what was started, and returns it. */
  keep<T extends Stoppable>(started: T): T {
    this.defer(() => started.stop());
    return started;
  }

  /** Runs a part of the run, and ends what that has deferred. */
  async part<R>(work: () => Promise<R>): Promise<R> {
    const earlier = this.#closers.length;
    try {
      return await work();
    } finally {
      await this.#closeFrom(earlier);
    }
  }

  /** Ends everything that was deferred; what cannot be ended is reported. */
  close(): Promise<void> {
    return this.#closeFrom(0);
  }

  async #closeFrom(first: number): Promise<void> {
    for (const close of this.#closers.splice(first).reverse())
      await close().catch((error: unknown) => this.report(`while stopping: ${messageOf(error)}`));
  }

  /** Measures something for as many rounds as there are with one connection. */
  async repeat<R>(measure: () => Promise<R>): Promise<R[]> {
    const results: R[] = [];
    while (results.length < this.options.singleRounds) results.push(await measure());
    return results;
  }

  wants(scenario: string): boolean {
    return this.options.only === undefined || scenario.includes(this.options.only);
  }

  skip(what: string, reason: string): void {
    this.skipped.push(`${what} (${reason})`);
    this.report(`not measured: ${what} (${reason})`);
  }

  /** Undefined when it failed; the result names it as skipped, with the reason. */
  async attempt<R>(what: string, work: () => Promise<R>): Promise<R | undefined> {
    try {
      return await work();
    } catch (error) {
      this.skip(what, causesOf(error).join(': ').slice(0, MAX_REASON_CHARS));
      return undefined;
    }
  }

  /** Undefined when the scenario is not wanted. Throws, with the target's name, when a load fails. */
  async measure<T extends Target>(
    scenario: string,
    unit: Unit,
    targets: readonly T[],
    sampler: Sampler<T>,
    { rounds = this.options.rounds, seconds = this.options.roundSeconds, warmUpSeconds }: Rounds = {},
  ): Promise<Readonly<Record<string, Measured>> | undefined> {
    if (!this.wants(scenario)) return undefined;
    this.report(`measuring: ${scenario}`);
    const sample = async (target: T, forSeconds: number, meter: CpuMeter): Promise<Sample> => {
      try {
        const found = await sampler(target, forSeconds, (work) => meter.during(work));
        meter.units += found.units;
        return found;
      } catch (error) {
        throw new Error(`${scenario}: ${target.name} failed`, { cause: error });
      }
    };
    // Just-in-time compilers optimize running code, and users have services that have run for a while.
    const warmUp = warmUpSeconds ?? this.#warmUpRounds * seconds;
    if (warmUp > 0)
      for (const target of targets) await sample(target, warmUp, new CpuMeter(target.processes));
    const meters = new Map(targets.map(({ name, processes }) => [name, new CpuMeter(processes)]));
    const byName = new Map(targets.map((target) => [target.name, target]));
    const samples = await interleave([...byName.keys()], rounds, (name) =>
      sample(byName.get(name)!, seconds, meters.get(name)!),
    );
    const measured = Object.fromEntries(
      [...samples].map(([name, rows]) => [name, measuredOf(rows, meters.get(name)!.perUnit())]),
    );
    this.#scenarios[scenario] = measured;
    this.#units[scenario] = unit;
    return measured;
  }

  /** Adds figures to a row of a table. */
  record(table: string, row: string, figures: FactTable[string]): void {
    const rows = (this.#tables[table] ??= {});
    rows[row] = { ...rows[row], ...figures };
  }

  addChecked({ requests, unique }: BenchResult['checked']): void {
    this.#checked.requests += requests;
    this.#checked.unique += unique;
  }

  result(benchmark: string): BenchResult {
    return {
      format: RESULT_FORMAT,
      benchmark,
      startedAt: this.#startedAt,
      machine: machineFacts(),
      rounds: this.options.rounds,
      roundSeconds: this.options.roundSeconds,
      isBusy: this.options.isBusy,
      skipped: this.skipped,
      scenarios: this.#scenarios,
      units: this.#units,
      tables: this.#tables,
      checked: this.#checked,
    };
  }
}

/** The messages of an error and its causes, outermost first. */
export function causesOf(error: unknown): string[] {
  const messages: string[] = [];
  for (let cause = error; cause !== undefined; cause = (cause as Error).cause)
    messages.push(messageOf(cause).trim());
  return messages;
}

function measuredOf(samples: readonly Sample[], cpuUs: Measured['cpuUs']): Measured {
  const latency = (field: 'p50Us' | 'p99Us') => {
    const values = samples.map((sample) => sample[field]).filter((value) => value !== undefined);
    return values.length === 0 ? undefined : figureOf(values);
  };
  return {
    rate: figureOf(samples.map(({ perSecond }) => perSecond)),
    p50Us: latency('p50Us'),
    p99Us: latency('p99Us'),
    cpuUs,
  };
}
