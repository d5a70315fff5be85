/** The command line that all benchmarks share. */
import { parseArgs } from 'node:util';
import { messageOf } from '#base';

/** How long a run measures, unless the command line gives other numbers. */
export interface RoundSizes {
  readonly rounds: number;
  readonly roundSeconds: number;
  /** Rounds of one second with one connection, of which the best counts; `--rounds` can raise it. */
  readonly singleRounds: number;
}

/** What a benchmark gives to the command line. */
export interface OptionTable {
  /** The npm script: `bench:api`. */
  readonly name: string;
  readonly full: RoundSizes;
  readonly quick: RoundSizes;
  /** Its own options by name, each with the values that it takes; the first one is the default. */
  readonly choices?: Readonly<Record<string, readonly string[]>> | undefined;
}

export interface BenchOptions extends RoundSizes {
  readonly isQuick: boolean;
  /** Only scenarios whose name contains this text are measured. */
  readonly only: string | undefined;
  /** A fixed other load runs on every core in the meantime. */
  readonly isBusy: boolean;
  /** Folder for CPU profiles of the product's processes. */
  readonly cpuProfileDir: string | undefined;
  /** Paths of two results: they are compared, and nothing is measured. */
  readonly compare: readonly [string, string] | undefined;
  /** The values of the benchmark's own options. */
  readonly chosen: Readonly<Record<string, string>>;
}

const MAX_NUMBER = 1_000;

const SHARED = {
  quick: { type: 'boolean', default: false },
  busy: { type: 'boolean', default: false },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  scenario: { type: 'string' },
  compare: { type: 'boolean', default: false },
  'cpu-profile': { type: 'string' },
} as const;

export function usageOf({ name, choices = {} }: OptionTable): string {
  const own = Object.entries(choices).map(([option, values]) => ` [--${option} ${values.join('|')}]`);
  return (
    `usage: npm run ${name} -- [--quick] [--busy] [--rounds N] [--seconds N] [--scenario TEXT]${own.join('')}\n` +
    `       [--cpu-profile DIR] [--compare OLD.json NEW.json]\n`
  );
}

/** The options, or what is wrong with them. */
export function parseBenchOptions(
  table: OptionTable,
  args: readonly string[],
): BenchOptions | { readonly problem: string } {
  try {
    return readOptions(table, args);
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function readOptions({ full, quick, choices = {} }: OptionTable, args: readonly string[]): BenchOptions {
  const own: Record<string, { type: 'string' }> = {};
  for (const name of Object.keys(choices)) own[name] = { type: 'string' };
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...SHARED, ...own },
  });
  const base = values.quick ? quick : full;
  const [older, newer] = positionals;
  if (positionals.length !== (values.compare ? 2 : 0))
    throw new Error('--compare takes two result files, and nothing else takes files');
  const rounds = wholeNumber('--rounds', values.rounds, base.rounds);
  return {
    isQuick: values.quick,
    isBusy: values.busy,
    rounds,
    roundSeconds: wholeNumber('--seconds', values.seconds, base.roundSeconds),
    singleRounds: values.rounds === undefined ? base.singleRounds : Math.max(rounds, base.singleRounds),
    only: values.scenario,
    cpuProfileDir: values['cpu-profile'],
    compare: older === undefined || newer === undefined ? undefined : [older, newer],
    chosen: Object.fromEntries(
      Object.entries(choices).map(([name, allowed]) => {
        const given: unknown = (values as Readonly<Record<string, unknown>>)[name] ?? allowed[0];
        const value = allowed.find((one) => one === given);
        if (value === undefined) throw new Error(`--${name} is ${allowed.join(' or ')}`);
        return [name, value];
      }),
    ),
  };
}

function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MAX_NUMBER)
    throw new Error(`${name} is 1 to ${MAX_NUMBER}, not ${text}`);
  return value;
}
