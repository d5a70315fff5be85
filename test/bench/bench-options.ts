/** The benchmark's command line. */
import { parseArgs } from 'node:util';

export type ProductShape = 'up' | 'separate';

export interface BenchOptions {
  /** Shapes of the product to measure, the first is the one that the goals speak of. */
  readonly shapes: readonly ProductShape[];
  readonly rounds: number;
  readonly roundSeconds: number;
  /** Rounds of one second with one connection; the best counts. */
  readonly singleRounds: number;
  readonly downloadBytes: number;
  readonly idleConnections: number;
  /** Requests of the checking load, every 1,000th answer of which is compared. */
  readonly checkedRequests: number;
  /** Folder for CPU profiles of the product's processes. */
  readonly cpuProfileDir: string | undefined;
  readonly compare: readonly [string, string] | undefined;
}

const FULL = { rounds: 5, roundSeconds: 4, singleRounds: 6, idleConnections: 1_000, checkedRequests: 20_000 };
const QUICK = { rounds: 2, roundSeconds: 1, singleRounds: 2, idleConnections: 300, checkedRequests: 4_000 };

export const USAGE = `usage: npm run bench -- [--quick] [--shape up|separate|both] [--rounds N] [--seconds N]
                        [--cpu-profile DIR] [--compare OLD.json NEW.json]
`;

/** The options, or what is wrong with them. */
export function parseBenchOptions(args: readonly string[]): BenchOptions | { readonly problem: string } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        shape: { type: 'string', default: 'up' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        compare: { type: 'boolean', default: false },
        'cpu-profile': { type: 'string' },
      },
    });
    const base = values.quick ? QUICK : FULL;
    const shapes: Record<string, readonly ProductShape[]> = {
      up: ['up'],
      separate: ['separate'],
      both: ['up', 'separate'],
    };
    const chosen = shapes[values.shape];
    if (chosen === undefined) return { problem: `--shape is up, separate or both, not ${values.shape}` };
    const [older, newer] = positionals;
    if (values.compare !== positionals.length > 0 || (values.compare && positionals.length !== 2)) {
      return { problem: '--compare takes two result files, and nothing else takes files' };
    }
    return {
      ...base,
      shapes: chosen,
      rounds: wholeNumber('--rounds', values.rounds, base.rounds),
      roundSeconds: wholeNumber('--seconds', values.seconds, base.roundSeconds),
      downloadBytes: 100 * 1024 * 1024,
      cpuProfileDir: values['cpu-profile'],
      compare: older === undefined || newer === undefined ? undefined : [older, newer],
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** 1 to 1000. Throws what to tell. */
export function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1_000)
    throw new Error(`${name} is 1 to 1000, not ${text}`);
  return value;
}
